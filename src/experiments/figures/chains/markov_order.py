"""Bits of Markov models against the window, and what lies outside of it."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.chains.markov_order import MarkovOrder


def draw(study: MarkovOrder, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = panels(1, 2)
    order = outcome["exact_bits"].along("order")
    left.plot(order, outcome["counted_bits"].values.T, color="C0", lw=0.4, alpha=0.5)
    left.plot(order, outcome["exact_bits"].at(source="hidden").values, "ko-", label="exact")
    left.plot([], [], color="C0", label="counted, new sequences")
    left.axhline(outcome["state_bits"].values.mean(), color="C1", ls="--", label="hidden state")
    left.set(xlabel="window", ylabel="bits an observation")
    left.legend()
    for kind in ("hidden", "first order"):
        told = np.maximum(outcome["beyond"].at(source=kind).values, 1e-17)
        right.semilogy(order, told, "o-", label=kind)
    right.set(xlabel="window", ylabel="bits that one more observation tells")
    right.legend()
    yield "windows", figure
