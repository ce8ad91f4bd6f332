"""Study `ancestral_sampling`: invalid settings, and the distance from the joint table."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.ancestral_sampling import AncestralSampling

Run = Callable[..., Outcome]
CHAIN = {"chain": ["a", "b | a", "c | b"]}


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"networks": {"n": ["a | b", "b"]}}, "parents before children"),
        ({"networks": {"n": ["a", "a"]}}, "2 to 8 different"),
        ({"networks": {"n": ["a", "b, c | a"]}}, "'child | parents'"),
        ({"networks": CHAIN, "kept": {"chain": ["z"]}}, "among a, b, c"),
    ],
)
def test_invalid_networks_are_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        AncestralSampling(**changed)  # type: ignore[arg-type]


def test_samples_of_a_chain(run: Run) -> None:
    found = run(AncestralSampling(CHAIN, samples=[50, 800], draws=10))
    far = found["joint_distance"].sel(network="chain").values
    assert far[1].mean() < far[0].mean() / 2
    assert np.median(found["joint_p_value"].values) > 0.1
