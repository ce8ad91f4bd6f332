"""The decomposition against a plain loop over data sets, and the knobs' rules."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.regression.bias_variance import BiasVariance, noise_terms
from models.types import Floats

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


def run(study: BiasVariance, seed: int = 0) -> Outcome:
    return study.run(generator(study.name, seed))


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
    with pytest.raises(BadInput, match=complaint):
        dataclasses.replace(CUBIC, **knobs)  # type: ignore[arg-type]


def test_a_penalty_allows_more_weights_than_points() -> None:
    dataclasses.replace(CUBIC, n=5, sizes=[12], ln_lambdas=[0.0])


def test_the_cubic_against_the_catalogue_and_against_refits() -> None:
    """Values of FCML 2.8 recomputed by the catalogue; bias and variance by polyfit on each t."""
    found = run(CUBIC)
    bias2 = [found.metrics[f"bias2_order_{k}"] for k in range(3)]
    assert_allclose(bias2, [60562.6, 9542.6, 9484.7], rtol=0, atol=0.05)
    variance = [found.metrics[f"variance_order_{k}"] for k in range(9)]
    printed = [20.0, 39.6, 58.8, 77.8, 96.5, 115.0, 133.4, 151.9, 170.5]
    assert_allclose(variance, printed, rtol=0, atol=0.051)
    assert found.metrics["best_order"] == 3
    for name in (
        "identity_holds",
        "bias2_never_rises",
        "variance_always_rises",
        "rigid_has_more_bias",
        "simulation_agrees",
        "test_loss_agrees",
        "truth_has_least_loss",
        "in_sample_variance_is_share_of_weights",
    ):
        assert found.metrics[name] is True, name

    # The same stream by hand: the data sets are drawn before anything else.
    rng = generator(CUBIC.name, 0)
    x, grid = np.linspace(-5, 5, 50), np.linspace(-5, 5, 101)
    t = 5 * x**3 - x**2 + x + np.sqrt(1000) * rng.standard_normal((300, 50))
    h = 5 * grid**3 - grid**2 + grid
    e = np.sqrt(1000) * rng.standard_normal((300, 101))
    z = []
    for order in range(9):
        fits = np.array([np.polyval(np.polyfit(x, one, order), grid) for one in t])
        mean = fits.mean(0)
        row = found.tables["parts"]["order"].index(order)
        table = {name: values[row] for name, values in found.tables["parts"].items()}
        assert_allclose(table["simulated_bias2"], np.mean((mean - h) ** 2), rtol=1e-6, atol=1e-6)
        assert_allclose(table["simulated_variance"], np.mean((fits - mean) ** 2), rtol=1e-8)
        losses = np.mean((fits - h - e) ** 2, axis=1)
        assert_allclose(table["test_loss"], losses.mean(), rtol=1e-8)
        excess = losses - np.mean((fits - h) ** 2, axis=1) - 1000
        z.append(abs(excess.mean()) / (excess.std() / np.sqrt(300)))
    assert found.metrics["test_loss_largest_z"] == pytest.approx(max(z), rel=1e-6)
    assert found.arrays["mean_fits"].shape == (3, 101)


def test_the_sine_against_the_normal_equations() -> None:
    found = run(SINE)
    rng = generator(SINE.name, 0)
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
        assert_allclose(found.metrics[f"bias2_ln_lambda_{ln_lambda:g}"], bias2, rtol=1e-8)
        assert_allclose(found.metrics[f"variance_ln_lambda_{ln_lambda:g}"], variance, rtol=1e-8)
    # From rigid to flexible, whatever the order of the knob.
    assert found.tables["parts"]["ln_lambda"] == [2.6, -0.31, -2.4]
    assert found.metrics["variance_always_rises"] is True
    assert "simulation_agrees" not in found.metrics  # no closed form for inputs that vary


def test_several_sizes_of_data_set() -> None:
    study = BiasVariance(n=25, more_n=[100, 10], sizes=[0, 3, 9], repetitions=50)
    found = run(study)
    assert found.metrics["variance_falls_with_n"] is True
    parts = [found.metrics[f"variance_order_3{suffix}"] for suffix in ("_n_10", "", "_n_100")]
    assert parts == sorted(parts, reverse=True)
    assert [ax.get_title() for ax in study.draw(found)["decomposition"].axes] == [
        "N = 10",
        "N = 25",
        "N = 100",
    ]


def test_statements_that_are_false_come_out_false() -> None:
    """A constant has no bias to lose; and penalties next to none are all the same."""
    flat = BiasVariance(curve="polynomial", weights=[2.0], n=12, sizes=[0, 3], repetitions=50)
    assert run(flat).metrics["rigid_has_more_bias"] is False
    assert run(flat).metrics["bias2_never_rises"] is True  # it is zero, up to rounding
    free = BiasVariance(n=12, sizes=[3], ln_lambdas=[-90.0, -80.0], repetitions=50)
    assert run(free).metrics["variance_always_rises"] is False


def test_the_printed_noise_term_has_no_limit() -> None:
    terms = noise_terms(0.3)
    assert terms["noise_weighted_by_joint"] == pytest.approx(0.09, rel=1e-9)
    assert terms["noise_weighted_by_joint_converges"] is True
    assert terms["noise_weighted_by_inputs_converges"] is False
