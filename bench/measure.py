"""Running a command and saying what it cost."""

import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass


@dataclass
class Cost:
    """Wall and processor seconds, peak bytes, and what was printed."""

    wall: float
    cpu: float
    peak: int
    output: str


def run(command, environment=None):
    """Runs a command to its end; it must succeed."""
    with tempfile.TemporaryFile("w+") as out:
        start = time.perf_counter()
        process = subprocess.Popen([str(part) for part in command], stdout=out,
                                   stderr=subprocess.PIPE, text=True, env=environment)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command[0], stderr=errors) \
                from OSError(f"{command[0]}: {errors[-500:]}")
        out.seek(0)
        return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, out.read())


def interleaved(contestants, repeats, short=()):
    """Runs each contestant in turn, several times; gives the costs of each by name.

    The short ones among them take a turn after each of the others: what disturbs a machine for
    a moment changes a short time more than a long one.
    """
    costs = {name: [] for name in contestants}
    long = [name for name in contestants if name not in short]
    for _ in range(repeats):
        for name in long:
            for turn in (name, *short):
                costs[turn].append(contestants[turn]())
    return costs


def median(costs, what="wall"):
    return statistics.median(getattr(cost, what) for cost in costs)


def as_read(path):
    """The file, in memory as reading it from the disk leaves it there.

    A system keeps what was written in pieces as large as it was written in, and what was read in
    pieces as large as it likes to read. A mapped file of small pieces takes longer to meet, and
    no user's file was made a moment ago by the benchmark.
    """
    with open(path, "rb", buffering=0) as file:
        os.fsync(file)
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 20):
            pass
    return path
