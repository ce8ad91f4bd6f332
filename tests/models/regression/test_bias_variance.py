"""Closed forms against naive loops and against simulation, with the standard error stated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.regression import bias_variance
from bythebook.models.regression.bias_variance import (
    decompose,
    estimate_covariance,
    gaussian_basis,
    joined,
    least_squares,
    new_targets,
    ridge_decomposition,
    ridge_predictions,
    share_between,
    simulate_averages,
    simulate_estimates,
)
from bythebook.models.types import Floats

LAMBDAS = np.exp(np.array([2.6, -0.31, -2.4]))  # the three of PRML Figure 3.5


def gaussians(x: Floats) -> Floats:
    """24 Gaussian bumps of width 0.1 and a constant (PRML 3.2)."""
    return gaussian_basis(x, 24, 0.1)


def powers(x: Floats, order: int) -> Floats:
    return np.asarray(x[..., np.newaxis] ** np.arange(order + 1))


def sinusoid(x: Floats) -> Floats:
    return np.asarray(np.sin(2 * np.pi * x))


def test_gaussian_basis_one_by_one() -> None:
    x = np.array([[0.0, 0.3], [0.5, 1.0]])
    found = gaussian_basis(x, 3, 0.2)
    assert found.shape == (2, 2, 4)
    for place in np.ndindex(x.shape):
        density = [stats.norm(c, 0.2).pdf(x[place]) * 0.2 * np.sqrt(2 * np.pi) for c in (0, 0.5, 1)]
        assert_allclose(found[place], [1, *density], rtol=1e-12)


def test_ridge_predictions_are_the_normal_equations_for_every_data_set_and_lambda() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(4, 25))  # every data set has its own inputs
    Phi, t = gaussians(x), sinusoid(x) + rng.normal(0, 0.3, size=x.shape)
    grid = gaussians(np.linspace(0, 1, 7))
    found = ridge_predictions(Phi, t, grid, LAMBDAS)
    shared = ridge_predictions(Phi[0], t, grid, LAMBDAS)
    assert found.shape == shared.shape == (3, 4, 7)
    for k, lam in enumerate(LAMBDAS):
        for data in range(4):
            for design, one in ((Phi[data], found), (Phi[0], shared)):
                w = np.linalg.solve(design.T @ design + lam * np.eye(25), design.T @ t[data])
                assert_allclose(one[k, data], grid @ w, rtol=1e-9, atol=1e-10)


def test_without_penalty_the_fit_is_least_squares_also_where_undetermined() -> None:
    rng = np.random.default_rng(1)
    x, grid = rng.uniform(-1, 1, size=12), powers(np.linspace(-1, 1, 5), 4)
    t = rng.normal(size=(3, 12))
    w = np.linalg.lstsq(powers(x, 4), t.T, rcond=None)[0]
    assert_allclose(ridge_predictions(powers(x, 4), t, grid)[0], (grid @ w).T, rtol=1e-9)
    few = powers(np.repeat(x[:3], 4), 4)  # three distinct points for five weights
    w = np.linalg.pinv(few) @ t.T
    assert_allclose(ridge_predictions(few, t, grid)[0], (grid @ w).T, rtol=1e-8, atol=1e-10)


@settings(max_examples=50, deadline=None)
@given(arrays(np.float64, (6, 5), elements=st.floats(-100, 100)), st.floats(-50, 50))
def test_bias_plus_variance_is_the_mean_squared_error(predictions: Floats, h: float) -> None:
    found = decompose(predictions, np.full(5, h), sigma2=0.25)
    error = ((predictions - h) ** 2).mean()
    assert_allclose(found.expected_loss, error + 0.25, rtol=1e-9, atol=1e-9)


def test_closed_form_agrees_with_simulation() -> None:
    rng = np.random.default_rng(2)
    L, sd = 4000, 0.3
    x, grid = np.linspace(0, 1, 25), np.linspace(0, 1, 101)
    Phi, Phi_grid = gaussians(x), gaussians(grid)
    exact = ridge_decomposition(Phi, sinusoid(x), Phi_grid, sinusoid(grid), sd**2, LAMBDAS)
    t = sinusoid(x) + rng.normal(0, sd, size=(L, 25))
    predictions = ridge_predictions(Phi, t, Phi_grid, LAMBDAS)
    drawn = decompose(predictions, sinusoid(grid), sd**2)

    # The per-set spread gives the standard error of the simulated variance.
    spread = ((predictions - drawn.mean[:, np.newaxis]) ** 2).mean(-1)
    standard_error = spread.std(-1) / np.sqrt(L)
    assert np.all(np.abs(drawn.variance - exact.variance) < 4 * standard_error)
    # The mean prediction errs by sqrt(variance / L) at each point, in bias^2 by its square and by
    # the cross term with the bias.
    point = np.sqrt(exact.variance / L)
    assert np.all(np.abs(drawn.bias2 - exact.bias2) < 4 * point * (point + np.sqrt(exact.bias2)))
    # New noisy targets: the expected loss itself, its standard error from the L data sets.
    targets = sinusoid(grid) + rng.normal(0, sd, size=(L, 101))
    loss = ((predictions - targets) ** 2).mean(-1)
    error = (loss.mean(-1) - exact.expected_loss) / (loss.std(-1) / np.sqrt(L))
    assert np.abs(error).max() < 4
    # PRML Figure 3.5: less penalty, less bias and more variance.
    assert np.all(np.diff(exact.bias2) < 0)
    assert np.all(np.diff(exact.variance) > 0)


def test_new_targets_cost_the_noise_in_addition_to_the_fit() -> None:
    rng = np.random.default_rng(20)
    h, y = np.linspace(0, 1, 40), rng.normal(size=(2, 500, 40))
    found = new_targets(y, h, 0.3, np.random.default_rng(21))
    e = 0.3 * np.random.default_rng(21).standard_normal((500, 40))
    assert found.truth_loss == pytest.approx(np.mean(e**2), rel=1e-12)
    for k in range(2):
        losses = [np.mean((y[k, data] - h - e[data]) ** 2) for data in range(500)]
        assert_allclose(found.loss[k], np.mean(losses), rtol=1e-12)


def test_decompositions_are_joined_along_the_models() -> None:
    x = np.linspace(-1, 1, 9)
    parts = [ridge_decomposition(powers(x, k), x, powers(x, k), x, 0.5) for k in (0, 2)]
    found = joined(parts)
    assert_allclose(found.bias2, [parts[0].bias2[0], parts[1].bias2[0]], rtol=1e-12)
    assert_allclose(found.mean[1], parts[1].mean[0], rtol=1e-12)
    assert_allclose(found.expected_loss[0], parts[0].expected_loss[0], rtol=1e-12)


def test_cubic_of_fcml_against_the_catalogue() -> None:
    """FCML 2.8 on the cubic of 2.10.1: 50 points in [-5, 5], noise variance 1000.

    Values recomputed by the catalogue (fcml-2.8-bias-variance) with its own code.
    """
    x, grid = np.linspace(-5, 5, 50), np.linspace(-5, 5, 101)

    def f(x: Floats) -> Floats:
        return 5 * x**3 - x**2 + x

    parts = [
        ridge_decomposition(powers(x, order), f(x), powers(grid, order), f(grid), 1000.0)
        for order in range(9)
    ]
    bias2 = [float(part.bias2[0]) for part in parts]
    variance = [float(part.variance[0]) for part in parts]
    assert_allclose(bias2[:3], [60562.6, 9542.6, 9484.7], rtol=0, atol=0.05)
    assert_allclose(bias2[3:], 0, atol=1e-9)
    printed = [20.0, 39.6, 58.8, 77.8, 96.5, 115.0, 133.4, 151.9, 170.5]
    assert_allclose(variance, printed, rtol=0, atol=0.051)
    assert np.argmin(np.add(bias2, variance)) == 3


def test_in_sample_variance_is_the_share_of_parameters() -> None:
    """Least squares on the training inputs: mean variance = sigma^2 (M + 1) / N, any design."""
    x = np.random.default_rng(3).uniform(size=25)
    for order in range(6):
        Phi = powers(x, order)
        part = ridge_decomposition(Phi, sinusoid(x), Phi, sinusoid(x), 0.09)
        assert_allclose(part.variance, 0.09 * (order + 1) / 25, rtol=1e-10)


def test_printed_covariance_of_fcml_section_2_9() -> None:
    """Any 20 inputs with the mean and variance that the printed matrix implies reproduce it."""
    x = np.random.default_rng(4).uniform(size=20)
    x = 0.0821 / 0.1317 + (x - x.mean()) / x.std() * np.sqrt(0.25 / (20 * 0.1317))
    X = np.column_stack([np.ones(20), x])
    found = estimate_covariance(X, 0.25)
    assert_allclose(found, [[0.0638, -0.0821], [-0.0821, 0.1317]], rtol=0, atol=2e-4)
    assert_allclose(found @ X.T @ X, 0.25 * np.eye(2), rtol=0, atol=1e-12)
    # Section 2.9.2: with the estimate 0.2080 of the noise variance.
    plugged = estimate_covariance(X, 0.2080)
    assert_allclose(plugged, [[0.0530, -0.0683], [-0.0683, 0.1095]], rtol=0, atol=2e-4)


def test_estimates_are_least_squares() -> None:
    rng = np.random.default_rng(5)
    X, t = rng.normal(size=(15, 3)), rng.normal(size=(4, 15))
    found = least_squares(X, t)
    for s in range(4):
        w, rss, _, _ = np.linalg.lstsq(X, t[s], rcond=None)
        assert_allclose(found.w[s], w, rtol=1e-10)
        assert_allclose(found.sigma2[s], rss[0] / 15, rtol=1e-10)


def test_simulated_estimates_have_the_moments_of_theory() -> None:
    """FCML 2.9-2.10: w-hat is unbiased with covariance (2.45), sigma^2-hat is biased by (2.53)."""
    rng = np.random.default_rng(6)
    S, N, w = 10_000, 20, np.array([-2.0, 3.0])
    X = np.column_stack([np.ones(N), rng.uniform(size=N)])
    found = simulate_estimates(X, w, 0.25, S, rng)
    assert found.w.shape == (S, 2)
    theory = estimate_covariance(X, 0.25)
    sd = np.sqrt(np.diag(theory))
    assert np.all(np.abs(found.w.mean(0) - w) < 4 * sd / np.sqrt(S))
    empirical = np.cov(found.w.T, bias=True)
    assert np.abs((empirical - theory) / np.outer(sd, sd)).max() < 4 * np.sqrt(2 / S)
    # sigma^2-hat is sigma^2 chi^2_{N-D} / N, whose variance is 2 (N - D) sigma^4 / N^2.
    # |t - X w|^2 is the sum of the residual and the fitted part (Pythagoras).
    followed = (((found.w - w) @ X.T) ** 2).mean(-1)
    assert_allclose(found.true_sigma2, found.sigma2 + followed, rtol=1e-9)
    error = found.sigma2.mean() - 0.225
    assert abs(error) < 4 * 0.25 * np.sqrt(2 * (N - 2) / S) / N


def test_simulated_averages_are_those_of_simulated_data_sets() -> None:
    """The shortcut against simulation: draw every data set, fit it, average."""
    rng = np.random.default_rng(12)
    R, S, N, w = 400, 50, 8, np.array([-2.0, 3.0, 1.0])
    X = powers(np.broadcast_to(rng.uniform(size=N), (R, N)), 2)
    short = simulate_averages(X, w, 0.25, S, rng)
    each = [simulate_estimates(X[0], w, 0.25, S, rng) for _ in range(R)]
    long = {
        "w": np.array([one.w.mean(0) for one in each]),
        "covariance": np.array([np.cov(one.w.T, bias=True) for one in each]),
        "sigma2": np.array([one.sigma2.mean() for one in each]),
    }
    for name, expected in long.items():
        found = getattr(short, name).reshape(R, -1)
        expected = expected.reshape(R, -1)
        sd = expected.std(0)
        error = (found.mean(0) - expected.mean(0)) / (sd * np.sqrt(2 / R))
        assert np.abs(error).max() < 4, name
        # A standard deviation from R draws has a relative standard error of 1 / sqrt(2 R), 3.5 %.
        assert_allclose(found.std(0), sd, rtol=0.2)


def test_covariances_of_a_batch_are_those_of_each() -> None:
    X = powers(np.random.default_rng(13).uniform(size=(4, 10)), 2)
    found = estimate_covariance(X, 0.3)
    for one, design in zip(found, X, strict=True):
        assert_allclose(one @ design.T @ design, 0.3 * np.eye(3), rtol=0, atol=1e-9)


def test_blocks_do_not_change_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.column_stack([np.ones(20), np.linspace(0, 1, 20)])
    whole = simulate_estimates(X, np.ones(2), 1.0, 7, np.random.default_rng(7))
    monkeypatch.setattr(bias_variance, "_BLOCK", 60)  # three data sets at a time
    parts = simulate_estimates(X, np.ones(2), 1.0, 7, np.random.default_rng(7))
    assert_allclose(parts.w, whole.w, rtol=1e-12)
    assert_allclose(parts.sigma2, whole.sigma2, rtol=1e-12)
    many = simulate_averages(np.stack([X] * 5), np.ones(2), 1.0, 10, np.random.default_rng(7))
    monkeypatch.undo()
    once = simulate_averages(np.stack([X] * 5), np.ones(2), 1.0, 10, np.random.default_rng(7))
    for found, expected in zip(many, once, strict=True):
        assert_allclose(found, expected, rtol=1e-12)


def test_lines_on_one_side_do_not_bracket() -> None:
    """Groups of two around a truth of zero: crossing, below, above, on both sides."""
    lines = np.array([[1, -1], [-1, 1], [-1, -2], [-3, -1], [1, 2], [3, 1], [-1, -1], [1, 1.0]])
    assert share_between(lines, np.zeros(2), 2) == 0.5
    for touching in ([[0, -1], [-1, 0.0]], [[0, 1], [1, 0.0]]):  # the truth is not between
        assert share_between(np.array(touching), np.zeros(2), 2) == 0
