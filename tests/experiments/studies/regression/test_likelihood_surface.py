"""The study of the likelihood's surface: covariances by NumPy's inverse, and the knobs' rules."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.regression.likelihood_surface import LikelihoodSurface
from models.datasets import load


def run(study: LikelihoodSurface) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"weights": [1.0]}, "study.weights"),
        ({"sum_x": 1.0}, "together or not at all"),
        ({"sum_x": 50.0, "sum_xx": 50.0}, "allowed: > 50"),
        ({"noise_variances": [0.0]}, "study.noise_variances"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        LikelihoodSurface(**knobs)  # type: ignore[arg-type]


def test_the_printed_matrices_belong_together() -> None:
    """FCML 2.9.1: the inverse of the printed information is the printed covariance."""
    study = LikelihoodSurface(sum_x=24.3311, sum_xx=15.8953, repetitions=50)
    outcome = run(study)
    found, x = outcome.metrics, outcome.arrays["x"]
    assert_allclose([x.sum(), (x**2).sum()], [24.3311, 15.8953], rtol=1e-10)
    C = np.linalg.inv([[50, 24.3311], [24.3311, 15.8953]])
    names = ["variance_w_0", "covariance_w_0_w_1", "variance_w_1"]
    expected = [C[0, 0], C[0, 1], C[1, 1]]
    assert_allclose([found[f"{name}_noise_1"] for name in names], expected, rtol=1e-8)
    quiet = [found[f"{name}_noise_0.04"] for name in names]
    assert_allclose(quiet, np.array(expected) / 25, rtol=1e-8)
    assert found["less_noise_more_information"] is True
    assert found["more_information_is_more_negative"] is False
    assert len(study.draw(outcome)["likelihood"].axes) == 4


def test_the_surface_is_the_likelihood() -> None:
    outcome = run(LikelihoodSurface(n=10, noise_variances=[0.5], repetitions=20))
    arrays = outcome.arrays
    i, j = 30, 70
    w = arrays["w_0_axis_0"][i], arrays["w_1_axis_0"][j]

    def likelihood(w0: float, w1: float) -> float:
        mean = w0 + w1 * arrays["x"]
        return float(norm.logpdf(arrays["t_0"], mean, np.sqrt(0.5)).sum())

    ratio = np.exp(likelihood(*w) - likelihood(*arrays["w_0"]))
    assert_allclose(arrays["likelihood_0"][i, j], ratio, rtol=1e-9)
    assert arrays["likelihood_0"].max() <= 1 + 1e-12


def test_the_olympics() -> None:
    study = LikelihoodSurface(data="olympics-100m-men")
    outcome = run(study)
    found = outcome.metrics
    x, t = load("olympics-100m-men").xt
    errors = t - np.polyval(np.polyfit(x, t, 1), x)
    sigma2 = np.mean(errors**2)
    assert_allclose(found["sigma_curvature"], -2 * 27 / sigma2, rtol=1e-9)
    assert_allclose(found["curvature_factor_w_1"], -27 / (2 * sigma2), rtol=1e-9)
    assert_allclose(found["information_w_1"], (x**2).sum() / sigma2, rtol=1e-9)
    assert found["hessian_negative_definite"] is True
    assert study.draw(outcome)["likelihood"].axes[0].get_ylabel() == "Winning time (s)"
