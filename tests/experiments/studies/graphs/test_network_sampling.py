"""Study `network_sampling`: invalid settings, and exact identities."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.network_sampling import NetworkSampling

Run = Callable[..., Outcome]
CHAIN = {"chain": ["a", "b | a", "c | b"]}


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"networks": {"n": ["a | b", "b"]}}, "parents before children"),
        ({"networks": {"n": ["a", "a"]}}, "2 to 8 different"),
        ({"networks": {"n": ["a", "b, c | a"]}}, "'child | parents'"),
        ({"networks": CHAIN, "kept": {"chain": ["z"]}}, "among a, b, c"),
        ({"networks": CHAIN, "observed": ["a", "b", "c"]}, "some nodes of the first"),
    ],
)
def test_what_is_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        NetworkSampling(**changed)  # type: ignore[arg-type]


def test_plain_samples(run: Run) -> None:
    found = run(NetworkSampling(CHAIN, samples=[50, 800], draws=10))
    assert_allclose(found["total"].values, 1)
    assert found["early_nodes"].values.tolist() == [[0] * 10]
    far = found["joint_distance"].sel(network="chain").values
    assert far[1].mean() < far[0].mean() / 2
    assert np.median(found["reversed_p_value"].sel(samples=800).values) < 0.01
    assert np.median(found["joint_p_value"].values) > 0.1


def test_samples_with_evidence(run: Run) -> None:
    found = run(
        NetworkSampling(
            CHAIN,
            observed=["c", "b"],
            states=[2, 3],
            concentrations=[1.0],
            samples=[200],
            repetitions=10,
            draws=6,
        )
    )
    accepted = found["acceptance"].values
    assert (accepted[:, 1] <= accepted[:, 0]).all()
    assert np.abs(found["acceptance_z"].values).max() < 5
    # The last node alone saves nothing; with b as well some samples end there.
    assert (found["visited_nodes"].sel(observed=1).values == 3).all()
    assert found["visited_nodes"].sel(observed=2).values.min() < 3
    assert found["weight_gap"].values.max() < 1e-12
    # a is independent of c given b, so that all weights are equal up to p(b | a).
    share = found["effective_share"].values
    assert ((share > 0) & (share <= 1 + 1e-12)).all()
    assert np.abs(found["weighted_z"].values).max() < 5
    assert (found["from_uniform"].values >= 0).all()
