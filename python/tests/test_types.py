"""The package and a client of it, as type checkers see them."""

import pathlib
import subprocess
import sys

import client_types
import pytest

import rosenblatt

ROOT = pathlib.Path(__file__).parents[2]


def checked(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_client_runs():
    assert client_types.main() == pytest.approx(60)


def test_mypy_is_strict_and_has_nothing_to_say(tmp_path):
    pytest.importorskip("mypy")
    installed = pathlib.Path(rosenblatt.__file__).parent
    assert (installed / "py.typed").exists()
    checked(sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path))


def test_pyright_has_nothing_to_say():
    pyright = [sys.executable, "-m", "pyright"]
    # It fetches its program when it is first called.
    if subprocess.run([*pyright, "--version"], capture_output=True).returncode != 0:
        pytest.skip("there is no pyright")
    checked(*pyright, "--pythonpath", sys.executable)
