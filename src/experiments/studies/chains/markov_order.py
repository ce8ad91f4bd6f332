"""Markov models of limited memory for a source with a hidden state (Ghahramani 4)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import hidden_source as source
from bythebook.models.chains import ngrams
from bythebook.models.chains.hmm import forward_filter

SMOOTHED = 0.5  # added to each count


@dataclass
class MarkovOrder(Study):
    """Information of an observation outside a window of n, and bits of models of order n.

    Without noise the observations are a chain of first order.
    """

    headline = {"beyond": "max(beyond)"}
    quantities = {
        "exact_bits": quantity(
            "entropy of the next observation given the window", "source order", unit="bits"
        ),
        "beyond": quantity(
            "information of the next observation outside the window", "source order", unit="bits"
        ),
        "counted_bits": quantity(
            "bits per new observation of a counted Markov model", "sequence order", unit="bits"
        ),
        "state_bits": quantity(
            "bits per new observation of the hidden-state model", "sequence", unit="bits"
        ),
    }
    axes = {
        "source": axis_of("source"),
        "order": axis_of("observations in the window"),
        "sequence": axis_of("sequence"),
    }

    stay: float = knob(0.95, "chance that the hidden state stays", above=0, below=1)
    noise: float = knob(0.2, "chance of seeing the other state", at_least=0, at_most=0.5)
    orders: list[int] = knob([0, 1, 2, 3], "windows", at_least=0, at_most=12, distinct=True)
    train: int = knob(20_000, "observations that are counted", at_least=100)
    held: int = knob(5000, "new observations", at_least=100)
    sequences: int = knob(20, "sequences", at_least=1, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        orders = sorted(self.orders)
        pi, A, B = source.tables(self.stay, self.noise)
        chains = [B, source.tables(self.stay, 0.0)[2]]
        bits = np.array([source.conditional_bits(pi, A, seen, max(orders) + 2) for seen in chains])
        _, y = source.draw(pi, A, B, self.train + self.held, self.sequences, rng)
        counted = np.empty((self.sequences, len(orders)))
        for s, row in enumerate(y):
            for o, n in enumerate(orders):
                model = ngrams.fit(row[: self.train], n + 1, 2, SMOOTHED)
                counted[s, o] = model.bits(row[self.train - n :])
        with np.errstate(divide="ignore"):  # without noise the other state is impossible
            log_lik = np.log(B.T[y[:, self.train :]])
        evidence = forward_filter(pi, A, log_lik).log_evidence
        return outcome(
            {"source": ["hidden", "first order"], "order": orders, "sequence": self.sequences},
            exact_bits=("source order", bits[:, orders]),
            beyond=("source order", (bits[:, :-1] - bits[:, 1:])[:, orders]),
            counted_bits=("sequence order", counted),
            state_bits=("sequence", -evidence / self.held / np.log(2)),
        )
