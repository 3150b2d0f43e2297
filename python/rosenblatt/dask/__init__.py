"""Learning and proof where the rows do not fit one machine, on Dask.

The estimators have the parameters of those on one machine, and ``client``. Their tasks are pure
functions of partition, weights, pass and seed, which Dask places, repeats and moves as it
likes: the result depends on data, partitions, options and seed, bit for bit, and with one
partition it is that of the estimator on one machine.

>>> import dask.array as da
>>> from dask.distributed import Client
>>> from rosenblatt.dask import DaskPerceptron
>>> X = da.from_array([[0.0, 0], [0, 1], [1, 0], [1, 1]], chunks=(2, 2))
>>> y = da.from_array([0, 0, 0, 1], chunks=2)
>>> with Client(processes=False, dashboard_address=None) as client:
...     clf = DaskPerceptron(client=client).fit(X, y)
...     labels = clf.predict(X).compute()
>>> clf.stop_reason_, labels.tolist()
('separated', [0, 0, 0, 1])
"""

from ._estimators import DaskArow, DaskLogistic, DaskPassiveAggressive, DaskPerceptron

from ._separability import ClusterVerdict, check_separability

__all__ = [
    "ClusterVerdict",
    "DaskArow",
    "DaskLogistic",
    "DaskPassiveAggressive",
    "DaskPerceptron",
    "check_separability",
]
