"""The command line: ``rosenblatt`` and ``python -m rosenblatt``."""

import sys

from . import _core


def main() -> None:
    """Run the program with the arguments of this process, and end with its exit status."""
    sys.exit(_core.run_program(["rosenblatt", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
