"""What notebooks show, and pictures."""

import json
import pathlib

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import KernelPerceptron, MaxMarginClassifier, Perceptron, check_separability, trace

IRIS, SPECIES = load_iris(return_X_y=True)
TWO = IRIS[:, :2]
SETOSA = SPECIES == 0

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def matplotlib():
    found = pytest.importorskip("matplotlib")
    found.use("Agg")
    yield found
    import matplotlib.pyplot as plt

    plt.close("all")


def test_a_fitted_model_tells_of_its_run():
    clf = Perceptron()
    assert "stop reason" not in clf._repr_html_()
    clf.fit(IRIS, np.where(SETOSA, "<setosa>", "other"))
    for shown in (clf._repr_html_(), clf._repr_mimebundle_()["text/html"]):
        assert "<th>stop reason</th><td>separated</td>" in shown
        assert "&lt;setosa&gt;, other" in shown
        assert f"<th>updates at most</th><td>{clf.mistake_bound_}</td>" in shown
    kernel = KernelPerceptron().fit(IRIS, SETOSA)
    assert f"<th>rows of the model</th><td>{len(kernel.support_)}</td>" in kernel._repr_html_()
    # Of a model in a pipeline scikit-learn draws the diagram.
    assert "Perceptron" in make_pipeline(StandardScaler(), Perceptron())._repr_html_()


def test_a_trace_is_a_table_of_steps():
    steps = trace([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    shown = steps._repr_html_()
    assert shown.count("<tr>") == 1 + len(steps) and "weights after" in shown
    long = trace(IRIS, SPECIES, max_iter=3)
    assert f"and {len(long) - 200} more steps" in long._repr_html_()


def test_a_verdict_is_a_table_of_facts():
    shown = check_separability(IRIS, SETOSA)._repr_html_()
    assert "<th>verdict</th><td>separable</td>" in shown and "not identified" not in shown


@pytest.mark.parametrize("y", [SETOSA, SPECIES], ids=["two", "three"])
def test_regions_are_what_the_classifier_says(y):
    from rosenblatt.display import BoundaryDisplay

    clf = Perceptron(max_iter=50).fit(TWO, y)
    display = BoundaryDisplay.from_estimator(clf, TWO, y, grid_resolution=30)
    places = np.column_stack([display.xx.ravel(), display.yy.ravel()])
    assert (clf.classes_[display.response.ravel()] == clf.predict(places)).all()
    assert display.xx.min() < TWO[:, 0].min() and display.yy.max() > TWO[:, 1].max()
    assert display.figure_ is display.ax_.figure
    shown = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert shown == [str(label) for label in clf.classes_]
    # The same axes take more.
    assert display.plot(ax=display.ax_).ax_ is display.ax_


def test_rows_that_hold_the_plane_are_marked():
    from rosenblatt.display import BoundaryDisplay

    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TWO, columns=["length", "width"])
    clf = MaxMarginClassifier(kernel="rbf:1").fit(frame, SETOSA)
    display = BoundaryDisplay.from_estimator(clf, frame, SETOSA, grid_resolution=20)
    assert display.ax_.get_xlabel() == "length" and len(display.support) == len(clf.support_)
    with pytest.raises(ValueError, match="the classifier takes 4 features"):
        BoundaryDisplay.from_estimator(Perceptron().fit(IRIS, SETOSA), IRIS, SETOSA)


def test_the_curve_of_a_run_is_its_mistakes_or_its_loss():
    from rosenblatt.display import RunDisplay

    clf = Perceptron().fit(IRIS, SETOSA)
    display = RunDisplay.from_estimator(clf)
    (line,) = display.ax_.get_lines()
    assert line.get_ydata().tolist() == clf.mistakes_per_epoch_.tolist()
    assert f"at most {clf.mistake_bound_} updates" in display.ax_.get_title()
    loss = RunDisplay.from_estimator(clf, kind="loss", ax=display.ax_)
    assert loss.ax_ is display.ax_ and loss.values.tolist() == clf.loss_curve_.tolist()
    with pytest.raises(ValueError, match="kind must be 'mistakes' or 'loss'"):
        RunDisplay.from_estimator(clf, kind="accuracy")


def test_a_learning_curve_is_scikit_learns():
    from sklearn.model_selection import learning_curve

    from rosenblatt.display import LearningCurveDisplay

    clf = make_pipeline(StandardScaler(), Perceptron())
    display = LearningCurveDisplay.from_estimator(clf, IRIS, SPECIES, train_sizes=[30, 90], cv=3)
    sizes, _, test = learning_curve(
        clf, IRIS, SPECIES, train_sizes=[30, 90], cv=3, shuffle=True, random_state=0
    )
    assert display.train_sizes.tolist() == sizes.tolist() == [30, 90]
    assert display.test_scores.tolist() == test.tolist()
    assert len(display.ax_.get_lines()) == 2


@pytest.mark.parametrize("name", ["for-teachers", "for-practitioners"])
@pytest.mark.filterwarnings("ignore:.*non-interactive.*")
def test_notebooks_run(name, monkeypatch, tmp_path):
    notebook = json.loads((EXAMPLES / f"{name}.ipynb").read_text())
    assert (notebook["nbformat"], notebook["cells"][0]["cell_type"]) == (4, "markdown")
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setenv("ROSENBLATT_FOLDER", str(tmp_path))
    names = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    for number, cell in enumerate(cells):
        assert cell["outputs"] == [], "a notebook is kept without what it prints"
        exec(compile("".join(cell["source"]), f"{name}[{number}]", "exec"), names)
