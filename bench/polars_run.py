"""Reads a Parquet file into NumPy with polars and prints the seconds it took.

A file of two rows is read before, so that polars has made its threads.
"""

import io
import sys
import time

import polars

small = io.BytesIO()
polars.DataFrame({"x": [1.0, 2.0]}).write_parquet(small)
polars.read_parquet(small.getvalue()).to_numpy()
start = time.perf_counter()
polars.read_parquet(sys.argv[1]).to_numpy()
print(time.perf_counter() - start)
