"""The shared generator; PRML's ten points by numerical integration, drawn sets by plain loops."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.figures.regression.curve_fitting import draw
from bythebook.experiments.plotting.canvas import style
from bythebook.experiments.studies.regression.curve_fitting import CurveFitting
from bythebook.models.datasets import load

X, T = load("curve-fitting").xt
Run = Callable[..., Outcome]


def data_alone(**knobs: object) -> CurveFitting:
    return CurveFitting(orders=[], **knobs)  # type: ignore[arg-type]


def test_noise_scales_the_same_random_numbers() -> None:
    """Cells of a sweep over the noise see one stream, so that they differ by the noise alone."""
    quiet, loud = (
        data_alone(data=None, noise=noise, n=7, repetitions=3).sets(make_rng(0), 3)
        for noise in (0.1, 0.3)
    )
    truth = np.sin(2 * np.pi * quiet[0])
    assert_allclose(loud[1] - truth, 3 * (quiet[1] - truth), rtol=1e-9)


def test_true_order_ignores_trailing_zeros() -> None:
    assert CurveFitting(curve="polynomial", weights=[1.0, 0.0, 2.0, 0.0]).true_order == 2
    assert CurveFitting(curve="polynomial", weights=[0.0]).true_order == 0
    assert CurveFitting(curve="sine").true_order is None


def test_share_within_one_standard_deviation_is_the_normal_one(run: Run) -> None:
    found = run(data_alone(data=None, n=100, design="uniform", repetitions=400))
    p = norm.cdf(1) - norm.cdf(-1)
    standard_error = np.sqrt(p * (1 - p) / 40_000)
    share = np.mean(np.abs(found["residual"]) <= 0.3)
    assert_allclose(share, p, rtol=0, atol=4 * standard_error)
    assert found["inputs"].values.min() >= 0
    assert found["inputs"].values.max() <= 1


def test_an_embedded_data_set_takes_the_place_of_draws(run: Run) -> None:
    study = data_alone()
    found = run(study)
    assert found["targets"].values.shape == (1, 10)
    assert found["targets"].values[0, 0] == 0.349486
    assert_allclose(found["residual"], [T - np.sin(2 * np.pi * X)], rtol=1e-12)
    assert "test_loss" not in found
    with style("screen"):
        assert list(dict(draw(study, found))) == ["data"]


def test_errors_are_those_of_a_plain_fit_and_an_integral(run: Run) -> None:
    found = run(CurveFitting())
    for order in (0, 1, 3, 8):
        fit = Polynomial.fit(X, T, order)
        bias = quad(lambda u, f=fit: (f(u) - np.sin(2 * np.pi * u)) ** 2, 0, 1)[0]
        training = np.mean((T - fit(X)) ** 2)
        assert_allclose(found["training_loss"].sel(n=10, order=order), [training], rtol=1e-9)
        assert_allclose(found["test_loss"].sel(n=10, order=order), [bias + 0.09], rtol=1e-7)


def test_noise_in_the_fit_is_its_spread_over_fresh_noise(run: Run) -> None:
    rng, u = np.random.default_rng(0), np.linspace(0, 1, 201)
    fits = [Polynomial.fit(X, T + rng.normal(0, 0.3, 10), 3)(u) for _ in range(2000)]
    variance = np.trapezoid(np.var(fits, axis=0), u)
    assert_allclose(run(CurveFitting())["noise_in_fit"].sel(order=3), np.sqrt(variance), rtol=0.03)


@pytest.mark.parametrize("design", ["grid", "uniform"])
def test_drawn_sets_are_those_of_a_plain_loop(design: str, run: Run) -> None:
    knobs = {"n": 8, "more_n": [30], "show_n": [30], "orders": [2, 4], "show": [4]}
    study = CurveFitting(data=None, repetitions=7, design=design, **knobs)  # type: ignore[arg-type]
    found = run(study)
    rng, u = make_rng(0), np.linspace(0, 1, 100_001)
    for n in (8, 30):
        x, t = study.sample(rng, 7, n)
        for r in range(7):
            fit = Polynomial.fit(x[r], t[r], 4)
            training = np.mean((t[r] - fit(x[r])) ** 2)
            test = np.trapezoid((fit(u) - np.sin(2 * np.pi * u)) ** 2, u) + 0.09
            here = {"n": n, "repetition": r, "order": 4}
            assert_allclose(found["training_loss"].sel(**here), training, rtol=1e-8)
            assert_allclose(found["test_loss"].sel(**here), test, rtol=1e-6)
    assert_allclose(found["inputs"], x, rtol=1e-12)
    fit = Polynomial.fit(x[0], t[0], 4)
    assert_allclose(found["curve"].sel(shown_n=30, drawn_order=4), fit(study.grid()), rtol=1e-8)


def test_random_inputs_make_few_points_much_worse(run: Run) -> None:
    """Ten equally spaced points give 0.67 or so, ten random ones are at the mercy of the gaps."""
    grid, uniform = (
        np.median(
            np.sqrt(
                run(CurveFitting(data=None, repetitions=300, orders=[9], show=[9], design=d))[
                    "test_loss"
                ]
            )
        )
        for d in ("grid", "uniform")
    )
    assert 0.6 < grid < 0.75
    assert uniform > 50


def test_log_likelihoods_are_normal_densities(run: Run) -> None:
    found = run(CurveFitting(prior_variance=200.0))
    log_p = found["log_likelihood"].sel(order=3)
    fit = Polynomial.fit(X, T, 3)
    training = norm(fit(X), 0.3).logpdf(T).mean()
    assert_allclose(log_p.sel(fit="maximum", sample="training"), training, rtol=1e-9)

    def density(u: float) -> float:
        """The expected log density at u, over a target with mean sin(2 pi u) and variance 0.09."""
        bias = float(fit(u) - np.sin(2 * np.pi * u))
        return -float(np.log(2 * np.pi * 0.09) + (bias**2 + 0.09) / 0.09) / 2

    assert_allclose(log_p.sel(fit="maximum", sample="new"), quad(density, 0, 1)[0], rtol=1e-7)
    Phi = X[:, None] ** np.arange(4)
    w = np.linalg.solve(Phi.T @ Phi + 0.09 / 200 * np.eye(4), Phi.T @ T)
    penalised = norm(Phi @ w, 0.3).logpdf(T).mean()
    assert_allclose(log_p.sel(fit="penalised", sample="training"), penalised, rtol=1e-9)
    for name in ("penalised_weight", "map_weight"):
        assert_allclose(found[name].sel(order=3), [*w, *[0] * 6], rtol=1e-8)


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"orders": [3, 10]}, "10 points; allowed: orders < 10"),
        ({"show": [11]}, "study.show"),
        ({"show_n": [11]}, "study.show_n"),
        ({"more_n": [20]}, "is one data set"),
        ({"repetitions": 2}, "is one data set"),
        ({"data": None, "more_n": [9]}, "9 points"),
        ({"curve": "unknown"}, "study.curve"),
        ({"data": "nothing"}, "study.data"),
        ({"prior_variance": 1.0, "noise": 0.0}, "study.noise"),
        ({"prior_variance": 0.0}, "study.prior_variance"),
        ({"n": 1}, "study.n=1"),
        ({"noise": -0.1}, "study.noise"),
        ({"low": 1.0, "high": 1.0}, "low < high"),
        ({"weights": []}, "study.weights.* is empty"),
        ({"design": "sobol"}, "study.design"),
        ({"repetitions": 0}, "study.repetitions"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        CurveFitting(**knobs)  # type: ignore[arg-type]
