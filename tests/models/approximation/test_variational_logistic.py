"""Logistic regression by bounds and by EP, against a grid and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from scipy.special import expit

from bythebook.models.approximation import variational_logistic as vl
from bythebook.models.classification import logistic
from bythebook.models.types import Floats

RNG = np.random.default_rng(0)
X = np.stack([np.ones((3, 12)), RNG.normal(size=(3, 12))], axis=-1)
T = (RNG.random((3, 12)) < expit(2 * X[..., 1])).astype(float)
ALPHA = 0.25


def grids() -> list[logistic.OnGrid]:
    made = []
    for x, t in zip(X, T, strict=True):
        p = logistic.Posterior(x, t, 1 / ALPHA)
        made.append(logistic.quadrature(p, np.array([0.0, 2.0]), np.array([8.0, 10.0]), 161))
    return made


def test_em_climbs_to_a_bound_below_the_evidence() -> None:
    found = vl.fit(X, T, ALPHA, 300)
    assert (np.diff(found.course, axis=0) > -1e-10).all()
    for k, grid in enumerate(grids()):
        assert found.course[-1, k] < grid.log_evidence < found.course[-1, k] + 1
    h = 1e-5
    for n in range(3):
        step = h * (np.arange(12) == n)
        slope = vl.bound(X, T, ALPHA, found.xi + step) - vl.bound(X, T, ALPHA, found.xi - step)
        assert np.abs(slope / (2 * h)).max() < 1e-3


def log_h(X: Floats, t: Floats, xi: Floats, w: Floats) -> Floats:
    """The logarithm of (10.153) at one place."""
    a, lam = X @ w, np.tanh(xi / 2) / (4 * xi)
    return np.asarray((np.log(expit(xi)) + a * t - (a + xi) / 2 - lam * (a**2 - xi**2)).sum())


def test_the_expected_log_under_q() -> None:
    xi = RNG.uniform(0.2, 3, T.shape)
    q = vl.posterior(X, T, ALPHA, xi)
    w = RNG.multivariate_normal(q.mean[0], q.covariance[0], 4000)
    values = [log_h(X[0], T[0], xi[0], v) for v in w]
    error = np.std(values) / 4000**0.5
    assert abs(np.mean(values) - vl.expected_log_h(X, T, xi, q).sum(-1)[0]) < 5 * error


def test_propagation_is_near_the_exact_posterior() -> None:
    found = vl.propagate(X, T, ALPHA, 15)
    assert found.change.max() < 1e-6
    first, second = vl.propagate(X, T, ALPHA, 1), vl.propagate(X, T, ALPHA, 2)
    moved = np.abs(second.weights.mean - first.weights.mean).max(axis=1)
    assert_allclose(second.change, moved, rtol=1e-12)
    for k, grid in enumerate(grids()):
        mean = grid.probability @ grid.w
        assert_allclose(found.weights.mean[k], mean, atol=0.03)
        assert_allclose(found.log_evidence[k], grid.log_evidence, atol=0.03)


def test_a_single_point_is_exact_by_propagation_and_sequential_is_batch() -> None:
    x, t = X[:1, :1], T[:1, :1]
    p = logistic.Posterior(x[0], t[0], 1 / ALPHA)
    grid = logistic.quadrature(p, np.zeros(2), np.array([16.0, 16.0]), 241)
    found = vl.propagate(x, t, ALPHA, 2)
    assert_allclose(found.weights.mean[0], grid.probability @ grid.w, atol=1e-6)
    assert_allclose(found.log_evidence[0], grid.log_evidence, atol=1e-7)
    one = vl.sequential(x, t, ALPHA, np.zeros((1, 1), dtype=int), inner=200)
    batch = vl.fit(x, t, ALPHA, 200)
    assert_allclose(one.weights.mean, batch.weights.mean, rtol=1e-6)
    assert_allclose(one.log_evidence, batch.course[-1], rtol=1e-8)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_sigmoid_in_its_context(sign: float) -> None:
    def moment(k: int) -> float:
        f = lambda a: a**k * expit(sign * a) * stats.norm.pdf(a, 0.7, 1.5)  # noqa: E731
        return float(integrate.quad(f, -13, 14)[0])

    Z, first, second = (moment(k) for k in range(3))
    found = vl.tilted(np.array(0.7), np.array(2.25), np.array(sign))
    assert_allclose(found.log_z, np.log(Z))
    assert_allclose(found.mean, first / Z)
    assert_allclose(found.variance, second / Z - (first / Z) ** 2)


def test_sequences_depend_on_their_order_and_stay_below_the_evidence() -> None:
    ways = [np.tile(np.arange(12), (3, 1)), np.tile(np.arange(12)[::-1], (3, 1))]
    one, other = (vl.sequential(X, T, ALPHA, way) for way in ways)
    assert np.abs(one.weights.mean - other.weights.mean).max() > 1e-4
    assert (np.linalg.eigvalsh(one.weights.covariance) > 0).all()
    for run, way in zip((one, other), ways, strict=True):  # factors in turn, or all together
        assert_allclose(run.log_evidence, vl.bound(X, T, ALPHA, run.xi), rtol=1e-10)
        assert_allclose(run.weights.mean, vl.posterior(X, T, ALPHA, run.xi).mean, rtol=1e-8)
        first = X[np.arange(len(X)), way[:, 0]]
        alone = vl.fit(first[:, None], T[np.arange(len(X)), way[:, 0]][:, None], ALPHA, 30).xi
        assert_allclose(run.xi[np.arange(len(X)), way[:, 0]], alone[:, 0], rtol=1e-3)
