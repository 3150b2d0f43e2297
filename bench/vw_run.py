"""Runs Vowpal Wabbit with a command line and prints the seconds it took."""

import sys
import time

from vowpalwabbit import Workspace

start = time.perf_counter()
Workspace(" ".join(sys.argv[1:]), enable_logging=False).finish()
print(time.perf_counter() - start)
