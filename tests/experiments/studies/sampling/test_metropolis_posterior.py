"""Sampled posteriors: knob rules, and the outcome against quadrature."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.sampling.metropolis_posterior import MetropolisPosterior
from bythebook.models.classification.logistic import Posterior, predict, quadrature

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"burn_in": 6000}, "study.burn_in"),
        ({"samples": 100_000, "chains": 1000}, "samples times"),
        ({"step_variance": 0.0}, "study.step_variance"),
        ({"chains": 1}, "study.chains"),
        ({"new": [1.0, 2.0, 3.0]}, "study.new"),
        ({"data": None, "weights": [1.0, 2.0, 3.0]}, "has 3 weights"),
        ({"data": "fcml-three-classes"}, "weights|no binary response"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        MetropolisPosterior(**knobs)  # type: ignore[arg-type]


def test_samples_agree_with_quadrature(run: Run) -> None:
    found = run(MetropolisPosterior(samples=1500, chains=200, burn_in=300))
    posterior = Posterior(found["inputs"].values, found["targets"].values, 10.0)
    exact = quadrature(posterior, np.array([3.0, 3.0]), np.array([20.0, 20.0]), 401)
    mean = exact.probability @ exact.w
    assert_allclose(found["sampled_mean"].values, mean, atol=0.15)
    assert_allclose(found["exact_mean"].values, mean, atol=1e-3)
    sd = np.sqrt(exact.probability @ (exact.w - mean) ** 2)
    assert_allclose(found["sampled_sd"].values, sd, rtol=0.05)
    at_new = exact.probability @ predict(np.array([[-3.0, 5.0]]), exact.w)
    assert_allclose(found["new_probability"].sel(method="samples").item, at_new, atol=0.02)
    averaged = found["predictive"].sel(method="samples", x1=1.0, x2=-2.0).item
    expected = exact.probability @ predict(np.array([[1.0, -2.0]]), exact.w)
    assert_allclose(averaged, expected, atol=0.02)
    summed = found["exact_predictive"].sel(x1=1.0, x2=-2.0).item
    assert_allclose(summed, expected, atol=1e-4)


def test_counts_that_are_many_make_laplace_good(run: Run) -> None:
    study = MetropolisPosterior(
        data=None, response="counts", n=200, samples=3000, burn_in=1000, step_variance=0.01
    )
    found = run(study)
    sampled, laplace = found["sampled_sd"].values, found["laplace_sd"].values
    gap = found["sampled_mean"].values - found["laplace_mean"].values
    assert np.abs(gap / laplace).max() < 0.2
    assert_allclose(sampled, laplace, rtol=0.1)
    assert "predictive" not in found
