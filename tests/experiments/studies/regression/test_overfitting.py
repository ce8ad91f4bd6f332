"""PRML's ten points: errors by numerical integration, weights by exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, generator
from experiments.drawing.canvas import style
from experiments.studies.regression.overfitting import (
    CoefficientGrowth,
    LikelihoodOverfits,
    Overfitting,
)
from models.datasets import load

X, T = load("curve-fitting").xt


def run(study: Study) -> Outcome:
    return study.run(generator(study.name, 0))


def test_errors_are_those_of_a_plain_fit_and_an_integral() -> None:
    found = run(Overfitting()).metrics
    for order in (0, 1, 3, 8):
        fit = Polynomial.fit(X, T, order)
        bias = quad(lambda u, f=fit: (f(u) - np.sin(2 * np.pi * u)) ** 2, 0, 1)[0]
        training = np.sqrt(np.mean((T - fit(X)) ** 2))
        assert_allclose(found[f"training_rms_order_{order}"], training, rtol=1e-9)
        assert_allclose(found[f"test_rms_order_{order}"], np.sqrt(bias + 0.09), rtol=1e-7)


def test_noise_in_the_fit_is_its_spread_over_fresh_noise() -> None:
    found = run(Overfitting()).metrics
    rng, u = np.random.default_rng(0), np.linspace(0, 1, 201)
    fits = [Polynomial.fit(X, T + rng.normal(0, 0.3, 10), 3)(u) for _ in range(2000)]
    variance = np.trapezoid(np.var(fits, axis=0), u)
    assert_allclose(found["noise_in_fit_order_3"], np.sqrt(variance), rtol=0.03)


def test_statements_about_the_ends() -> None:
    found = run(Overfitting()).metrics
    assert found["lowest_order_underfits"] is True
    assert found["highest_order_overfits"] is True
    tame = run(Overfitting(orders=[1, 2, 3], show=[3])).metrics
    assert tame["highest_order_overfits"] is False  # order three is the best of these


def test_weights_are_the_exact_ones() -> None:
    """Solve the ten-by-ten system of order nine in fractions; doubles lose some digits."""
    x, t = [Fraction(n, 9) for n in range(10)], [Fraction(str(v)) for v in T]
    rows = [[a**k for k in range(10)] + [b] for a, b in zip(x, t, strict=True)]
    for i in range(10):
        pivot = next(r for r in range(i, 10) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(10):
            if r != i:
                rows[r] = [v - rows[r][i] * w for v, w in zip(rows[r], rows[i], strict=True)]
    found = run(CoefficientGrowth()).metrics
    for k in range(10):
        assert_allclose(found[f"weight_{k}_order_9"], float(rows[k][-1]), rtol=1e-9)
    assert found["largest_weight_order_9"] == pytest.approx(1061800.6244, abs=1e-3)


def test_log_likelihoods_are_normal_densities() -> None:
    found = run(LikelihoodOverfits()).metrics
    fit = Polynomial.fit(X, T, 3)
    training = norm(fit(X), 0.3).logpdf(T).mean()
    assert_allclose(found["log_likelihood_order_3"], training, rtol=1e-9)

    def density(u: float) -> float:
        """The expected log density at u, over a target with mean sin(2 pi u) and variance 0.09."""
        bias = float(fit(u) - np.sin(2 * np.pi * u))
        return -float(np.log(2 * np.pi * 0.09) + (bias**2 + 0.09) / 0.09) / 2

    assert_allclose(found["test_log_likelihood_order_3"], quad(density, 0, 1)[0], rtol=1e-7)
    Phi = X[:, None] ** np.arange(4)
    w = np.linalg.solve(Phi.T @ Phi + 0.09 / 200 * np.eye(4), Phi.T @ T)
    penalised = norm(Phi @ w, 0.3).logpdf(T).mean()
    assert_allclose(found["penalised_log_likelihood_order_3"], penalised, rtol=1e-9)
    assert found["likelihood_never_falls"] is True
    assert found["penalised_is_map"] is True
    assert found["penalty_protects"] is True


@pytest.mark.parametrize("study", [Overfitting(), CoefficientGrowth(), LikelihoodOverfits()])
def test_figures_are_drawn_from_a_drawn_set_as_well(study: Study) -> None:
    drawn = type(study)(data=None, n=12)  # type: ignore[call-arg]
    with style("screen"):
        assert study.draw(run(study))
        assert drawn.draw(run(drawn))


@pytest.mark.parametrize(
    ("study", "knobs", "complaint"),
    [
        (Overfitting, {"orders": [3, 10]}, "10 points; allowed: orders < 10"),
        (Overfitting, {"show": [11]}, "study.show"),
        (Overfitting, {"curve": "unknown"}, "needs the true curve"),
        (Overfitting, {"data": "nothing"}, "study.data"),
        (CoefficientGrowth, {"orders": []}, "is empty"),
        (LikelihoodOverfits, {"noise": 0.0}, "study.noise"),
        (LikelihoodOverfits, {"prior_variance": 0.0}, "study.prior_variance"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(
    study: type[Study], knobs: dict[str, object], complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint):
        study(**knobs)
