"""Study `ising_enumeration`: invalid settings, and rings whose answers are known."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.ising_enumeration import IsingEnumeration

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"graphs": ["star 4"]}, "star 4 is unknown"),
        ({"graphs": ["grid 5x5"]}, "too large"),
        ({"couplings": [0.0, 1.0]}, "one is 0"),
    ],
)
def test_what_is_refused(knobs: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        IsingEnumeration(**knobs)  # type: ignore[arg-type]


def test_rings_of_odd_and_of_even_length(run: Run) -> None:
    found = run(IsingEnumeration(graphs=["ring 4", "ring 5"], couplings=[-1.0, 0.5]))
    assert found["broken_links"].values.tolist() == [[0, 0], [1, 0]]
    assert found["best_states"].values.tolist() == [[2, 2], [10, 2]]
    assert found["best_alignment"].values.tolist() == [[0.0, 1.0], [0.2, 1.0]]
    t = np.tanh(0.5)
    equal = (1 + (t + t**3) / (1 + t**4)) / 2  # a ring of four, by its transfer matrix
    assert found["min_equal"].sel(graph="ring 4", coupling=0.5).item == pytest.approx(equal)
    assert found["spread"].values[..., -1] == pytest.approx(np.ones((2, 2)))
    down = found["spread"].sel(graph="ring 4", coupling=0.5).values[0]
    assert down == pytest.approx(np.exp(2) / (2 * np.exp(2) + 12 + 2 * np.exp(-2)))
