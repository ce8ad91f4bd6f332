"""Markov models of limited memory for a source with a hidden state (Ghahramani 4)."""

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import hidden_source as source
from bythebook.models.chains import ngrams
from bythebook.models.chains.hmm import forward_filter
from bythebook.models.types import Floats

SMOOTHED = 0.5  # added to each count


@dataclass
class MarkovOrder(Study):
    """Information of an observation outside a window of n, and bits of models of order n.

    Without noise the observations are a chain of first order.
    """

    headline = {"beyond": "max(beyond)"}
    more_quantities = True
    quantities = {
        "beyond": quantity(
            "information of the next observation outside the window", "source order", unit="bits"
        ),
    }

    stay: float = knob(0.95, "chance that the hidden state stays", above=0, below=1)
    noise: float = knob(0.2, "chance of seeing the other state", at_least=0, at_most=0.5)
    orders: list[int] = knob([0, 1, 2, 3], "windows", at_least=0, at_most=12, distinct=True)
    train: int = knob(20_000, "observations that are counted", at_least=100)
    held: int = knob(5000, "new observations", at_least=100)
    sequences: int = knob(20, "sequences", at_least=1, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        orders = sorted(self.orders)
        order, sequence = axis("order", orders), axis("sequence", self.sequences)
        kind = axis("source", ["hidden", "first order"])
        pi, A, B = source.tables(self.stay, self.noise)
        chains = [B, source.tables(self.stay, 0.0)[2]]
        bits = np.array([source.conditional_bits(pi, A, seen, max(orders) + 2) for seen in chains])
        states, y = source.draw(pi, A, B, self.train + self.held, self.sequences, rng)
        counted = np.empty((self.sequences, len(orders)))
        for s, row in enumerate(y):
            for o, n in enumerate(orders):
                model = ngrams.fit(row[: self.train], n + 1, 2, SMOOTHED)
                counted[s, o] = model.bits(row[self.train - n :])
        held = y[:, self.train :]
        with np.errstate(divide="ignore"):  # without noise the other state is impossible
            log_lik = np.log(B.T[held])
        evidence = forward_filter(pi, A, log_lik).log_evidence
        return Outcome(
            exact_bits=over(bits[:, orders], kind, order),
            beyond=over((bits[:, :-1] - bits[:, 1:])[:, orders], kind, order),
            counted_bits=over(counted, sequence, order),
            state_bits=sequence.of(-evidence / self.held / np.log(2)),
            listed_bits=over([_listed_bits(pi, A, seen) for seen in chains], kind, LISTED),
            turn_share=np.mean(states[:, 1:] != states[:, :-1]),
            error_share=np.mean(y != states),
            differing_share=LAG.of([np.mean(y[:, k:] != y[:, :-k]) for k in LAG.values]),
        )


LISTED, LAG = axis("listed_order", [0, 1, 2, 3]), axis("lag", [1, 2, 4, 8])


def _listed_bits(pi: Floats, A: Floats, B: Floats) -> Floats:
    """Conditional entropies from a list of all states and observations, each weighted by (24)."""
    totals = [0.0]
    for T in range(1, len(LISTED) + 1):
        weight: dict[tuple[int, ...], float] = {}
        for z in product((0, 1), repeat=T):
            for y in product((0, 1), repeat=T):
                chain = pi[z[0]] * np.prod([A[a, b] for a, b in pairwise(z)])
                p = chain * np.prod([B[a, b] for a, b in zip(z, y, strict=True)])
                weight[y] = weight.get(y, 0.0) + p
        totals.append(-sum(p * np.log2(p) for p in weight.values() if p > 0))
    return np.diff(totals)
