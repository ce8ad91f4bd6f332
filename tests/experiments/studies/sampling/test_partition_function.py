"""Study `partition_function`: recorded quantities, and rules."""

from collections.abc import Callable

import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.sampling.partition_function import PartitionFunction

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"ratios": [300]}, "two samples each, of 512"),
        ({"samples": [100_000], "repetitions": 1000}, "<= 20000000"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        PartitionFunction(**knobs)  # type: ignore[arg-type]


def test_estimates_near_the_exact_ratio(run: Run) -> None:
    found = run(PartitionFunction(1, 1.0, [1.0, 1.5], [200], [1, 2], [300], repetitions=40))
    exact = found["exact_log_ratio"].values
    assert_allclose(found["log_direct"].values[:, 0].mean(-1), exact, atol=0.1)
    assert_allclose(found["log_ratio"].values.mean(-1), exact[-1], atol=0.15)
    assert found["log_ratio"].values.shape == (2, 2, 1, 40)
