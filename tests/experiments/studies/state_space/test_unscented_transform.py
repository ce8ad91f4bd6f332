"""Tangents and sigma points: orders of error by closed forms, and statements that can fail."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.state_space.unscented_transform import UnscentedTransform

POLAR = UnscentedTransform(shown=50)
EXPONENTIAL = UnscentedTransform(mapping="exponential", kappa=2.0, shown=50)


def run(study: UnscentedTransform) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"mapping": "linear"}, "study.mapping"),
        ({"spreads": [1.0, 0.5]}, "ascending"),
        ({"bends": [1.0]}, "two or more"),
        ({"alpha": 0.0}, "study.alpha"),
        ({"kappa": -1.0}, "study.kappa"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        dataclasses.replace(POLAR, **knobs)  # type: ignore[arg-type]


def test_polar_coordinates_have_closed_forms() -> None:
    found, s = run(POLAR).metrics, np.deg2rad(15)
    shrink, twice, r2 = np.exp(-(s**2) / 2), np.exp(-2 * s**2), 1 + 0.02**2
    assert_allclose(found["mean_exact_2"], shrink, rtol=1e-12)
    assert_allclose(found["variance_exact_1"], r2 * (1 - twice) / 2, rtol=1e-11)
    assert_allclose(found["variance_exact_2"], r2 * (1 + twice) / 2 - shrink**2, rtol=1e-9)
    assert_allclose([found["mean_tangent_2"], found["variance_tangent_2"]], [1, 0.02**2])
    # Sigma points at +- 3^1/2 s: cos(3^1/2 s) has a third of the weight (w = 1/6, twice).
    right = 2 / 3 + np.cos(np.sqrt(3) * s) / 3
    assert_allclose(found["mean_unscented_2"], right, rtol=1e-12)
    assert found["covariance_error_unscented"] < found["covariance_error_tangent"]


def test_the_exponential_is_log_normal() -> None:
    outcome = run(EXPONENTIAL)
    found = outcome.metrics
    e = np.e
    assert_allclose(found["mean_exact_1"], np.sqrt(e) - 1, rtol=1e-12)
    assert_allclose(found["variance_exact_1"], e * (e - 1), rtol=1e-10)
    assert_allclose(found["largest_skewness"], (e + 2) * np.sqrt(e - 1), rtol=1e-8)
    assert_allclose([found["mean_tangent_1"], found["variance_tangent_1"]], [0, 1], atol=1e-12)
    table = outcome.tables["errors"]
    right = np.expm1(np.square(table["spread"]) / 2)  # what the tangent misses
    assert_allclose(table["mean_error_tangent"], right, rtol=1e-10)
    for name in ("spread", "bend"):
        assert found[f"tangent_worse_with_{name}"] is True
        assert found[f"unscented_better_at_every_{name}"] is True


def test_orders_of_error() -> None:
    """s^2 for a tangent; s^4 for sigma points, s^6 where d + lambda is 3."""
    narrow = [0.05, 0.1, 0.2]
    for kappa, order in ((2.0, 6), (0.5, 4)):
        found = run(dataclasses.replace(EXPONENTIAL, spreads=narrow, kappa=kappa)).metrics
        assert_allclose(found["error_order_unscented"], order, rtol=0, atol=0.05)
        assert_allclose(found["error_order_tangent"], 2, rtol=0, atol=0.05)


def test_the_books_one_dimensional_setting() -> None:
    found = run(POLAR).metrics
    assert found["lambda_d1"] == 2
    assert found["points_d1"] == 3
    assert_allclose(found["largest_point_squared_d1"], 3, rtol=1e-14)
    assert found["moments_matched_d1"] == 5  # 0, 1, 0, 3, 0; the sixth is 9 and should be 15
    assert found["most_moments_matched_otherwise_d1"] == 3
    assert found["printed_scaling_is_best_d1"] is True
    assert_allclose([found["mean_of_square_d1"], found["variance_of_square_d1"]], [1.25, 3])


def test_a_setting_that_does_harm_is_seen() -> None:
    """Points far out under a broad prior: worse than the tangent."""
    found = run(dataclasses.replace(EXPONENTIAL, kappa=60.0, alpha=1.0)).metrics
    assert found["unscented_better_at_every_spread"] is False
    assert found["quadratic_mean_error_unscented"] < 1e-12  # whatever the setting


def test_figures_of_both_kinds() -> None:
    with style("print"):
        for study in (POLAR, EXPONENTIAL):
            (figure,) = study.draw(run(study)).values()
            assert all(ax.get_xlabel() and ax.get_ylabel() for ax in figure.axes)


@pytest.mark.parametrize("study", [POLAR, EXPONENTIAL], ids=lambda study: study.mapping)
def test_slopes_are_those_of_differences(study: UnscentedTransform) -> None:
    step = 1e-5
    for bend in (0.25, 2.0):
        f, F, mean, _ = study._mapping(bend)
        for at in (mean, mean + 0.3):
            columns = [(f(at + step * e) - f(at - step * e)) / (2 * step) for e in np.eye(len(at))]
            assert_allclose(F(at), np.stack(columns, axis=-1), rtol=0, atol=1e-8)


def test_the_exponential_has_slope_one_and_bends_as_it_says() -> None:
    step = 1e-4
    for bend in (0.25, 2.0):
        f = EXPONENTIAL._mapping(bend).f
        low, middle, high = (f(np.array([x]))[0] for x in (-step, 0.0, step))
        assert_allclose((high - low) / (2 * step), 1, rtol=1e-6)
        assert_allclose((high - 2 * middle + low) / step**2, bend, rtol=1e-5)
