"""Acceptance rates and curves against closed forms, and the rules of the study."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.sampling.rejection import Rejection
from bythebook.models.types import Floats

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"pairs": ["gamma 1"]}, "gamma 1; allowed: gamma with a number from 1.01"),
        ({"factors": [0.5]}, r"study\.factors"),
        ({"draws": 100_000, "repetitions": 1000}, "<= 20000000"),
    ],
)
def test_invalid_knobs_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Rejection(**knobs)  # type: ignore[arg-type]


def test_rates_over_dimensions_and_factors(run: Run) -> None:
    study = Rejection(["wider 1.2"], [1, 3], [1.0, 2.0], draws=2000, repetitions=20)
    found = run(study)
    rates = found["acceptance"].values.mean(-1)[0]
    expected = np.outer(1.2 ** -np.array([1.0, 3.0]), [1, 0.5])
    assert_allclose(rates, expected, atol=0.015)
    for name in ("proposal_p", "kept_p", "height_p"):
        assert np.median(found[name].values) > 0.1


def test_too_few_draws_have_no_distribution_test(run: Run) -> None:
    found = run(Rejection(["wider 3"], [8], [1.0], draws=100, repetitions=3))
    assert (found["kept_p"].values == 1).all()  # one in 6,561 is kept


def test_curves_and_candidates_are_those_of_the_first_pair(run: Run) -> None:
    found = run(Rejection(["bumps 3", "wider 1.2"], draws=100, repetitions=2))
    z, k = found["target_curve"].coord("z"), found["smallest_k"].values[0]
    assert_allclose(found["target_curve"], bumps(z), rtol=1e-12)
    assert_allclose(found["comparison_curve"], k * stats.norm(0, np.sqrt(10)).pdf(z), rtol=1e-12)
    at, height = np.array(found["candidate_z"]), np.array(found["candidate_height"])
    kept = np.array(found["candidate_kept"])
    assert_allclose(kept.mean(), found["area"].values[0] / k, atol=0.13)
    assert (height[~kept] == 0).all()
    assert (height[kept] > 0).all()
    assert (height <= bumps(at)).all()


def bumps(z: Floats) -> Floats:
    return np.asarray(np.sqrt(2 * np.pi) * (stats.norm.pdf(z - 3) + stats.norm.pdf(z + 3)))
