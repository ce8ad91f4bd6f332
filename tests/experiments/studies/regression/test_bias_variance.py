"""The decomposition against a plain loop over data sets, and the knobs' rules."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.plotting.registry import figures
from bythebook.experiments.studies.regression.bias_variance import BiasVariance
from bythebook.models.types import Floats

CUBIC = BiasVariance(
    curve="polynomial",
    weights=[0.0, 1.0, -1.0, 5.0],
    n=50,
    noise=np.sqrt(1000.0),
    low=-5.0,
    high=5.0,
    sizes=list(range(9)),
    repetitions=300,
)
SINE = BiasVariance(
    n=25,
    design="uniform",
    basis="gaussian",
    sizes=[24],
    ln_lambdas=[-2.4, 2.6, -0.31],
    repetitions=200,
)


Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"sizes": [1, 2], "ln_lambdas": [0.0, 1.0]}, "vary one of them"),
        ({"n": 8}, "8 points; allowed: < 8"),
        ({"more_n": [7]}, "7 points; allowed: < 7"),
        ({"low": 6.0}, "low < high"),
        ({"sizes": [3, 3]}, "repeats an entry"),
        ({"width": 0.0}, "study.width"),
        ({"noise": 0.0}, "study.noise"),
        ({"basis": "spline"}, "study.basis"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        dataclasses.replace(CUBIC, **knobs)  # type: ignore[arg-type]


def test_a_penalty_allows_more_weights_than_points() -> None:
    dataclasses.replace(CUBIC, n=5, sizes=[12], ln_lambdas=[0.0])


def test_the_cubic_against_the_catalogue_and_against_refits(run: Run) -> None:
    """Values of FCML 2.8 recomputed by the catalogue; the loss on new data by polyfit on each t."""
    found = run(CUBIC)
    bias2, variance = (found[name].sel(n=50).values for name in ("bias2", "variance"))
    assert_allclose(bias2[:3], [60562.6, 9542.6, 9484.7], rtol=0, atol=0.05)
    printed = [20.0, 39.6, 58.8, 77.8, 96.5, 115.0, 133.4, 151.9, 170.5]
    assert_allclose(variance, printed, rtol=0, atol=0.051)
    assert (bias2 + variance).argmin() == 3
    assert found["truth_test_loss"].sel(n=50).item < found["test_loss"].values.min()

    # The same stream by hand: the data sets are drawn before anything else.
    rng = make_rng(0)
    x, grid = np.linspace(-5, 5, 50), np.linspace(-5, 5, 101)
    t = 5 * x**3 - x**2 + x + np.sqrt(1000) * rng.standard_normal((300, 50))
    h = 5 * grid**3 - grid**2 + grid
    e = np.sqrt(1000) * rng.standard_normal((300, 101))
    for order in range(9):
        fits = np.array([np.polyval(np.polyfit(x, one, order), grid) for one in t])
        losses = np.mean((fits - h - e) ** 2, axis=1)
        assert_allclose(found["test_loss"].sel(n=50, order=order), losses.mean(), rtol=1e-8)
    assert found["mean_fit"].coord("shown").tolist() == [0, 3, 8]


def test_the_sine_against_the_normal_equations(run: Run) -> None:
    found = run(SINE)
    rng = make_rng(0)
    x = np.sort(rng.uniform(0, 1, (200, 25)), axis=-1)
    t = np.sin(2 * np.pi * x) + 0.3 * rng.standard_normal((200, 25))
    grid = np.linspace(0, 1, 101)

    def design(x: Floats) -> Floats:
        bumps = np.exp(-0.5 * ((x[:, None] - np.linspace(0, 1, 24)) / 0.1) ** 2)
        return np.column_stack([np.ones(len(x)), bumps])

    for ln_lambda in (2.6, -2.4):
        fits = []
        for one, target in zip(x, t, strict=True):
            Phi = design(one)
            A = Phi.T @ Phi + np.exp(ln_lambda) * np.eye(25)
            fits.append(design(grid) @ np.linalg.solve(A, Phi.T @ target))
        mean = np.mean(fits, axis=0)
        bias2, variance = np.mean((mean - np.sin(2 * np.pi * grid)) ** 2), np.var(fits, 0).mean()
        assert_allclose(found["bias2"].sel(n=25, ln_lambda=ln_lambda), bias2, rtol=1e-8)
        assert_allclose(found["variance"].sel(n=25, ln_lambda=ln_lambda), variance, rtol=1e-8)
    # From rigid to flexible, for any order of the knob.
    assert found["bias2"].coord("ln_lambda").tolist() == [2.6, -0.31, -2.4]
    assert np.all(np.diff(found["variance"]) > 0)


def test_several_sizes_of_data_set(run: Run) -> None:
    study = BiasVariance(n=25, more_n=[100, 10], sizes=[0, 3, 9], repetitions=50)
    found = run(study)
    assert found["variance"].coord("n").tolist() == [10, 25, 100]
    assert np.all(np.diff(found["variance"], axis=0) < 0)
    figure = figures(study, found)["decomposition"]
    assert [ax.get_title() for ax in figure.axes] == ["N = 10", "N = 25", "N = 100"]


def test_a_constant_has_no_bias_to_lose(run: Run) -> None:
    flat = BiasVariance(curve="polynomial", weights=[2.0], n=12, sizes=[0, 3], repetitions=50)
    assert_allclose(run(flat)["bias2"], 0, rtol=0, atol=1e-20)
