"""Study `sequence_propagation`: two steps."""

from collections.abc import Callable

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.sequence_propagation import SequencePropagation

Run = Callable[..., Outcome]


def test_short_sequences(run: Run) -> None:
    found = run(SequencePropagation(2, 2, length=3, dimensions=3, draws=3))
    for name, quantity in found.items():
        assert quantity.values.max() < 1e-10, name
