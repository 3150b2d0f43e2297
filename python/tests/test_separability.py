"""Verdicts, their certificates, and what they mean for a logistic regression."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs

from rosenblatt import Perceptron, check_separability

IRIS, SPECIES = load_iris(return_X_y=True)


def test_iris():
    found = check_separability(IRIS, SPECIES == 0)
    assert found and found.verdict == "separable"
    assert found.holds(IRIS, SPECIES == 0)
    clf = Perceptron().fit(IRIS, SPECIES == 0)
    assert clf.n_updates_ <= found.mistake_bound <= clf.mistake_bound_
    assert clf.margin_.lower <= found.margin.upper
    assert found.margin.upper - found.margin.lower <= 1e-5 * found.margin.upper
    assert found.plain_margin.lower >= found.margin.lower
    versicolor = check_separability(IRIS, SPECIES == 1)
    assert not versicolor and versicolor.verdict == "overlapping"
    assert versicolor.holds(IRIS, SPECIES == 1)
    assert versicolor.margin is None and versicolor.mistake_bound is None
    assert versicolor.infinite_coefficients == {}
    # Setosa stands apart, the other two overlap.
    assert check_separability(IRIS, SPECIES).verdict == "quasi-separable"
    assert check_separability(sparse.csr_matrix(IRIS), SPECIES == 0).verdict == "separable"


def test_a_certificate_that_is_not_one():
    found = check_separability(IRIS, SPECIES == 0)
    assert not found.holds(IRIS, SPECIES == 1)
    balanced = check_separability(IRIS, SPECIES == 1)
    assert not balanced.holds(IRIS, SPECIES == 2)


# A dose that only the positive have: quasi-separable, by rows that leave it out.
DOSED = np.array(
    [[31, 0], [35, 0], [44, 0], [58, 0], [33, 0], [40, 0], [47, 1], [52, 1]], dtype=float
)
OUTCOME = [0, 1, 0, 1, 1, 0, 1, 1]


def test_a_weaker_verdict_needs_its_own_proof():
    found = check_separability(DOSED, OUTCOME)
    assert found.verdict == "quasi-separable" and found.holds(DOSED, OUTCOME)
    for change in (
        {"verdict": "overlapping", "separator": None, "separated": None},
        {"verdict": "overlapping"},
        {"separator": None},
        {"separator": None, "separated": None},
        {"separator": [0, 0, 0], "separated": []},
        {"separator": found.separator[:2]},
        {"separated": found.separated + [len(OUTCOME)]},
        {"verdict": "separable"},
        {"multipliers": {}},
    ):
        assert not dataclasses.replace(found, **change).holds(DOSED, OUTCOME), change


def test_rows_that_span_a_part_of_the_space_prove_an_overlap_in_it():
    X = np.column_stack([IRIS, IRIS[:, 0] / 4, np.zeros(len(IRIS))])
    found = check_separability(X, SPECIES == 1)
    assert found.verdict == "overlapping" and found.rank == 5
    assert found.holds(X, SPECIES == 1)
    less = check_separability(X, SPECIES == 1, fit_intercept=False)
    assert less.holds(X, SPECIES == 1, fit_intercept=False)
    X[7, 5] = 1.0
    assert not found.holds(X, SPECIES == 1)


def test_a_certificate_is_for_so_many_rows():
    for X, y in ((IRIS, SPECIES == 0), (IRIS, SPECIES == 1), (DOSED, np.array(OUTCOME))):
        found = check_separability(X, y)
        assert found.holds(X, y)
        assert not found.holds(X[1:], y[1:]) and not found.holds(X[:6], y[:6])
        assert not found.holds(np.vstack([X, X[:1]]), np.append(y, y[0]))
    far = dataclasses.replace(found, multipliers={-1: 1, 99: 1})
    assert not far.holds(DOSED, OUTCOME)


def test_a_frame_names_its_infinite_coefficients():
    """As statsmodels users meet it: a dummy that only one outcome has."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 60
    frame = pandas.DataFrame(
        {"age": rng.integers(20, 60, n), "dose": rng.integers(0, 4, n) / 2.0}
    )
    outcome = (rng.random(n) < 0.5).astype(int)
    frame["treated"] = ((outcome == 1) & (rng.random(n) < 0.3)).astype(float)
    found = check_separability(frame, outcome)
    assert found.verdict == "quasi-separable"
    assert found.infinite_coefficients == {"treated": "+inf"}
    assert found.not_identified == [] and found.rank == 4
    assert found.holds(frame, outcome)
    assert found.separated == frame.index[frame["treated"] == 1].tolist()
    # A design matrix with a constant of its own is fitted without an intercept.
    design = frame.assign(const=1.0)
    same = check_separability(design, outcome, fit_intercept=False)
    assert same.infinite_coefficients == {"treated": "+inf"}
    twice = check_separability(design, outcome)
    assert set(twice.not_identified) == {"(bias)", "const"}
    series = pandas.Series(np.where(outcome, "ill", "well"))
    back = check_separability(frame, series)
    assert back.infinite_coefficients == {"treated": "-inf"}


def test_the_trend_is_where_a_fit_goes():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    found = check_separability(X, [0, 0, 1, 1])
    assert found.infinite_coefficients == {"(bias)": "-inf", "x0": "+inf"}
    assert found.margin.lower == pytest.approx(1 / np.sqrt(13), rel=1e-5)
    assert found.plain_margin.lower == pytest.approx(0.5, rel=1e-5)


def test_several_classes():
    X, y = make_blobs(90, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)
    found = check_separability(X, y)
    assert found.verdict == "separable" and found.margin is None
    # One vector for each class but the last, whose scores are 0.
    vectors = np.array(found.separator, dtype=float).reshape(2, 3)
    scores = np.column_stack([np.ones(len(X)), X]) @ vectors.T
    assert (np.argmax(np.column_stack([scores, np.zeros(len(X))]), axis=1) == y).all()


def test_coefficients_that_nobody_looked_at_are_not_called_finite():
    for found in (
        check_separability(DOSED, OUTCOME, max_coefficients=2),
        check_separability(IRIS, SPECIES),
    ):
        assert found.infinite_coefficients is None and found.not_identified is None
        assert found.rank is None
    found = check_separability(DOSED, OUTCOME, max_coefficients=3)
    assert found.infinite_coefficients == {"x1": "+inf"} and found.not_identified == []


def test_a_name_is_of_one_coefficient():
    with pytest.raises(ValueError, match="feature_names must differ.*'a'"):
        check_separability(DOSED, OUTCOME, feature_names=["a", "a"])
    with pytest.raises(ValueError, match="name of the intercept"):
        check_separability(DOSED, OUTCOME, feature_names=["a", "(bias)"])
    own = check_separability(
        DOSED, OUTCOME, feature_names=["(bias)", "x"], fit_intercept=False
    )
    assert own.infinite_coefficients == {"x": "+inf"}
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="must differ|unique"):
        check_separability(pandas.DataFrame(DOSED, columns=["a", "a"]), OUTCOME)


BIG = [[2**53 + 1, 0], [2**53, 1], [3, 2], [4, 3]]


def given_in_many_ways():
    yield BIG
    yield [[x, y + 0.5] for x, y in BIG]
    yield np.array(BIG)
    yield -np.array(BIG)
    yield np.array(BIG, dtype=np.uint64)
    yield np.array(BIG, dtype=object)
    yield [[10**400, 0]] + BIG[1:]
    yield sparse.csr_matrix(np.array(BIG))
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [x for x, _ in BIG], "b": [0.5, 1.5, 2.5, 3.5]})
    yield frame
    yield frame.astype({"a": "Int64"})


def test_numbers_that_would_be_rounded_are_refused():
    y = [0, 1, 0, 1]
    for X in given_in_many_ways():
        with pytest.raises(ValueError, match="not exact as a float64"):
            check_separability(X, y)
    even = np.array(BIG)
    even[0, 0] += 1
    found = check_separability(even, y)
    assert found.holds(even, y)
    with pytest.raises(ValueError, match="not exact"):
        found.holds(BIG, y)


@pytest.mark.parametrize("module", ["polars", "pyarrow"])
def test_other_frames_are_looked_through(module):
    frames = pytest.importorskip(module)
    make = frames.DataFrame if module == "polars" else frames.table
    columns = {"a": [x for x, _ in BIG], "b": [0.5, 1.5, 2.5, 3.5]}
    with pytest.raises(ValueError, match="not exact"):
        check_separability(make(columns), [0, 1, 0, 1])
    columns["a"][0] -= 1
    assert check_separability(make(columns), [0, 1, 0, 1]).n_samples == 4


def test_a_verdict_is_a_table_in_a_notebook():
    found = check_separability(DOSED, OUTCOME, feature_names=["age", "<dose>"])
    shown = found._repr_html_()
    assert "<td>quasi-separable</td>" in shown and "&lt;dose&gt; +inf" in shown
    assert "margin" not in shown
    assert "<th>margin</th>" in check_separability(IRIS, SPECIES == 0)._repr_html_()


def survey():
    """A region in which everyone says yes, and an age that says nothing."""
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(
        {
            "age": [31, 35, 44, 58, 33, 40, 47, 52, 39],
            "region": pandas.Categorical(
                ["b", "a", "a", "b", "b", "a", "c", "c", "a"], categories=["a", "b", "c", "d"]
            ),
            "said": [0, 1, 0, 1, 1, 0, 1, 1, 1],
        }
    )


def test_a_frame_with_categories():
    frame = survey()
    X, y = frame[["age", "region"]], frame["said"]
    found = check_separability(X, y)
    assert found.verdict == "quasi-separable"
    assert found.infinite_coefficients == {"region[T.c]": "+inf"}
    assert found.not_identified == [] and found.rank == 4
    assert found.reference_levels == {"region": "a"} and found.outcome == 1
    assert found.holds(X, y)
    # Texts are categories too; without an intercept a level of the first stands for it.
    texts = X.assign(region=X["region"].astype(str))
    assert check_separability(texts, y) == found
    without = check_separability(texts, y, fit_intercept=False)
    assert without.infinite_coefficients == {"region[c]": "+inf"} and without.rank == 4
    assert without.reference_levels == {} and without.holds(texts, y, fit_intercept=False)
    polars = pytest.importorskip("polars")
    assert check_separability(polars.DataFrame(texts.to_dict("list")), y) == found


def test_categories_with_holes_are_refused():
    frame = survey()
    frame.loc[2, "region"] = None
    with pytest.raises(ValueError, match="region in X has a missing value in row 2"):
        check_separability(frame[["age", "region"]], frame["said"])
    frame = survey()
    frame["age"] = frame["age"].astype(float)
    frame.loc[4, "age"] = np.nan
    with pytest.raises(ValueError, match="age in X has a missing or infinite value in row 4"):
        check_separability(frame[["age", "region"]], frame["said"])


def test_a_formula():
    pytest.importorskip("formulaic")
    frame = survey()
    found = check_separability("said ~ age + C(region)", data=frame)
    assert found.verdict == "quasi-separable"
    assert found.infinite_coefficients == {"C(region)[T.c]": "+inf"}
    assert found.holds("said ~ age + C(region)", data=frame)
    # A level that no row has cannot be estimated, and is not left out unsaid.
    assert found.not_identified in ([], ["C(region)[T.d]"])
    answers = frame.assign(said=["yes" if said else "no" for said in frame["said"]])
    named = check_separability("said ~ age + C(region)", data=answers)
    assert named.outcome == "yes"
    assert named.infinite_coefficients == found.infinite_coefficients
    assert check_separability("said ~ log(age)", data=frame).verdict == "overlapping"
    assert check_separability("said ~ age - 1", data=frame).not_identified == []
    with pytest.raises(ValueError, match="data"):
        check_separability("said ~ age", frame["said"])
    with pytest.raises(ValueError, match="no labels"):
        check_separability("~ age", data=frame)
    with pytest.raises(ValueError, match="a formula as X"):
        check_separability(frame[["age"]], frame["said"], data=frame)
    frame["age"] = frame["age"].astype(float)
    frame.loc[4, "age"] = np.nan
    with pytest.raises(ValueError):
        check_separability("said ~ age", data=frame)


def test_a_model_of_statsmodels():
    statsmodels = pytest.importorskip("statsmodels.api")
    frame = survey()
    design = statsmodels.add_constant(np.column_stack([frame["age"], frame["region"] == "c"]))
    model = statsmodels.GLM(frame["said"], design, family=statsmodels.families.Binomial())
    found = check_separability(model)
    assert found.verdict == "quasi-separable"
    assert found.infinite_coefficients == {"x2": "+inf"} and found.not_identified == []
    assert check_separability(model.fit()) == found and found.holds(model)
    logit = statsmodels.Logit(frame["said"], design)
    assert check_separability(logit) == found
    with pytest.raises(ValueError, match="leave out y"):
        check_separability(model, frame["said"])
    shares = statsmodels.GLM(frame["age"] / 60, design, family=statsmodels.families.Binomial())
    with pytest.raises(ValueError, match="a class for each row"):
        check_separability(shares)
    with pytest.raises(ValueError, match="y is missing"):
        check_separability(design)
