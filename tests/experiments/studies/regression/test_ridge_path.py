"""Paths against normal equations, refits and a numerical minimiser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import minimize

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.regression.ridge_path import RidgePath
from models.datasets import load
from models.regression.polynomials import random_folds
from models.types import Floats

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


def run(study: RidgePath) -> Outcome:
    return study.run(generator(study.name, 0))


def solve(Phi: Floats, t: Floats, penalty: float) -> Floats:
    w = np.linalg.solve(Phi.T @ Phi + penalty * np.eye(Phi.shape[1]), Phi.T @ t)
    return np.asarray(w, dtype=np.float64)


def test_cross_validation_refits_with_the_penalty_of_the_points_left() -> None:
    """FCML 1.21 multiplies lambda by the number of points: 26 without one, fewer without a fold."""
    years, t = load("olympics-100m-men").xt
    Phi = ((years - 1896) / 112)[:, None] ** np.arange(5)
    found = run(MEN).metrics
    folds = {"loo": [np.array([n]) for n in range(27)]}
    folds["kfold"] = random_folds(27, 5, generator(MEN.name, 0))
    for name, parts in folds.items():
        total = 0.0
        for fold in parts:
            rest = np.setdiff1d(np.arange(27), fold)
            w = solve(Phi[rest], t[rest], len(rest) * 1e-4)
            total += np.sum((t[fold] - Phi[fold] @ w) ** 2)
        assert_allclose(found[f"{name}_loss_lambda_0.0001_order_4"], total / 27, rtol=1e-8)
    w = solve(Phi, t, 27 * 1e-4)
    assert_allclose([found[f"weight_{j}_lambda_0.0001_order_4"] for j in range(5)], w, rtol=1e-8)
    assert "test_best_lambda_order_4" not in found


def test_new_data_by_an_integral_and_the_total_penalty() -> None:
    study = RidgePath(data="curve-fitting", orders=[5], lambdas=[0.01], ln_count=0)
    x, t = load("curve-fitting").xt
    w = solve(x[:, None] ** np.arange(6), t, 0.01)
    bias = quad(lambda u: (np.polyval(w[::-1], u) - np.sin(2 * np.pi * u)) ** 2, 0, 1)[0]
    assert_allclose(run(study).metrics["test_loss_lambda_0.01_order_5"], bias + 0.09, rtol=1e-8)


@pytest.mark.parametrize("penalise_bias", [True, False])
def test_gaussian_bumps_minimise_the_total_error(penalise_bias: bool) -> None:
    study = RidgePath(
        basis="gaussian", orders=[4], lambdas=[0.5], ln_count=0, n=15, penalise_bias=penalise_bias
    )
    outcome = run(study)
    x, t = outcome.arrays["x"], outcome.arrays["t"]
    centres = np.array([0, 1 / 3, 2 / 3, 1])
    Phi = np.column_stack([np.ones(15), np.exp(-4.5 * (x[:, None] - centres) ** 2)])
    penalised = np.array([penalise_bias, 1, 1, 1, 1])

    def total_error(w: Floats) -> float:
        return float(np.sum((t - Phi @ w) ** 2) + 0.5 * penalised @ w**2)

    best = minimize(total_error, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
    found = [outcome.metrics[f"weight_{j}_lambda_0.5_order_4"] for j in range(5)]
    assert_allclose(found, best.x, rtol=1e-4, atol=1e-5)
    assert outcome.metrics["gradient_vanishes_order_4"] is True


def test_draws_share_their_inputs_and_statements_hold_for_all() -> None:
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
    outcome = run(study)
    rng = generator(study.name, 0)
    x, t = study.sample(rng, 50)
    t = t - study.truth(x) + study.truth(x[0])
    Phi = x[0][:, None] ** np.arange(6)
    losses = []
    for lam in (1e-6, 0.01, 0.1):
        fitted = Phi @ solve(Phi, t.T, 6 * lam)
        losses.append(np.mean((t - fitted.T) ** 2, axis=-1))
        found = outcome.metrics[f"training_loss_lambda_{lam:g}_order_5"]
        assert_allclose(found, np.median(losses[-1]), rtol=1e-6)
    assert np.all(np.diff(losses, axis=0) > 0)
    assert outcome.metrics["training_never_falls_order_5"] is True
    assert outcome.metrics["weights_always_shrink_order_5"] is True
    assert outcome.metrics["interpolates_lambda_0_order_5"] is True
    assert outcome.metrics["interpolates_lambda_0.1_order_5"] is False
    assert outcome.metrics["likeness_lambda_0_order_5"] == pytest.approx(1)


def test_an_error_summed_to_the_order_is_another_problem() -> None:
    found = run(RidgePath(data="curve-fitting", lambdas=[0.1], orders=[9, 10])).metrics
    assert found["sum_to_order_agrees_order_9"] is False
    assert found["sum_to_order_agrees_order_10"] is True  # as many points as the order: all


def test_path_and_shown_penalties_are_merged_and_drawn() -> None:
    study = RidgePath(data="curve-fitting", lambdas=[0.0, 1e-8], ln_count=5, orders=[3, 9])
    outcome = run(study)
    assert len(outcome.tables["order_9"]["lambda"]) == 7
    with style("screen"):
        assert list(study.draw(outcome)) == ["path", "curves"]
        assert list(MEN.draw(run(MEN))) == ["curves"]


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
    with pytest.raises(BadInput, match=complaint):
        RidgePath(**knobs)  # type: ignore[arg-type]
