"""Paths against normal equations, refits, a numerical minimiser and the posterior itself."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.figures.regression.ridge_path import draw
from bythebook.experiments.plotting.canvas import style
from bythebook.experiments.studies.regression.ridge_path import RidgePath
from bythebook.models.datasets import load
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
    assert found["gradient"].sel(order=4).item < 1e-12


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
    assert found["training_loss"].sel(order=5, penalty=0.0).values.max() < 1e-20


def test_degrees_of_freedom_are_the_trace_of_the_hat_matrix(run: Run) -> None:
    study = RidgePath(data="curve-fitting", lambdas=[0.01], ln_count=0, orders=[5, 3])
    dof = run(study)["dof"]
    for order in (3, 5):
        Phi = load("curve-fitting").xt[0][:, None] ** np.arange(order + 1)
        trace = np.trace(Phi @ solve(Phi, np.eye(10), 0.01))
        assert_allclose(dof.sel(order=order, penalty=0.01), trace, rtol=1e-8)


def test_an_error_summed_to_the_order_is_another_problem(run: Run) -> None:
    found = run(RidgePath(data="curve-fitting", lambdas=[0.1], orders=[9, 10]))
    difference = found["difference_summed_to_order"]
    assert difference.sel(order=9).item > 0.01
    assert difference.sel(order=10).item == 0  # as many points as the order: all


def test_most_probable_weights_are_the_maximum_of_the_posterior(run: Run) -> None:
    study = RidgePath(
        data="curve-fitting", orders=[2], lambdas=[0.1], ln_count=0, noise_variance=0.09
    )
    found = run(study)
    assert_allclose(found["prior_variance"], [0.9], rtol=1e-12)
    x, t = load("curve-fitting").xt

    def minus_log_posterior(w: Floats) -> float:
        prior = norm(0, np.sqrt(0.9)).logpdf(w).sum()
        return -float(prior + norm(np.polyval(w[::-1], x), 0.3).logpdf(t).sum())

    best = minimize(minus_log_posterior, np.zeros(3), method="BFGS", options={"gtol": 1e-7})
    for name in ("weight", "map_weight"):
        assert_allclose(found[name].sel(order=2, penalty=0.1), best.x, rtol=1e-4, atol=1e-5)


def test_fcml_exercise_3_9(run: Run) -> None:
    """Computed apart: w = [10.754628, -0.033531] for lambda 0.01, x = (year - 1896) / 4."""
    study = RidgePath(
        data="olympics-100m-men",
        curve="unknown",
        shift=1896,
        scale=4,
        penalty="mean",
        orders=[1],
        lambdas=[0.01, 1.0],
        ln_count=0,
        noise_variance=0.05,
    )
    found = run(study)
    for name in ("weight", "map_weight"):
        weights = found[name].sel(order=1, penalty=0.01)
        assert_allclose(weights, [10.754628, -0.033531], rtol=0, atol=1e-6)
    assert_allclose(found["prior_variance"].sel(penalty=0.01), 0.05 / 0.27, rtol=1e-12)
    with style("screen"):
        assert list(dict(draw(study, found))) == ["weights"]


def test_path_and_shown_penalties_are_merged_and_drawn(run: Run) -> None:
    study = RidgePath(data="curve-fitting", lambdas=[0.0, 1e-8], ln_count=5, orders=[3, 9])
    found = run(study)
    assert len(found["dof"].coord("penalty")) == 7
    with style("screen"):
        assert list(dict(draw(study, found))) == ["path", "curves"]
        assert list(dict(draw(MEN, run(MEN)))) == ["curves"]


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
        ({"noise_variance": 0.0}, "study.noise_variance"),
        ({"noise_variance": 0.1}, "no prior has a penalty of 0"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        RidgePath(**knobs)  # type: ignore[arg-type]


def test_the_origin_of_the_targets(run: Run) -> None:
    """Targets moved by one: with all weights penalised the fit follows by the ridge of a constant.

    The whole of it is found with the normal equations.
    """
    found = run(MEN)
    years, _ = load("olympics-100m-men").xt
    Phi = ((years - 1896) / 112)[:, None] ** np.arange(5)
    moved = Phi @ solve(Phi, np.ones(27), 27 * 1e-4)
    effect = found["origin_effect"]
    expected = np.abs(moved - 1).max()
    assert_allclose(effect.sel(order=4, first_weight="penalised").item, expected, rtol=1e-6)
    assert effect.sel(order=4, first_weight="free").item < 1e-9
