"""Incremental against batch EM: passes counted by a plain loop."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.incremental_em import IncrementalEm
from models.types import Floats


def test_places_in_the_wrong_dimension_are_refused() -> None:
    with pytest.raises(BadInput, match="needs 2 numbers"):
        IncrementalEm(start=[[0.0], [1.0]])


def moments(X: Floats, gamma: Floats) -> tuple[Floats, Floats, Floats]:
    N = gamma.sum(0)
    mu = gamma.T @ X / N[:, None]
    Sigma = np.stack(
        [(g[:, None] * (X - m)).T @ (X - m) / g.sum() for g, m in zip(gamma.T, mu, strict=True)]
    )
    return N / len(X), mu, Sigma


def densities(X: Floats, pi: Floats, mu: Floats, Sigma: Floats) -> Floats:
    return np.column_stack(
        [p * multivariate_normal(m, S).pdf(X) for p, m, S in zip(pi, mu, Sigma, strict=True)]
    )


def test_passes_against_plain_loops() -> None:
    study = IncrementalEm(
        orders=2,
        passes=25,
        data=None,
        standardise=False,
        n_each=15,
        spread=0.8,
        centres=[[-2.0, 0.0], [2.0, 0.0]],
        start=[[-1.0, 1.0], [1.0, -1.0]],
        close=1e-2,
    )
    outcome = study.run(generator(study.name, 0))
    X = study.points(generator(study.name, 0))
    level = outcome.metrics["maximum"] - study.close
    start = np.array([0.5, 0.5]), np.array(study.start), np.stack([np.eye(2)] * 2)

    theta, batch = start, [np.log(densities(X, *start).sum(1)).sum()]
    point, one_by_one = start, [batch[0]]
    p = densities(X, *start)
    gamma = p / p.sum(1, keepdims=True)
    for _ in range(study.passes):
        p = densities(X, *theta)
        theta = moments(X, p / p.sum(1, keepdims=True))
        batch.append(np.log(densities(X, *theta).sum(1)).sum())
        for n in range(len(X)):  # the order of the file, everything from scratch
            p = densities(X[n : n + 1], *point)
            gamma[n] = p / p.sum()
            point = moments(X, gamma)
        one_by_one.append(np.log(densities(X, *point).sum(1)).sum())
    assert outcome.metrics["batch_passes"] == int(np.argmax(np.array(batch) >= level))
    expected = int(np.argmax(np.array(one_by_one) >= level))
    assert outcome.metrics["incremental_passes_file_order"] == expected
    steps = len(outcome.series["incremental_file_order"].values)
    np.testing.assert_allclose(outcome.arrays["incremental"][0], one_by_one[:steps], rtol=1e-8)
    assert outcome.metrics["bound_never_falls"] is True
    assert outcome.metrics["update_equals_recomputation"] is True
    assert outcome.metrics["incremental_faster"] is bool(
        np.median(outcome.arrays["incremental_passes"]) < outcome.metrics["batch_passes"]
    )
    assert list(study.draw(outcome)) == ["passes"]


def test_an_orders_failure_to_come_close_is_counted_as_more_than_all_passes() -> None:
    study = IncrementalEm(orders=1, passes=2)
    found = study.run(generator(study.name, 0)).metrics
    assert found["batch_passes"] == 3
    assert found["same_maximum"] is False
    assert found["incremental_faster"] is False
