"""The examples of the guide's page on Python run."""

import doctest
import pathlib
import re
import shutil

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_digits
from sklearn.model_selection import train_test_split

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "src" / "python.md"


def test_the_page_runs(tmp_path, monkeypatch):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("tqdm")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    X, y = load_digits(return_X_y=True)
    dump_svmlight_file(X, y, "data.svm", zero_based=False)
    parts = train_test_split(X, y, random_state=0)
    names = dict(zip(["X_train", "X_test", "y_train", "y_test"], parts), np=np, pd=pandas)
    names["train_test_split"] = train_test_split
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    for block in blocks:
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, PAGE.name, None, 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(test, clear_globs=False)
            assert runner.failures == 0 and runner.tries > 0
            names.update(test.globs)
        else:
            exec(block, names)
