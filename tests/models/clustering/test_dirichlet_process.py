"""Dirichlet process mixtures against quadrature, Bell numbers, draws, and enumeration."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bythebook.models.clustering import dirichlet_process as process
from bythebook.models.clustering.dirichlet_process import Model

MODEL = Model(0.8, 0.5, 4.0)


def test_marginal_density_of_a_component() -> None:
    x = np.array([0.3, -1.0, 2.0])
    right = multivariate_normal(np.zeros(3), 0.5 * np.eye(3) + 4).logpdf(x)
    shared = -3 * np.log(2 * np.pi * 0.5) / 2 - (x**2).sum() / (2 * 0.5)
    found = process.log_marginal(np.array(3.0), x.sum(), MODEL)
    assert found + shared == pytest.approx(right)


def test_partitions_are_as_many_as_bell_says() -> None:
    assert [len(process.partitions(n)) for n in range(1, 7)] == [1, 2, 5, 15, 52, 203]


def test_counts_of_the_prior() -> None:
    counts = process.draw_counts(30, 2.0, 4000, np.random.default_rng(0))
    assert counts[:, 0].tolist() == [1] * 4000
    error = counts[:, -1].std() / np.sqrt(4000)
    expected = sum(2.0 / (2.0 + i) for i in range(30))
    assert abs(counts[:, -1].mean() - expected) < 4 * error


def test_with_a_flat_likelihood_the_posterior_is_the_prior() -> None:
    """Components that are all at zero have equal likelihoods."""
    p = process.exact_counts(np.array([0.1, -0.2, 0.4]), Model(0.8, 1.0, 1e-12))
    total = 0.8 * 1.8 * 2.8
    assert p == pytest.approx([0.8 * 2 / total, 0.8**2 * 3 / total, 0.8**3 / total])


def test_gibbs_sampling_has_the_exact_counts() -> None:
    x = np.array([-2.0, -1.5, 0.2, 1.9])
    chains = process.gibbs(np.repeat(x[None], 400, 0), MODEL, 12, np.random.default_rng(1))[:, 4:]
    drawn = np.bincount(chains.ravel(), minlength=5)[1:] / chains.size
    assert np.abs(drawn - process.exact_counts(x, MODEL)).max() < 0.04


class _Chosen:
    """A stand-in for random numbers: the component that each point is to take."""

    def __init__(self, *components: int) -> None:
        self.components = iter(components)

    def gumbel(self, size: tuple[int, int]) -> np.ndarray:
        noise = np.zeros(size)
        noise[:, next(self.components)] = 1e6
        return noise


def test_a_point_may_join_any_component_whichever_have_lost_their_last() -> None:
    """Six alone, three of which join another: an occupied place behind three empty ones."""
    alone, joined = (1, 2, 3, 4, 5, 0), (0, 0, 0, 5, 0, 0)
    rng: Any = _Chosen(*alone, *joined)
    assert process.gibbs(np.zeros((1, 6)), MODEL, 2, rng).tolist() == [[6, 2]]


def test_data_of_two_points_agree_as_often_as_the_prior_says() -> None:
    x = process.draw_data(2, Model(1.0, 1e-8, 1.0), 4000, np.random.default_rng(2))
    assert np.mean(np.abs(x[:, 0] - x[:, 1]) < 1e-2) == pytest.approx(0.5, abs=0.04)


def test_truncated_fits_climb_and_find_plain_components() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(-6, 0.5, 20), rng.normal(6, 0.5, 20)])[None]
    start = rng.dirichlet(np.full(6, 0.1), (1, 40))
    fit = process.truncated(x, start, Model(1.0, 0.25, 20.0), tol=0)
    assert np.nanmin(np.diff(fit.objective)) > -1e-9
    assert process.truncated_counts(fit.theta)[0] >= 2


def test_factors_of_known_components_by_hand() -> None:
    """Three points and one: precisions 1 / 4 + 2 n, means 2 S over these, sticks of the prior."""
    x, r = np.array([[3.0, -2.0, 5.0, 4.5]]), np.eye(3)[[[0, 1, 0, 0]]]
    theta = process.truncated(x, r, MODEL, max_iter=0).theta
    np.testing.assert_allclose(theta.variance, [[1 / 6.25, 1 / 2.25, 4]], rtol=1e-12)
    np.testing.assert_allclose(theta.mean, [[25 / 6.25, -4 / 2.25, 0]], rtol=1e-12)
    np.testing.assert_allclose(theta.a, [[4, 2, 1]], rtol=1e-12)
    np.testing.assert_allclose(theta.b, [[1.8, 0.8, 0.8]], rtol=1e-12)


def test_it_ends_by_default_after_so_many_steps_or_with_a_gain_so_small() -> None:
    """500 steps, or the first gain of no more than 1e-8; the gain before is slightly larger."""
    x, start = np.array([[-2.0, -1.5, 0.2, 1.9]]), np.random.default_rng(3).dirichlet(np.ones(4), 4)
    assert process.truncated(x, start[None], MODEL, tol=-np.inf).iterations.tolist() == [500]
    gains = np.diff(process.truncated(x, start[None], MODEL).objective[0])
    assert gains[-1] <= 1e-8 < gains[-2] < 2e-8


def test_components_that_take_a_point_or_more_are_counted() -> None:
    """Beta(1 + n, ...) of a stick whose component takes n points in all."""
    points = np.array([[20.0, 3.5, 1.0, 0.75, 0.0], [25.25, 0.0, 0.0, 0.0, 0.0]])
    rest = np.ones((2, 5))
    theta = process.Sticks(1 + points, rest, rest, rest, np.zeros((2, 25)))
    assert process.truncated_counts(theta).tolist() == [3, 1]


def test_the_truncated_bound_is_below_the_evidence() -> None:
    x = np.array([[-2.0, -1.5, 0.2, 1.9]])
    labels = process.partitions(4)
    log_p = []
    for row in labels:
        parts = [x[0][row == k] for k in range(row.max() + 1)]
        prior = sum(np.log(0.8) + np.log(np.prod(np.arange(1, max(len(p), 1)))) for p in parts)
        prior -= np.log(0.8 * 1.8 * 2.8 * 3.8)
        cov = [0.5 * np.eye(len(p)) + 4 for p in parts]
        densities = [
            multivariate_normal(np.zeros(len(p)), S).logpdf(p)
            for p, S in zip(parts, cov, strict=True)
        ]
        log_p.append(prior + sum(densities))
    evidence = np.log(np.exp(log_p).sum())
    start = np.random.default_rng(4).dirichlet(np.ones(8), (5, 4))
    fits = process.truncated(np.repeat(x, 5, 0), start, MODEL)
    assert evidence - 4 < fits.final.max() < evidence
