"""NumPy's rate of f32 matrix products of the shape that kernel training has."""

import time

import numpy as np

rows, support, columns = 4096, 8192, 784
a = np.random.default_rng(0).random((rows, columns), dtype=np.float32)
b = np.random.default_rng(1).random((columns, support), dtype=np.float32)
best = float("inf")
for _ in range(7):
    start = time.perf_counter()
    a @ b
    best = min(best, time.perf_counter() - start)
print(f"{2 * rows * support * columns / best / 1e9:.1f} GFLOP/s")
