"""Weights by np.polyfit, covariances by NumPy's inverse, the surface by scipy, the knobs' rules."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.registry import figures
from bythebook.experiments.studies.regression.likelihood_surface import LikelihoodSurface

Run = Callable[..., Outcome]


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


def test_both_figures_have_a_panel_for_each_level_of_noise(run: Run) -> None:
    study = LikelihoodSurface(n=10, repetitions=20)
    drawn = figures(study, run(study))
    assert {name: len(figure.axes) for name, figure in drawn.items()} == {"data": 2, "surface": 2}
