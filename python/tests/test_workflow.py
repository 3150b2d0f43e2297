"""The workflow that builds wheels; what it builds, only the machines it names can tell."""

import pathlib
import subprocess
import sys

WORKFLOWS = pathlib.Path(__file__).parents[2] / ".github" / "workflows"


def test_workflows_are_valid():
    files = sorted(map(str, WORKFLOWS.glob("*.yml")))
    assert files
    checked = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    done = subprocess.run(
        [*checked, "vendor.github-workflows", *files], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
