"""The programs that Rosenblatt is measured beside, installed under bench/.peers.

scikit-learn, NumPy and Vowpal Wabbit come as Python packages; LIBLINEAR and LIBSVM as Debian
packages, unpacked and not installed. Nothing outside the folder is changed.
"""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS = HERE / ".peers"
PACKAGES = ["numpy", "scipy", "scikit-learn", "vowpalwabbit"]
DEBIAN = ["liblinear-tools", "liblinear4", "libsvm-tools", "libsvm3", "libblas3"]


def python():
    """A Python that has the packages."""
    folder = PEERS / "venv"
    program = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([program, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        (folder / "ready").touch()
    return program


def _unpacked():
    folder = PEERS / "debian"
    if not (folder / "ready").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", *DEBIAN], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, folder], check=True)
        (folder / "ready").touch()
    libraries = folder / "usr" / "lib" / "x86_64-linux-gnu"
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{libraries}:{libraries / 'blas'}")
    return folder / "usr" / "bin", environment


def libsvm():
    """The folder of svm-train and svm-predict, and the environment they need."""
    return _unpacked()


def liblinear():
    """The folder of liblinear-train and liblinear-predict, and the environment they need."""
    return _unpacked()


def rosenblatt():
    """Our program, built with optimisation."""
    _build("-p", "rosenblatt-cli")
    return _target() / "rosenblatt"


def example(name):
    """A benchmark program of the library."""
    _build("-p", "rosenblatt", "--example", name)
    return _target() / "examples" / name


def _build(*what):
    subprocess.run(["cargo", "build", "--release", "--quiet", *what], cwd=ROOT, check=True)


def _target():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
