"""Parameters of networks: against loops over data, by hand, and against SciPy's optimiser."""

from itertools import islice, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit

from bythebook.models.graphs.parameters import (
    coupling,
    drawn,
    em,
    expected_counts,
    family,
    fitted,
    gradient,
    log_likelihood,
    log_prior,
    seen,
)
from bythebook.models.graphs.structure import dag

GRAPH = dag(3, [(0, 2), (1, 2)])  # a -> c <- b
OF = family(GRAPH)
THETA = np.array([0.3, -0.5, 1.0, -1.2, 0.4, 0.8])  # a; b; c given b a = 00, 01, 10, 11
DATA = np.array([[1, 0, 1], [0, -1, 1], [-1, -1, 0], [1, 1, -1], [0, 0, 0], [1, 0, 1], [1, -1, 0]])


def by_loop(theta: np.ndarray, point: tuple[int, ...]) -> float:
    """The probability of a point, by settings of missing values one by one."""
    p, total = expit(theta), 0.0
    for a, b, c in product((0, 1), repeat=3):
        if all(x in (y, -1) for x, y in zip(point, (a, b, c), strict=True)):
            on = p[2 + a + 2 * b]
            total += (p[0] if a else 1 - p[0]) * (p[1] if b else 1 - p[1]) * (on if c else 1 - on)
    return total


def test_expected_counts_by_a_loop() -> None:
    found = expected_counts(OF, seen(OF, DATA), THETA)
    for s, setting in enumerate(OF.settings):
        right = sum(
            by_loop(THETA, tuple(setting)) / by_loop(THETA, tuple(point))
            for point in DATA
            if all(x in (y, -1) for x, y in zip(point, setting, strict=True))
        )
        assert found[s] == pytest.approx(right)


def test_complete_data_are_counted() -> None:
    whole = np.array([[1, 0, 1], [0, 0, 1], [1, 0, 0], [1, 1, 1]])
    what = seen(OF, whole)
    p = expit(fitted(OF, what.many @ what.agree))
    assert_allclose(p[:4], [3 / 4, 1 / 4, 1, 1 / 2], atol=1e-12)
    assert_allclose(p[4:], [1 / 2, 1], atol=1e-12)  # no point has a = 0, b = 1


def test_em_climbs_to_where_an_optimiser_ends() -> None:
    rng = np.random.default_rng(3)
    whole = drawn(OF, THETA, rng.random(60))
    what = seen(OF, np.where(rng.random(whole.shape) < 0.2, -1, whole))
    *_, last = islice(em(OF, what, np.zeros(6)), 400)
    best = minimize(lambda t: -float(log_likelihood(OF, what, t)), last + 0.1)
    assert float(log_likelihood(OF, what, last)) == pytest.approx(-best.fun, abs=1e-6)
    assert np.abs(gradient(lambda t: log_likelihood(OF, what, t), last)).max() < 1e-5


def test_derivatives_of_a_known_function() -> None:
    def f(t: np.ndarray) -> np.ndarray:
        return np.asarray(t[..., 0] ** 2 * t[..., 1] + 3 * t[..., 2] * t[..., 3])

    assert_allclose(gradient(f, THETA)[:4], [2 * 0.3 * -0.5, 0.09, 3 * -1.2, 3.0])
    found = coupling(OF, f, THETA)  # nodes own places 0; 1; 2 to 5
    assert_allclose(found, [[0, 0.6, 0], [0.6, 0, 0], [0, 0, 0]], atol=1e-12)


def test_priors_factorise_and_are_betas() -> None:
    p = expit(THETA)
    assert float(log_prior(THETA)) == pytest.approx(np.log(p * (1 - p)).sum())
    assert coupling(OF, log_prior, THETA).max() < 1e-12


def test_drawn_data_have_the_joint() -> None:
    z = drawn(OF, THETA, (np.arange(10_000) + 0.5) / 10_000)
    share = np.mean((z == [1, 0, 1]).all(1))
    assert share == pytest.approx(by_loop(THETA, (1, 0, 1)), abs=2e-4)
