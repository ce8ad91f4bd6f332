"""The bound along EM against loops over points and labels; passes counted by a plain loop."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.em_bound import EmBound

LINE = {"data": None, "standardise": False, "centres": [[-1.0], [1.5]]}


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": None, "centres": [[0.0]], "n_each": 3, "k": 4}, "there are 3 points"),
        ({"start": [[0.0], [1.0]]}, "needs 2 numbers"),
        ({"start": [[0.0, 0.0]]}, "study.start has 1 means"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(BadInput, match=complaint):
        EmBound(**knobs)


def moments(X, gamma):
    N = gamma.sum(0)
    mu = gamma.T @ X / N[:, None]
    Sigma = np.stack(
        [(g[:, None] * (X - m)).T @ (X - m) / g.sum() for g, m in zip(gamma.T, mu, strict=True)]
    )
    return N / len(X), mu, Sigma


def densities(X, pi, mu, Sigma):
    return np.column_stack(
        [p * multivariate_normal(m, S).pdf(X) for p, m, S in zip(pi, mu, Sigma, strict=True)]
    )


def test_bound_and_divergence_of_one_iteration(run):
    study = EmBound(**LINE, n_each=4, start=[[-1.0], [1.0]], iterations=1)
    outcome = run(study)
    X = study.points(generator(study.name, 0))
    p = densities(X, [0.5, 0.5], np.array(study.start), np.ones((2, 1, 1)))
    q = p / p.sum(1, keepdims=True)
    new = densities(X, *moments(X, q))
    posterior = new / new.sum(1, keepdims=True)
    pairs = [(n, k) for n in range(len(X)) for k in range(2)]
    expected = {
        "log_likelihood": [np.log(p.sum(1)).sum(), np.log(new.sum(1)).sum()],
        "bound": [np.log(p.sum(1)).sum(), sum(q[i] * np.log(new[i] / q[i]) for i in pairs)],
        "divergence": [0, sum(q[i] * np.log(q[i] / posterior[i]) for i in pairs)],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(outcome[name].values, [values], rtol=1e-9, atol=1e-12)


def test_the_bound_along_em_and_for_any_q(run):
    outcome = run(EmBound(**LINE, iterations=30))
    L, bound, divergence = (outcome[n].values for n in ("log_likelihood", "bound", "divergence"))
    np.testing.assert_array_equal(L[1:, 0], L[:-1, 1])  # an E step leaves it
    np.testing.assert_allclose(bound[:, 0], L[:, 0], rtol=1e-12)
    np.testing.assert_allclose(bound + divergence, L, rtol=1e-10)
    assert (bound[:, 1] > bound[:, 0]).all()
    assert (divergence[:, 1] > 0).all()
    gap = L[0, 0] - outcome["random_bound"].values
    np.testing.assert_allclose(gap, outcome["random_divergence"].values, rtol=1e-9)
    assert gap.min() > 0


def test_passes_against_plain_loops(run):
    study = EmBound(
        orders=2,
        iterations=25,
        data=None,
        standardise=False,
        n_each=15,
        spread=0.8,
        centres=[[-2.0, 0.0], [2.0, 0.0]],
        start=[[-1.0, 1.0], [1.0, -1.0]],
        close=1e-2,
    )
    outcome = run(study)
    X = study.points(generator(study.name, 0))
    level = outcome["maximum"].item - study.close
    start = np.array([0.5, 0.5]), np.array(study.start), np.stack([np.eye(2)] * 2)

    theta, batch = start, [np.log(densities(X, *start).sum(1)).sum()]
    point, one_by_one = start, [batch[0]]
    p = densities(X, *start)
    gamma = p / p.sum(1, keepdims=True)
    for _ in range(study.iterations):
        p = densities(X, *theta)
        theta = moments(X, p / p.sum(1, keepdims=True))
        batch.append(np.log(densities(X, *theta).sum(1)).sum())
        for n in range(len(X)):  # the order of the file, everything from scratch
            p = densities(X[n : n + 1], *point)
            gamma[n] = p / p.sum()
            point = moments(X, gamma)
        one_by_one.append(np.log(densities(X, *point).sum(1)).sum())
    assert outcome["batch_passes"].item == int(np.argmax(np.array(batch) >= level))
    expected = int(np.argmax(np.array(one_by_one) >= level))
    assert outcome["incremental_passes"].values[0] == expected
    found = outcome["incremental_log_likelihood"].values[0]
    np.testing.assert_allclose(found, one_by_one[: len(found)], rtol=1e-8)
    assert outcome["smallest_gain"].item >= -1e-9
    assert outcome["update_error"].item < 1e-10


def test_failure_to_come_close_is_counted_as_more_than_all_passes(run):
    outcome = run(EmBound(start=[[-1.5, 1.0], [1.5, -1.0]], orders=1, iterations=2))
    assert outcome["batch_passes"].item == 3
    last = outcome["incremental_log_likelihood"].values[:, -1]
    assert (last < outcome["maximum"].item - 1e-3).all()
