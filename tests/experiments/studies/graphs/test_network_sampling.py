"""Study `network_sampling`: invalid settings, and a chain whose answers are known."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.network_sampling import NetworkSampling

Run = Callable[..., Outcome]
CHAIN = ["a", "b | a", "c | b"]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"network": ["a | b", "b"], "observed": ["b"]}, "parents before children"),
        ({"network": CHAIN, "observed": ["a", "b", "c"]}, "some nodes of the network"),
    ],
)
def test_invalid_settings_are_refused(changed: dict[str, list[str]], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        NetworkSampling(**changed)  # type: ignore[arg-type]


def test_samples_with_evidence(run: Run) -> None:
    study = NetworkSampling(
        CHAIN, observed=["c", "b"], states=[2, 3], samples=200, repetitions=10, draws=6
    )
    found = run(study)
    accepted = found["acceptance"].values
    assert (accepted[:, 1] <= accepted[:, 0]).all()
    assert np.abs(found["acceptance_z"].values).max() < 5
    # The last node alone saves nothing; with b as well some samples end there.
    assert (found["visited_nodes"].sel(observed=1).values == 3).all()
    assert found["visited_nodes"].sel(observed=2).values.min() < 3
    # Given b, the weights of a do not depend on c: 200 samples err by less than 0.05 or so.
    assert found["rms_error"].sel(method="weighted", number=2).values.max() < 0.1
    assert (found["from_uniform"].values >= 0).all()
