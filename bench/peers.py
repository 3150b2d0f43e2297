"""The programs that Rosenblatt is measured beside, installed under bench/.peers.

scikit-learn, SciPy and Vowpal Wabbit come as Python packages; LIBLINEAR and LIBSVM as Debian
packages, unpacked and not installed. Nothing outside the folder is changed.
"""

import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS = HERE / ".peers"
VENV = PEERS / "venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
DEBIAN = ["liblinear-tools", "liblinear4", "libsvm-tools", "libsvm3", "libblas3"]
NAMES = {"scikit-learn": "sklearn"}


def require(*packages):
    """Runs the calling script again in an environment of its own with these packages."""
    if Path(sys.prefix) != VENV:
        if not PYTHON.exists():
            print(f"making {VENV}", file=sys.stderr)
            venv.create(VENV, with_pip=True)
        os.execv(PYTHON, [str(PYTHON), *sys.argv])
    missing = [p for p in packages if importlib.util.find_spec(NAMES.get(p, p)) is None]
    if missing:
        print(f"installing {', '.join(missing)}", file=sys.stderr)
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *missing], check=True)


def build(*what, release=True):
    """Builds a part of the workspace and gives the folder of the result."""
    profile = ["--release"] if release else []
    subprocess.run(["cargo", "build", "--quiet", *profile, *what], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / ("release" if release else "debug")


def rosenblatt():
    """Our program, built with optimisation unless ROSENBLATT_PROGRAM names it."""
    given = os.environ.get("ROSENBLATT_PROGRAM")
    if given:
        return Path(given)
    return build("-p", "rosenblatt-cli", "--bin", "rosenblatt") / "rosenblatt"


def svm_tools():
    """The folder of svm-train, liblinear-train and their like, and the environment they need."""
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
