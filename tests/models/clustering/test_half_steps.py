"""The bound along EM against loops over points and labels."""

import numpy as np
import pytest
from scipy.stats import norm

from bythebook.models.clustering.gaussian_mixture import GaussianMixture
from bythebook.models.clustering.half_steps import (
    arbitrary_q,
    gains_of_q,
    half_steps,
    neighbour_gains,
)
from bythebook.models.clustering.mixture import moments


def test_bound_and_divergence_by_loops():
    rng = np.random.default_rng(2)
    x = rng.normal(size=7)
    thetas = [([0.4, 0.6], [-1.0, 1.0], [1.0, 0.7]), ([0.5, 0.5], [-0.5, 0.8], [0.9, 0.8])]
    joint = np.array(
        [
            [
                [np.log(p) + norm(m, s).logpdf(value) for p, m, s in zip(*theta, strict=True)]
                for value in x
            ]
            for theta in thetas
        ]
    )
    found = half_steps(joint)
    evidence = np.exp(joint).sum(axis=2)  # (2, N)
    q = np.exp(joint[0]) / evidence[0][:, None]
    after_m = sum(q[n, k] * (joint[1, n, k] - np.log(q[n, k])) for n in range(7) for k in range(2))
    new = np.exp(joint[1]) / evidence[1][:, None]
    kl = sum(q[n, k] * np.log(q[n, k] / new[n, k]) for n in range(7) for k in range(2))
    L = np.log(evidence).sum(axis=1)
    assert found.log_likelihood[0] == pytest.approx(L, rel=1e-12)
    assert found.bound[0] == pytest.approx([L[0], after_m], rel=1e-12)
    assert found.divergence[0] == pytest.approx([0, kl], rel=1e-9, abs=1e-12)


def test_arbitrary_q_are_distributions_sharp_and_flat():
    q = arbitrary_q(30, 3, 200, np.random.default_rng(0))
    np.testing.assert_allclose(q.sum(axis=2), 1)
    sharpness = q.max(axis=2).mean(axis=1)
    assert sharpness.min() < 0.45
    assert sharpness.max() > 0.9


def test_no_neighbour_of_the_weighted_moments_has_a_larger_bound():
    rng = np.random.default_rng(4)
    X, q = rng.normal(size=(40, 2)), arbitrary_q(40, 2, 3, rng)
    best = [moments(X, one) for one in q]  # by np.cov
    mu, Sigma = (np.stack(part) for part in zip(*best, strict=True))
    theta = GaussianMixture(q.mean(axis=1), mu, Sigma)
    assert neighbour_gains(X, theta, q, rng).max() < 0
    off = theta._replace(mu=mu + 0.01)
    assert neighbour_gains(X, off, q, rng, neighbours=300).min() > 0


@pytest.mark.parametrize("power", [0.9, 1.1])
def test_no_q_near_the_posterior_has_a_larger_bound_and_some_near_others_do(power):
    rng = np.random.default_rng(4)
    joint = rng.normal(size=(3, 40, 4)) - 1
    q = np.exp(joint) / np.exp(joint).sum(axis=-1, keepdims=True)
    off = q**power / (q**power).sum(axis=-1, keepdims=True)
    assert gains_of_q(joint, q, rng).max() < 0
    assert gains_of_q(joint, off, rng, neighbours=100).min() > 0


class Ahead:
    """Draws that move every mean by the size of a step, and nothing else."""

    def standard_normal(self, shape):
        return np.full(shape, float(len(shape) == 3))  # means are (T, K, D)


def test_neighbours_are_a_ten_thousandth_to_a_tenth_away():
    """One Gaussian far from its points: the larger the step, the larger the gain."""
    X, mu = np.array([[9.0], [10.0], [14.0]]), 3.0
    theta = GaussianMixture(np.ones((1, 1)), np.full((1, 1, 1), mu), np.ones((1, 1, 1, 1)))
    q = np.ones((1, 3, 1))
    for neighbours, size in ((1, 1e-4), (2, 0.1), (30, 0.1)):
        gain = (norm(mu + size).logpdf(X) - norm(mu).logpdf(X)).sum()
        found = neighbour_gains(X, theta, q, Ahead(), neighbours)
        np.testing.assert_allclose(found, [gain], rtol=1e-8)
