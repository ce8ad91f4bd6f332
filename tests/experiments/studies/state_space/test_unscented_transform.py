"""Tangents and sigma points: orders of error by closed forms, and statements that can fail."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.state_space.unscented_transform import UnscentedTransform

Run = Callable[..., Outcome]
POLAR = UnscentedTransform(draws=50)
EXPONENTIAL = UnscentedTransform(mapping="exponential", kappa=2.0, draws=50)


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
    with pytest.raises(InputError, match=complaint):
        dataclasses.replace(POLAR, **knobs)  # type: ignore[arg-type]


def test_polar_coordinates_have_closed_forms(run: Run) -> None:
    found, s = run(POLAR), np.deg2rad(15)
    shrink, twice, r2 = np.exp(-(s**2) / 2), np.exp(-2 * s**2), 1 + 0.02**2
    (_, exact), (_, tangent), (_, unscented) = found["output_mean"].values
    cov = dict(
        zip(("exact", "tangent", "unscented"), found["output_covariance"].values, strict=True)
    )
    assert_allclose(exact, shrink, rtol=1e-12)
    assert_allclose(cov["exact"][0, 0], r2 * (1 - twice) / 2, rtol=1e-11)
    assert_allclose(cov["exact"][1, 1], r2 * (1 + twice) / 2 - shrink**2, rtol=1e-9)
    assert_allclose([tangent, cov["tangent"][1, 1]], [1, 0.02**2])
    # Sigma points at +- 3^1/2 s: cos(3^1/2 s) has a third of the weight (w = 1/6, twice).
    assert_allclose(unscented, 2 / 3 + np.cos(np.sqrt(3) * s) / 3, rtol=1e-12)
    off = {way: np.linalg.norm(cov[way] - cov["exact"]) for way in cov}
    assert off["unscented"] < off["tangent"]


def test_the_exponential_is_log_normal(run: Run) -> None:
    found, e = run(EXPONENTIAL), np.e
    mean, covariance = found["output_mean"].values[:, 0], found["output_covariance"].values[:, 0, 0]
    assert_allclose(mean[0], np.sqrt(e) - 1, rtol=1e-12)
    assert_allclose(covariance[0], e * (e - 1), rtol=1e-10)
    assert_allclose(found["output_skewness"].values, (e + 2) * np.sqrt(e - 1), rtol=1e-8)
    assert_allclose([mean[1], covariance[1]], [0, 1], atol=1e-12)
    errors = found["mean_error"].sel(approximation="tangent")
    right = np.expm1(np.square(errors.coord("spread")) / 2)  # what the tangent misses
    assert_allclose(errors.values, right, rtol=1e-10)
    bent = found["bent_mean_error"].sel(approximation="tangent")
    bends = bent.coord("bend")
    assert_allclose(bent.values, np.expm1((bends / 2) ** 2 / 2) / bends, rtol=1e-10)
    for name in ("mean_error", "bent_mean_error"):
        assert evaluate(f"all({name}['unscented'] < {name}['tangent'])", found)


def test_orders_of_error(run: Run) -> None:
    """s^2 for a tangent; s^4 for sigma points, s^6 where d + lambda is 3."""
    narrow = [0.05, 0.1, 0.2]
    for kappa, order in ((2.0, 6), (0.5, 4)):
        found = run(dataclasses.replace(EXPONENTIAL, spreads=narrow, kappa=kappa))
        assert_allclose(found["error_order"].values, [2, order], rtol=0, atol=0.05)


def test_the_books_one_dimensional_setting(run: Run) -> None:
    found = run(POLAR)
    assert found["line_lambda"].item == 2
    assert_allclose(found["line_points"].values ** 2, [0, 3, 3], rtol=1e-14)
    matched = found["line_moments_matched"]
    assert dict(zip(matched.coord("kappa"), matched.values, strict=True)) == {
        0: 3, 0.5: 3, 1: 3, 1.5: 3, 2: 5, 2.5: 3, 3: 3, 4: 3
    }  # fmt: skip


def test_points_go_through_the_function(run: Run) -> None:
    found = run(POLAR)
    assert len(found["point_input"]) == 5
    for name in ("point", "sample"):
        r, angle = found[f"{name}_input"].values.T
        right = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=-1)
        assert_allclose(found[f"{name}_output"].values, right, rtol=1e-14, atol=1e-14)


def test_a_setting_that_does_harm_is_seen(run: Run) -> None:
    """Points far out under a broad prior: worse than the tangent."""
    found = run(dataclasses.replace(EXPONENTIAL, kappa=60.0, alpha=1.0))
    assert evaluate("any(mean_error['unscented'] > mean_error['tangent'])", found)
