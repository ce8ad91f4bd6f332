"""Mixtures of linear regressions against scipy, weighted least squares and finite differences."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from bythebook.models.clustering import mixture
from bythebook.models.clustering.linear_mixture import (
    LinearMixture,
    e_step,
    fit,
    fit_each,
    log_joint,
    m_step,
    mass_between,
    predictive_modes,
    responsibilities,
    start_at,
    start_at_random,
)
from bythebook.models.clustering.mixture import expected_complete
from bythebook.models.em import take


@pytest.fixture
def rng():
    return np.random.default_rng(14)


@pytest.fixture
def data(rng):
    """The stand-in for PRML Figure 14.8: a V of 50 points."""
    x = rng.uniform(-1, 1, 50)
    return np.stack([np.ones(50), x], axis=1), 1.4 * np.abs(x) - 0.7 + rng.normal(0, 0.15, 50)


def naive_log_joint(Phi, t, theta, r):
    scale = theta.beta[r] ** -0.5
    parts = zip(theta.pi[r], theta.w[r], strict=True)
    return np.stack([np.log(p) + norm.logpdf(t, Phi @ w, scale) for p, w in parts], axis=1)


def test_e_step_and_m_step_against_loops(data, rng):
    Phi, t = data
    theta = start_at_random(Phi, t, 3, rng, 2)
    q, objective = e_step(Phi, t, theta)
    after = m_step(theta, q)
    for r in range(2):
        expected = naive_log_joint(Phi, t, theta, r)
        evidence = logsumexp(expected, axis=1)
        gamma = np.exp(expected - evidence[:, None])
        np.testing.assert_allclose(log_joint(Phi, t, theta)[r], expected, rtol=1e-11)
        np.testing.assert_allclose(responsibilities(Phi, t, theta)[r], gamma, rtol=1e-10)
        np.testing.assert_allclose(objective[r], evidence.sum(), rtol=1e-12)
        np.testing.assert_allclose(after.pi[r], gamma.mean(0), rtol=1e-11)
        squares = 0.0
        for k in range(3):
            root = np.sqrt(gamma[:, k])
            w = np.linalg.lstsq(root[:, None] * Phi, root * t, rcond=None)[0]
            np.testing.assert_allclose(after.w[r, k], w, rtol=1e-8)
            squares += gamma[:, k] @ (t - Phi @ w) ** 2
        np.testing.assert_allclose(after.beta[r], 50 / squares, rtol=1e-9)


def test_the_log_likelihood_rises_at_every_step(data, rng):
    Phi, t = data
    run = fit(Phi, t, start_at_random(Phi, t, 2, rng, 50))
    assert run.converged.all()
    for history, iterations in zip(run.objective, run.iterations, strict=True):
        assert np.all(np.diff(history[: iterations + 1]) >= -1e-9)


def test_the_best_lines_follow_the_two_arms(rng):
    x = rng.uniform(-1, 1, 200)
    Phi = np.stack([np.ones(200), x], axis=1)
    t = 1.4 * np.abs(x) - 0.7 + rng.normal(0, 0.05, 200)
    run = fit(Phi, t, start_at_random(Phi, t, 2, rng, 50))
    w = run.theta.w[run.best]
    np.testing.assert_allclose(np.sort(w[:, 1]), [-1.4, 1.4], atol=0.05)
    np.testing.assert_allclose(w[:, 0], -0.7, atol=0.05)
    np.testing.assert_allclose(run.theta.beta[run.best] ** -0.5, 0.05, atol=0.01)
    single = fit(Phi, t, start_at_random(Phi, t, 1, rng))
    assert run.final.max() > single.final[0] + 10


def test_one_component_is_least_squares(data, rng):
    Phi, t = data
    run = fit(Phi, t, start_at_random(Phi, t, 1, rng))
    w, residual, *_ = np.linalg.lstsq(Phi, t, rcond=None)
    np.testing.assert_allclose(run.theta.w[0, 0], w, rtol=1e-10)
    np.testing.assert_allclose(run.theta.beta[0], 50 / residual[0], rtol=1e-10)


def test_where_em_ends_the_gradient_vanishes(data, rng):
    Phi, t = data
    run = fit(Phi, t, start_at_random(Phi, t, 2, rng), tol=0, max_iter=5000)

    def objective(v):
        pi = np.exp(v[:2] - logsumexp(v[:2]))
        theta = LinearMixture(pi[None], v[2:6].reshape(1, 2, 2), np.exp(v[6:]))
        return logsumexp(naive_log_joint(Phi, t, theta, 0), axis=1).sum()

    end = np.concatenate([np.log(run.theta.pi[0]), run.theta.w.ravel(), np.log(run.theta.beta)])
    np.testing.assert_allclose(objective(end), run.final[0], rtol=1e-10)
    steps = 1e-5 * np.eye(7)
    gradient = [(objective(end + s) - objective(end - s)) / 2e-5 for s in steps]
    assert np.abs(gradient).max() < 1e-4


def test_the_m_step_beats_its_neighbours(data, rng):
    Phi, t = data
    theta = start_at_random(Phi, t, 2, rng)
    gamma = responsibilities(Phi, t, theta)
    best = m_step(theta, e_step(Phi, t, theta)[0])

    def objective(candidate):
        return expected_complete(log_joint(Phi, t, candidate), gamma)[0]

    for _ in range(50):
        pi = best.pi * np.exp(0.05 * rng.normal(size=2))
        near = LinearMixture(
            pi / pi.sum(),
            best.w + 0.02 * rng.normal(size=best.w.shape),
            best.beta * np.exp(0.05 * rng.normal(size=1)),
        )
        assert objective(near) < objective(best)


def test_equal_lines_never_part(data):
    Phi, t = data
    run = fit(Phi, t, start_at(np.zeros((1, 2, 2)), t), tol=-np.inf, max_iter=10)
    w = np.linalg.lstsq(Phi, t, rcond=None)[0]
    np.testing.assert_allclose(run.theta.w[0], [w, w], rtol=1e-9)


def test_figure_14_8_starts_with_the_variance_of_the_targets(data):
    _, t = data
    start = start_at(np.zeros((3, 2, 2)), t)
    np.testing.assert_allclose(start.beta, 1 / t.var(), rtol=1e-15)
    np.testing.assert_allclose(start.pi, 0.5, rtol=1e-15)


def test_weights_without_data_to_determine_them_do_not_move():
    """A component whose points share one x keeps the part of its weights they cannot see."""
    Phi = np.array([[1.0, 0.0]] * 4 + [[1.0, 5.0], [1.0, 6.0], [1.0, 7.0]])
    t = np.array([0.1, -0.1, 0.0, 0.2, 50.0, 61.0, 69.0])
    theta = LinearMixture(
        np.array([[0.4, 0.4, 0.2]]),
        np.array([[[0.0, 3.0], [0.0, 10.0], [7.0, -1e9]]]),
        np.array([1.0]),
    )
    gamma = responsibilities(Phi, t, theta)[0]
    assert gamma[4:, 0].max() < 1e-50
    assert gamma[4:, 2].max() == 0
    after = m_step(theta, e_step(Phi, t, theta)[0])
    assert np.isfinite(after.w).all()
    np.testing.assert_allclose(after.w[0, 0, 1], 3.0, rtol=1e-9)
    np.testing.assert_allclose(after.w[0, 2, 1], -1e9, rtol=1e-12)


def test_lines_through_every_point_end_the_restart_unconverged():
    Phi = np.array([[1.0, 0.0], [1.0, 1.0]])
    run = fit(Phi, np.array([0.0, 1.0]), start_at([[[0.0, 0.5]]], np.array([0.0, 1.0])))
    assert not run.converged.any()


def test_order_of_components_batches_and_blocks_do_not_matter(data, rng, monkeypatch):
    Phi, t = data
    start = start_at_random(Phi, t, 3, rng, 3)
    run = fit(Phi, t, start, max_iter=30)
    other = LinearMixture(start.pi[:, ::-1], start.w[:, ::-1], start.beta)
    permuted = fit(Phi, t, other, max_iter=30)
    np.testing.assert_allclose(run.objective, permuted.objective, rtol=1e-9)
    alone = fit(Phi, t, take(start, [1]), max_iter=30)
    np.testing.assert_allclose(run.final[1], alone.final[0], rtol=1e-9)
    many = np.tile(Phi, (4, 1)), np.tile(t, 4)
    whole = e_step(*many, start)
    monkeypatch.setattr(mixture, "_BLOCK", 1)
    cut = e_step(*many, start)
    for a, b in zip((*whole[0], whole[1]), (*cut[0], cut[1]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_random_starts_have_the_scale_of_the_targets(data, rng):
    Phi, t = data
    start = start_at_random(1000 * Phi, t, 2, rng, 2000)
    spread = (start.w @ (1000 * Phi).T).std()
    np.testing.assert_allclose(spread, np.sqrt(2) * t.std(), rtol=0.1)


def test_fit_each_is_fit_on_every_data_set():
    rng = np.random.default_rng(8)
    x = rng.uniform(-1, 1, (4, 30))
    t = np.abs(x) + 0.1 * rng.normal(size=x.shape)
    Phi = np.stack([np.ones_like(x), x], axis=-1)
    w = rng.normal(size=(4, 2, 2))
    together = fit_each(Phi, t, start_at(w, t), tol=1e-6)
    assert len(set(together.iterations)) > 1  # they leave the batch at different times
    for i in range(4):
        alone = fit(Phi[i], t[i], start_at(w[i : i + 1], t[i]), tol=1e-6)
        assert together.iterations[i] == alone.iterations[0]
        np.testing.assert_allclose(together.theta.w[i], alone.theta.w[0], rtol=1e-9)
        np.testing.assert_allclose(together.theta.beta[i], alone.theta.beta[0], rtol=1e-9)
        np.testing.assert_allclose(together.final[i], alone.final[0], rtol=1e-9)
        joint = log_joint(Phi, t, together.theta)[i]
        np.testing.assert_allclose(joint, log_joint(Phi[i], t[i], alone.theta)[0], rtol=1e-8)


def test_two_equal_gaussians_have_two_modes_from_two_standard_deviations_on():
    """Equal weights and variances: two maxima if the means are more than 2 sd apart."""
    x = np.array([0.0, 0.5, 0.95, 1.05, 3.0])  # lines t = x and t = -x: 2 x apart
    Phi = np.stack([np.ones(5), x], axis=1)
    theta = LinearMixture(np.full((1, 2), 0.5), np.array([[[0.0, 1.0], [0.0, -1.0]]]), np.ones(1))
    assert predictive_modes(Phi, theta).tolist() == [[1, 1, 1, 2, 2]]


def test_modes_are_distinguished_by_their_own_width():
    Phi, w = np.ones((1, 1)), np.array([[[0.0], [5.0]]])
    for precision, modes in ((4.0, 2), (0.04, 1)):
        theta = LinearMixture(np.full((1, 2), 0.5), w, np.array([precision]))
        assert predictive_modes(Phi, theta).tolist() == [[modes]]


def test_a_mode_between_two_points_of_the_grid_counts_once():
    """One line, and an even number of points: the highest two are as high as each other."""
    Phi = np.array([[1.0, 0.0], [1.0, 0.5]])
    theta = LinearMixture(np.ones((1, 1)), np.zeros((1, 1, 2)), np.ones(1))
    assert predictive_modes(Phi, theta, points=40).tolist() == [[1, 1]]


def test_mass_between_curves_against_an_integral(rng):
    Phi = np.stack([np.ones(3), [-1.0, 0.0, 1.0]], axis=1)
    theta = LinearMixture(np.array([[0.3, 0.7]]), rng.normal(size=(1, 2, 2)), np.array([4.0]))
    found = mass_between(Phi, theta, np.array([-1.0, 0.0, -np.inf]), np.array([1.0, 0.5, np.inf]))
    assert found[0, 2] == pytest.approx(1)
    for g, (low, high) in enumerate(((-1.0, 1.0), (0.0, 0.5))):
        t = np.linspace(low, high, 2001)
        p = np.exp(naive_log_joint(np.tile(Phi[g], (2001, 1)), t, theta, 0)).sum(axis=1)
        assert found[0, g] == pytest.approx(np.trapezoid(p, t), rel=1e-6)


def test_lines_far_apart_leave_two_modes_and_nothing_between(rng):
    """Between them the density is exactly zero, which is no maximum."""
    theta = LinearMixture(np.array([[0.3, 0.7]]), np.array([[[0.0], [300.0]]]), np.ones(1))
    assert predictive_modes(np.ones((1, 1)), theta, points=2001).tolist() == [[2]]
    alone = LinearMixture(np.array([[0.3, 0.7]]), np.array([[[1.0], [1.5]]]), np.array([4.0]))
    assert predictive_modes(np.ones((1, 1)), alone).tolist() == [[1]]


def test_it_ends_by_default_after_so_many_steps_or_with_a_gain_so_small(data, rng):
    """500 steps, or the first gain of no more than 1e-8."""
    start = start_at_random(*data, 2, rng)
    assert fit(*data, start, tol=-np.inf).iterations.tolist() == [500]
    gains = np.diff(fit(*data, start).objective[0])
    assert gains[-1] <= 1e-8 < gains[-2]
