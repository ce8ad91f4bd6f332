"""Bits of Markov models against the window, and the information outside it."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.chains.markov_order import MarkovOrder


def draw(study: MarkovOrder, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    order = outcome["exact_bits"].coord("order")
    left.plot(order, outcome["counted_bits"].values.T, color="C0", lw=0.4, alpha=0.5)
    left.plot(order, outcome["exact_bits"].sel(source="hidden").values, "ko-", label="exact")
    left.plot([], [], color="C0", label="counted, new sequences")
    left.axhline(outcome["state_bits"].values.mean(), color="C1", ls="--", label="hidden state")
    left.set(xlabel="window", ylabel="bits per observation")
    left.legend()
    for kind in ("hidden", "first order"):
        information = np.maximum(outcome["beyond"].sel(source=kind).values, 1e-17)
        right.semilogy(order, information, "o-", label=kind)
    right.set(xlabel="window", ylabel="bits of information in one more observation")
    right.legend()
    yield "windows", figure
