"""The Python environment of the benches: a folder `.venv` beside them, made when needed."""
import importlib.util, os, subprocess, sys, venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def require(*packages):
    """Runs the calling script again in the environment, with these packages installed."""
    home = HERE / ".venv"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if Path(sys.prefix) != home:
        if not python.exists():
            print(f"making {home}", file=sys.stderr)
            venv.create(home, with_pip=True)
        os.execv(python, [str(python), *sys.argv])
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        print(f"installing {', '.join(missing)}", file=sys.stderr)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *missing], check=True)


def build(*what, release=True):
    """Builds a part of the workspace and gives the folder of the result."""
    profile = ["--release"] if release else []
    subprocess.run(["cargo", "build", "--quiet", *profile, *what], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / ("release" if release else "debug")
