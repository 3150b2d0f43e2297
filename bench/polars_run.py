"""Reads a Parquet file into NumPy with polars and prints the seconds it took.

The second time counts: by then polars has made its threads.
"""

import sys
import time

import polars

for _ in range(2):
    start = time.perf_counter()
    polars.read_parquet(sys.argv[1]).to_numpy()
    seconds = time.perf_counter() - start
print(seconds)
