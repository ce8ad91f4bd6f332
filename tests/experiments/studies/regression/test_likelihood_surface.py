"""Weights by np.polyfit, covariances by NumPy's inverse, the surface by scipy, the knobs' rules."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.registry import figures
from bythebook.experiments.studies.regression import likelihood_surface
from bythebook.experiments.studies.regression.likelihood_surface import LikelihoodSurface
from bythebook.models.datasets import load

Run = Callable[..., Outcome]
TOY, MEN = "fcml-toy-regression", "olympics-100m-men"


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"weights": [1.0]}, "study.weights"),
        ({"sum_x": 1.0}, "together or not at all"),
        ({"sum_x": 50.0, "sum_xx": 50.0}, "allowed: > 50"),
        ({"noise_variances": [0.0]}, "study.noise_variances"),
        ({"data": "nowhere"}, "study.data=nowhere"),
        ({"data": TOY, "favoured": 3}, "study.favoured=3; allowed: < 3"),
        ({"favour": 0.0}, "study.favour"),
        ({"show": "lines"}, "needs study.data"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        LikelihoodSurface(**knobs)  # type: ignore[arg-type]


def test_the_printed_matrices_belong_together(run: Run) -> None:
    """FCML 2.9.1: the inverse of the printed information is the printed covariance."""
    found = run(LikelihoodSurface(sum_x=24.3311, sum_xx=15.8953, repetitions=50))
    x = found["inputs"].values
    assert_allclose([x.sum(), (x**2).sum()], [24.3311, 15.8953], rtol=1e-10)
    I = np.array([[50, 24.3311], [24.3311, 15.8953]])
    assert_allclose(found["information"].sel(noise_variance=0.04), 25 * I, rtol=1e-8)
    assert_allclose(found["covariance"].sel(noise_variance=1), np.linalg.inv(I), rtol=1e-8)
    assert_allclose(found["covariance"].sel(noise_variance=0.04), np.linalg.inv(I) / 25, rtol=1e-8)
    assert_allclose(found["information_times_covariance"], [np.eye(2)] * 2, atol=1e-9)
    assert found["possible_sum_x"].values.shape == (50,)


def test_the_surface_is_the_likelihood(run: Run) -> None:
    found = run(LikelihoodSurface(n=10, noise_variances=[0.5], repetitions=20))
    surface, i, j = found["likelihood"], 30, 70

    def likelihood(w0: float, w1: float) -> float:
        mean = w0 + w1 * found["inputs"].values
        return float(norm.logpdf(found["targets"].values[0], mean, np.sqrt(0.5)).sum())

    here = likelihood(surface.coord("w_0")[i], surface.coord("w_1")[j])
    best = likelihood(*found["w_hat"].values[0])
    assert_allclose(surface.values[0, i, j], np.exp(here - best), rtol=1e-9)
    assert surface.values.max() <= 1 + 1e-12


def test_the_olympics(run: Run) -> None:
    found = run(LikelihoodSurface(data=MEN))
    x, t = load(MEN).xt
    errors = t - np.polyval(np.polyfit(x, t, 1), x)
    sigma2 = np.mean(errors**2)
    curvature = found["sigma_curvature"].item
    assert_allclose(curvature, -2 * 27 / sigma2, rtol=1e-9)
    assert_allclose(found["sigma_curvature_by_differences"].item, curvature, rtol=1e-5)
    assert_allclose(found["hessian"].values[1, 1], -(x**2).sum() / sigma2, rtol=1e-9)
    assert_allclose(found["hessian_by_differences"], found["hessian"].values, rtol=1e-6)
    assert found["scaled_eigenvalues"].values.max() < 0
    assert_allclose(found["w_by_search"], [np.polyfit(x, t, 1)[::-1]] * 3, rtol=1e-5)
    slope = -27 / (2 * np.sqrt(sigma2)) + 27 * sigma2 / (2 * np.sqrt(sigma2)) ** 3
    assert_allclose(found["sigma_slope"].sel(derivative="printed").item, slope, rtol=1e-9)


def test_weights_against_polyfit(run: Run) -> None:
    found = run(LikelihoodSurface(data=MEN, favoured=4, favour=9.0))
    x, t = load(MEN).xt
    plain = np.polyfit(x, t, 1)[::-1]
    alpha = np.where(np.arange(27) < 4, 9.0, 1.0)
    weighted = np.polyfit(x, t, 1, w=np.sqrt(alpha))[::-1]
    assert_allclose(found["w_by_matrices"], plain, rtol=1e-6)
    assert_allclose(found["w"], [plain, weighted], rtol=1e-7)
    errors = t - weighted[0] - weighted[1] * x
    assert_allclose(found["errors"].sel(loss="weighted"), errors, atol=1e-9)
    losses = found["average_loss"]
    assert_allclose(losses.sel(loss="weighted").item, np.mean(alpha * errors**2), rtol=1e-9)
    assert np.all(found["nearby_loss"].values > losses.values[:, None])


def test_the_matrices_of_three_points(run: Run) -> None:
    found = run(LikelihoodSurface(data=TOY))
    X = np.column_stack([np.ones(3), [1, 3, 5]])
    assert_allclose(found["gram"], X.T @ X, rtol=1e-12)
    assert_allclose(found["determinant"].item, 24, rtol=1e-12)
    assert_allclose(found["inverse"], np.linalg.inv(X.T @ X), rtol=1e-12)
    assert_allclose(found["pseudo_inverse"], np.linalg.pinv(X), atol=1e-12)


def test_identities_hold_and_one_rule_does_not(run: Run) -> None:
    found = run(LikelihoodSurface(data=MEN))
    assert found["identity_gap"].values[:-1].max() < 1e-12  # the last is an example as printed
    rules = found["rule_gradient"]
    wrong = np.abs(np.diff(rules.values, axis=1)).max((1, 2, 3)) > 1e-7
    assert rules.coord("rule")[wrong] == ["any form"]


def test_a_wrong_solution_is_seen(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    true = likelihood_surface.least_squares

    def wrong(*arrays: object) -> object:
        fit = true(*arrays)  # type: ignore[arg-type]
        return fit._replace(w=fit.w * 1.01)

    right = np.abs(run(LikelihoodSurface(data=TOY))["gradient"].sel(loss="plain")).max()
    monkeypatch.setattr(likelihood_surface, "least_squares", wrong)
    assert (
        right < 1e-9 < np.abs(run(LikelihoodSurface(data=TOY))["gradient"].sel(loss="plain")).max()
    )


def test_without_favour_one_line_is_drawn(run: Run) -> None:
    for favour, lines in ((1.0, 2), (50.0, 4)):
        study = LikelihoodSurface(data=TOY, favour=favour, show="lines")
        (ax,) = figures(study, run(study))["lines"].axes
        assert len(ax.lines) == lines
