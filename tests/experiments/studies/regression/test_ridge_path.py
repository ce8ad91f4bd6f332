"""Paths against normal equations, refits, a numerical minimiser and the hat matrix."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import minimize

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.plotting.canvas import style
from bythebook.experiments.plotting.registry import figures
from bythebook.experiments.studies.regression.ridge_path import RidgePath
from bythebook.models.datasets import load
from bythebook.models.regression.bayesian_regression import posterior
from bythebook.models.regression.curves import powers
from bythebook.models.regression.polynomials import random_folds
from bythebook.models.types import Floats

MEN = RidgePath(
    data="olympics-100m-men",
    curve="unknown",
    shift=1896,
    scale=112,
    orders=[4],
    lambdas=[0.0, 1e-4],
    ln_count=0,
    penalty="mean",
    folds=5,
)


Run = Callable[..., Outcome]


def solve(Phi: Floats, t: Floats, penalty: float) -> Floats:
    w = np.linalg.solve(Phi.T @ Phi + penalty * np.eye(Phi.shape[1]), Phi.T @ t)
    return np.asarray(w, dtype=np.float64)


def test_cross_validation_refits_with_the_penalty_of_the_points_left(run: Run) -> None:
    """FCML 1.21 multiplies lambda by the number of points: 26 without one, fewer without a fold."""
    years, t = load("olympics-100m-men").xt
    Phi = ((years - 1896) / 112)[:, None] ** np.arange(5)
    found = run(MEN)
    folds = {"loo": [np.array([n]) for n in range(27)]}
    folds["kfold"] = random_folds(27, 5, make_rng(0))
    for name, parts in folds.items():
        total = 0.0
        for fold in parts:
            rest = np.setdiff1d(np.arange(27), fold)
            w = solve(Phi[rest], t[rest], len(rest) * 1e-4)
            total += np.sum((t[fold] - Phi[fold] @ w) ** 2)
        loss = found[f"{name}_loss"].sel(order=4, penalty=1e-4, repetition=0)
        assert_allclose(loss, total / 27, rtol=1e-8)
    w = solve(Phi, t, 27 * 1e-4)
    assert_allclose(found["weight"].sel(order=4, penalty=1e-4), w, rtol=1e-8)
    assert "test_loss" not in found


def test_new_data_by_an_integral_and_the_total_penalty(run: Run) -> None:
    study = RidgePath(data="curve-fitting", orders=[5], lambdas=[0.01], ln_count=0)
    x, t = load("curve-fitting").xt
    w = solve(x[:, None] ** np.arange(6), t, 0.01)
    bias = quad(lambda u: (np.polyval(w[::-1], u) - np.sin(2 * np.pi * u)) ** 2, 0, 1)[0]
    assert_allclose(run(study)["test_loss"], [[[bias + 0.09]]], rtol=1e-8)


@pytest.mark.parametrize("penalise_bias", [True, False])
def test_gaussian_bumps_minimise_the_total_error(penalise_bias: bool, run: Run) -> None:
    study = RidgePath(
        basis="gaussian", orders=[4], lambdas=[0.5], ln_count=0, n=15, penalise_bias=penalise_bias
    )
    found = run(study)
    x, t = found["inputs"].values, found["targets"].values[0]
    centres = np.array([0, 1 / 3, 2 / 3, 1])
    Phi = np.column_stack([np.ones(15), np.exp(-4.5 * (x[:, None] - centres) ** 2)])
    penalised = np.array([penalise_bias, 1, 1, 1, 1])

    def total_error(w: Floats) -> float:
        return float(np.sum((t - Phi @ w) ** 2) + 0.5 * penalised @ w**2)

    best = minimize(total_error, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
    assert_allclose(found["weight"].sel(order=4, penalty=0.5), best.x, rtol=1e-4, atol=1e-5)
    grid = found["curve"].coord("x")
    columns = np.column_stack([np.ones(300), np.exp(-4.5 * (grid[:, None] - centres) ** 2)])
    curve = columns @ found["weight"].sel(order=4, penalty=0.5).values
    assert_allclose(found["curve"].sel(order=4, shown_penalty=0.5), curve, rtol=1e-10)


def test_draws_share_their_inputs(run: Run) -> None:
    study = RidgePath(
        curve="polynomial",
        weights=[-3.0, 2.0],
        n=6,
        noise=1.7,
        design="uniform",
        orders=[5],
        lambdas=[0.0, 1e-6, 0.01, 0.1],
        ln_count=0,
        penalty="mean",
        repetitions=50,
    )
    found = run(study)
    x, t = study.sample(make_rng(0), 50)
    t = t - study.truth(x) + study.truth(x[0])
    Phi, grid = x[0][:, None] ** np.arange(6), np.linspace(x[0, 0], x[0, -1], 300)
    exact = grid[:, None] ** np.arange(6) @ np.linalg.solve(Phi, t.T)
    for lam in (1e-6, 0.01, 0.1):
        w = solve(Phi, t.T, 6 * lam)
        names = ("training_loss", "weights_squared", "curve_range", "likeness")
        here = {name: found[name].sel(order=5, penalty=lam) for name in names}
        assert_allclose(here["training_loss"], np.mean((t.T - Phi @ w) ** 2, axis=0), rtol=1e-6)
        assert_allclose(here["weights_squared"], np.sum(w**2, axis=0), rtol=1e-6)
        curves = grid[:, None] ** np.arange(6) @ w
        assert_allclose(here["curve_range"], np.ptp(curves, axis=0), rtol=1e-6)
        alike = [np.corrcoef(f, g)[0, 1] for f, g in zip(curves.T, exact.T, strict=True)]
        assert_allclose(here["likeness"], alike, rtol=0, atol=1e-6)
        shown = found["curve"].sel(order=5, shown_penalty=lam)
        assert_allclose(shown, curves[:, 0], rtol=1e-6, atol=1e-6)
    assert found["training_loss"].sel(order=5, penalty=0.0).values.max() < 1e-20


def test_degrees_of_freedom_are_the_trace_of_the_hat_matrix(run: Run) -> None:
    study = RidgePath(data="curve-fitting", lambdas=[0.01], ln_count=0, orders=[5, 3])
    dof = run(study)["dof"]
    for order in (3, 5):
        Phi = load("curve-fitting").xt[0][:, None] ** np.arange(order + 1)
        trace = np.trace(Phi @ solve(Phi, np.eye(10), 0.01))
        assert_allclose(dof.sel(order=order, penalty=0.01), trace, rtol=1e-8)


# Least squares with the penalty as two more rows of data, x = (year - 1896) / 4 and lambda = 0.01.
EXERCISE_3_9 = {"prior variance": 0.185185, "w_0": 10.754628, "w_1": -0.033531}


def test_fcml_exercise_3_9(run: Run) -> None:
    """The prior variance of FCML 3.7.4, sigma^2 / (N lambda), with a noise variance of 0.05."""
    study = RidgePath(
        data="olympics-100m-men",
        curve="unknown",
        shift=1896,
        scale=4,
        penalty="mean",
        orders=[1],
        lambdas=[0.01],
        ln_count=0,
    )
    weights = run(study)["weight"].sel(order=1, penalty=0.01)
    assert_allclose(weights, [EXERCISE_3_9["w_0"], EXERCISE_3_9["w_1"]], rtol=0, atol=1e-6)
    years, t = load("olympics-100m-men").xt
    Phi = powers((years - 1896) / 4, 1)
    variance = EXERCISE_3_9["prior variance"]
    zero = np.zeros(Phi.shape[1])
    assert_allclose(
        posterior(Phi, t, 0.05, zero, variance * np.eye(Phi.shape[1])).mean, weights, rtol=1e-5
    )
    assert_allclose(variance * 27 * 0.01, 0.05, rtol=1e-5)


def test_degrees_of_freedom_and_loss_of_a_line_in_closed_form(run: Run) -> None:
    """FCML exercise 1.12: leverages of a line, and eigenvalues by determinant and trace."""
    found = run(replace(MEN, orders=[1, 4], lambdas=[0.0, 0.01]))
    years, t = load("olympics-100m-men").xt
    x = (years - 1896) / 112
    d = x - x.mean()
    residual = t - t.mean() - d * (d @ t) / (d @ d)
    loss = np.mean((residual / (1 - 1 / 27 - d**2 / (d @ d))) ** 2)
    assert_allclose(found["loo_loss"].sel(order=1, penalty=0, repetition=0), loss, rtol=1e-9)
    dof, total = found["dof"], 27 * 0.01
    assert_allclose(dof.sel(penalty=0), [2, 5], rtol=1e-7)
    trace, determinant = 27 + x @ x, 27 * (x @ x) - x.sum() ** 2
    line = (2 * determinant + total * trace) / (determinant + total * trace + total**2)
    assert_allclose(dof.sel(order=1, penalty=0.01), line, rtol=1e-9)


def test_best_penalty_of_the_ninth_order_on_new_data(run: Run) -> None:
    """Notes 2.1.3: a path of fits with the penalty as further rows of data, by another quadrature.

    The smallest error is near ln lambda = -15.8.
    """
    study = RidgePath(data="curve-fitting", ln_low=-40, ln_high=0, ln_count=201)
    loss = run(study)["test_loss"].sel(order=9, repetition=0)
    x, t = load("curve-fitting").xt
    u = (np.arange(20_000) + 0.5) / 20_000
    columns, truth = powers(u, 9), np.sin(2 * np.pi * u)
    errors = []
    for penalty in np.exp(np.linspace(-40, 0, 201)):
        rows = np.vstack([powers(x, 9), np.sqrt(penalty) * np.eye(10)])
        w = np.linalg.lstsq(rows, np.append(t, np.zeros(10)), rcond=None)[0]
        errors.append(np.mean((columns @ w - truth) ** 2) + 0.09)
    assert_allclose(loss.values[1:], errors, rtol=1e-4)
    assert np.log(loss.coord("penalty")[loss.values.argmin()]) == pytest.approx(-15.8)
    assert np.argmin(errors) == loss.values[1:].argmin()


def test_penalties_of_the_path_and_others_are_merged(run: Run) -> None:
    study = RidgePath(data="curve-fitting", lambdas=[0.0, 1e-8], ln_count=5, orders=[3, 9])
    assert len(run(study)["dof"].coord("penalty")) == 7


@pytest.mark.parametrize("lambdas", [[0.0], [0.0, 1e-4]])
def test_figures_of_the_path_and_of_the_curves(lambdas: list[float], run: Run) -> None:
    for study in (RidgePath(lambdas=lambdas, orders=[3, 9]), replace(MEN, lambdas=lambdas)):
        with style("screen"):
            assert list(figures(study, run(study))) == ["path", "curves"]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"lambdas": [-1.0]}, "study.lambdas"),
        ({"lambdas": []}, "is empty"),
        ({"orders": []}, "is empty"),
        ({"ln_low": 3.0}, "low < high"),
        ({"folds": 1}, "study.folds=1"),
        ({"folds": 11}, "10 points"),
        ({"scale": 0.0}, "study.scale"),
        ({"penalty": "median"}, "study.penalty"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        RidgePath(**knobs)  # type: ignore[arg-type]
