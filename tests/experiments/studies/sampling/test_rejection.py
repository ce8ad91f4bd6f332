"""Rates of acceptance against closed forms, and the study's rules."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.sampling.rejection import Rejection

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"pairs": ["gamma 1"]}, "gamma 1; allowed: gamma with a number from 1.01"),
        ({"factors": [0.5]}, r"study\.factors"),
        ({"draws": 100_000, "repetitions": 1000}, "<= 20000000"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Rejection(**knobs)  # type: ignore[arg-type]


def test_rates_over_dimensions_and_factors(run: Run) -> None:
    study = Rejection(["wider 1.2"], [1, 3], [1.0, 2.0], draws=2000, repetitions=20)
    found = run(study)
    rates = found["acceptance"].values.mean(-1)[0]
    expected = np.outer(1.2 ** -np.array([1.0, 3.0]), [1, 0.5])
    assert_allclose(rates, expected, atol=0.015)
    assert np.median(found["kept_p"].values) > 0.1
    assert "best_acceptance" not in found


def test_too_few_draws_have_no_distribution_test(run: Run) -> None:
    found = run(Rejection(["wider 3"], [8], [1.0], draws=100, repetitions=3))
    assert (found["kept_p"].values == 1).all()  # one in 6,561 is kept


def test_gamma_densities_alone_are_searched(run: Run) -> None:
    found = run(Rejection(["gamma 4"], draws=500, repetitions=5, widths=[0.5, 2.0]))
    assert found["best_acceptance"].values > found["area"].values / found["smallest_k"].values
    assert found["printed_tangent_p"].values.max() < 1e-6
    assert found["growth"].values[0] > 0 == found["growth"].values[1]
