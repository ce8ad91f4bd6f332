"""The score against finite differences of the log likelihood."""

import numpy as np
import pytest

from bythebook.models.clustering.gaussian_mixture import GaussianMixture, fit, log_density
from bythebook.models.clustering.gaussian_mixture_score import (
    mean_terms,
    mean_terms_as_printed,
    mean_terms_by_differences,
    score,
)
from bythebook.models.clustering.gaussian_mixture_starts import start_at_points
from bythebook.models.em import take
from bythebook.models.types import Floats

H = 1e-6


@pytest.fixture(name="problem")
def make_problem() -> tuple[Floats, GaussianMixture]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2)) @ np.array([[1.0, 0.4], [0.0, 2.0]])
    theta = start_at_points(X, 3, rng, restarts=2)
    return X, theta._replace(pi=np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]))


def numeric(X: Floats, theta: GaussianMixture, name: str, index: tuple[int, ...]) -> float:
    """A central difference in one entry (for a covariance: in the entry and its mirror image)."""
    values = []
    for sign in (1, -1):
        field = getattr(theta, name).copy()
        field[index] += sign * H
        if name == "Sigma" and index[-1] != index[-2]:
            field[(*index[:-2], index[-1], index[-2])] += sign * H
        values.append(log_density(X, theta._replace(**{name: field})).sum(1)[index[0]])
    return float(values[0] - values[1]) / (2 * H)


def test_the_score_is_the_derivative(problem: tuple[Floats, GaussianMixture]) -> None:
    X, theta = problem
    found = score(X, theta)
    for index in np.ndindex(found.mu.shape):
        assert found.mu[index] == pytest.approx(numeric(X, theta, "mu", index), rel=1e-5, abs=1e-5)
    for index in np.ndindex(found.Sigma.shape):
        both = 1 if index[-1] == index[-2] else 2
        expected = numeric(X, theta, "Sigma", index) / both
        assert found.Sigma[index] == pytest.approx(expected, rel=1e-5, abs=1e-5)
    for index in np.ndindex(found.pi.shape):
        expected = numeric(X, theta, "pi", index) - len(X)
        assert found.pi[index] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_the_printed_sum_is_not_the_derivative(problem: tuple[Floats, GaussianMixture]) -> None:
    X, theta = problem
    assert not np.allclose(mean_terms_as_printed(X, theta), score(X, theta).mu, rtol=0.1)
    flat = theta._replace(Sigma=np.broadcast_to(np.eye(2), theta.Sigma.shape))
    np.testing.assert_allclose(mean_terms_as_printed(X, flat), score(X, flat).mu, rtol=1e-12)


def test_em_ends_where_the_score_vanishes(problem: tuple[Floats, GaussianMixture]) -> None:
    X, theta = problem
    ended = fit(X, start_at_points(X, 2, np.random.default_rng(3)), tol=0, max_iter=20_000).theta
    assert max(np.abs(part).max() for part in score(X, ended)) < 1e-4
    assert min(np.abs(part).max() for part in score(X, theta)) > 1


def test_differences_of_all_means_at_once(problem: tuple[Floats, GaussianMixture]) -> None:
    X, theta = problem
    found = mean_terms_by_differences(X, take(theta, [1]))
    np.testing.assert_allclose(found, score(X, theta).mu[1:], rtol=1e-5, atol=1e-5)


def test_three_ways_to_the_same_terms_of_one_mixture(
    problem: tuple[Floats, GaussianMixture],
) -> None:
    X, theta = problem
    one = take(theta, [1])
    found = mean_terms(X, one)
    assert {name: terms.shape for name, terms in found.items()} == dict.fromkeys(
        ("numerical", "printed", "corrected"), (3, 2)
    )
    for k, d in np.ndindex(3, 2):
        slope = numeric(X, one, "mu", (0, k, d))
        assert found["numerical"][k, d] == pytest.approx(slope, rel=1e-4, abs=1e-4)
        assert found["corrected"][k, d] == pytest.approx(slope, rel=1e-4, abs=1e-4)
        # As printed it is the derivative with Sigma_k on the wrong side, twice.
        squared = theta.Sigma[1, k] @ theta.Sigma[1, k]
        assert found["printed"][k, d] == pytest.approx((squared @ found["corrected"][k])[d])
