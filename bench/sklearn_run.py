"""scikit-learn's side of the comparison; prints a JSON object with its times.

    train TRAIN TEST PASSES    load both files, fit, predict
    fit FILE PASSES            load outside the clock, fit
    make-text20 FILE           a sparse set of 20 classes
"""

import gzip
import json
import struct
import sys
import time

import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.linear_model import Perceptron


def with_small_indices(x):
    """Perceptron refuses the 64-bit indices that the loader gives."""
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    return x


def load(path):
    if path.endswith(".svm"):
        x, y = load_svmlight_file(path)
        return with_small_indices(x), y
    if "idx3" in path:
        with gzip.open(path) as file:
            _, n, height, width = struct.unpack(">IIII", file.read(16))
            x = np.frombuffer(file.read(), np.uint8).reshape(n, height * width).astype(np.float32)
        with gzip.open(path.replace("images-idx3", "labels-idx1")) as file:
            file.read(8)
            return x, np.frombuffer(file.read(), np.uint8)
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.float32)
    x, y = table[:, :-1], table[:, -1]
    return np.ascontiguousarray((x - x.mean(0)) / np.maximum(x.std(0), 1e-9)), y


def perceptron(passes):
    return Perceptron(max_iter=int(passes), tol=None)


def main(what, *rest):
    if what == "make-text20":
        random = np.random.default_rng(0)
        rows, columns, words = 40_000, 60_000, 90
        classes = random.integers(0, 20, rows)
        topic = random.permutation(columns)
        zipf = np.minimum(random.zipf(1.3, (rows, words)), columns) - 1
        own = topic[(classes[:, None] * 400 + random.integers(0, 400, (rows, words))) % columns]
        indices = np.where(random.random((rows, words)) < 0.25, own, zipf)
        x = sparse.csr_matrix((np.ones(rows * words), indices.ravel(), np.arange(rows + 1) * words), (rows, columns))
        x.sum_duplicates()
        dump_svmlight_file(x, classes, rest[0], zero_based=False)
        return
    start = time.perf_counter()
    x, y = load(rest[0])
    loaded = time.perf_counter()
    model = perceptron(rest[-1]).fit(x, y)
    fitted = time.perf_counter()
    found = {"load": loaded - start, "fit": fitted - loaded, "total": fitted - start}
    if what == "train":
        test, truth = load_svmlight_file(rest[1], n_features=x.shape[1])
        found["right"] = float((model.predict(with_small_indices(test)) == truth).mean())
    print(json.dumps(found))


main(*sys.argv[1:])
