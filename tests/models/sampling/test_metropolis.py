"""Metropolis-Hastings: against the naive loop, known moments and plain formulas."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.sampling.metropolis import (
    first_inside,
    mixture,
    on_a_circle,
    sample,
)


def normal(w: np.ndarray) -> np.ndarray:
    return -((w - 1.0) ** 2).sum(-1) / 2


def test_chains_are_those_of_the_recipe_step_by_step() -> None:
    """FCML Figure 4.10 written out for one chain at a time, on the same random numbers."""
    starts, S = np.array([[0.0, 3.0], [-2.0, 1.0]]), np.array([[1.0, 0.5], [0.5, 2.0]])
    chains = sample(normal, starts, 50, S, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    noise, u = rng.standard_normal((49, 2, 2)), 1 - rng.random((49, 2))
    for c in range(2):
        w = starts[c]
        for s in range(49):
            proposal = w + np.linalg.cholesky(S) @ noise[s, c]
            ratio = np.exp(normal(proposal) - normal(w))
            assert_allclose(chains.proposed[s, c], proposal, rtol=1e-12)
            assert chains.accepted[s, c] == (u[s, c] <= ratio)
            w = proposal if u[s, c] <= ratio else w
            assert_allclose(chains.w[s + 1, c], w, rtol=1e-12)
    assert 0 < chains.accepted.mean() < 1


def test_each_chain_may_have_steps_of_its_own() -> None:
    sds = np.array([0.1, 5.0])
    chains = sample(
        normal, np.ones((2, 2)), 2000, sds[:, None, None] ** 2 * np.eye(2), np.random.default_rng(0)
    )
    steps = chains.proposed - chains.w[:-1]
    assert_allclose(steps.std(axis=(0, 2)), sds, rtol=0.05)
    assert chains.accepted[:, 0].mean() > 0.9 > 0.3 > chains.accepted[:, 1].mean()


def test_samples_have_the_moments_of_the_target() -> None:
    mean, S = np.array([1.0, 1.0]), np.array([[3.0, 0.4], [0.4, 3.0]])
    target = mixture(np.ones(1), mean[None], S[None])
    chains = sample(target, np.ones((300, 2)), 1500, np.eye(2), np.random.default_rng(1))
    late = chains.w[300:].reshape(-1, 2)
    assert_allclose(late.mean(0), mean, atol=0.05)
    assert_allclose(np.cov(late.T), S, atol=0.12)
    assert_allclose(chains.accepted.mean(), 0.72, atol=0.01)  # computed apart


def test_an_impossible_proposal_is_rejected() -> None:
    def half_plane(w: np.ndarray) -> np.ndarray:
        return np.where(w[:, 0] > 0, normal(w), -np.inf)

    chains = sample(half_plane, np.ones((5, 2)), 400, np.eye(2), np.random.default_rng(2))
    assert (chains.w[..., 0] > 0).all()
    assert (chains.proposed[..., 0] <= 0).any()


def test_mixtures_against_scipy() -> None:
    means = np.array([[0.0, 1.0], [2.0, -1.0]])
    covariances = np.array([[[1.0, 0.3], [0.3, 0.5]], [[0.2, 0.0], [0.0, 4.0]]])
    w = np.random.default_rng(0).standard_normal((7, 3, 2))
    parts = [
        stats.multivariate_normal(m, S).pdf(w) for m, S in zip(means, covariances, strict=True)
    ]
    found = mixture(np.array([0.3, 0.7]), means, covariances)(w)
    assert_allclose(np.exp(found), 0.3 * parts[0] + 0.7 * parts[1], rtol=1e-12)
    alone = mixture(np.ones(1), means[1:], covariances[1:])(w)
    assert_allclose(np.exp(alone), parts[1], rtol=1e-12)


def test_on_a_flat_density_a_chain_is_the_sum_of_its_steps() -> None:
    starts = np.array([[0.0, 0.0], [2.0, 2.0]])
    S = np.array([1.0, 0.1])[:, None, None] * np.eye(2)
    flat = lambda w: np.zeros(len(w))  # noqa: E731
    paths = sample(flat, starts, 6, S, np.random.default_rng(5)).w
    noise = np.random.default_rng(5).standard_normal((5, 2, 2))
    place = starts.copy()
    for s in range(5):
        place = place + np.sqrt([[1.0], [0.1]]) * noise[s]
        assert_allclose(paths[s + 1], place, rtol=1e-12)


def test_the_first_time_inside() -> None:
    inside = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=bool)
    assert first_inside(inside).tolist() == [0, 2, 3]


def test_starts_lie_round_the_mean() -> None:
    S = np.array([[2.0, 0.5], [0.5, 1.0]])
    off = on_a_circle(np.array([1.0, -1.0]), S, 3.0, 8) - [1, -1]
    assert_allclose(np.einsum("ni,ij,nj->n", off, np.linalg.inv(S), off), 9, rtol=1e-12)
    assert_allclose(off.mean(0), 0, atol=1e-12)
    square = on_a_circle(np.zeros(2), np.eye(2), 2**0.5, 4)  # the first half-way between the axes
    assert_allclose(square, [[1, 1], [-1, 1], [-1, -1], [1, -1]], atol=1e-12)
