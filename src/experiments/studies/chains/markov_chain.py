"""Chains over a few states: stationary distributions, classes, periods, limits (MLAPP 17.2.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import markov_chain as markov
from bythebook.models.types import Floats

TWO = {"two": [0.1, 0.9, 0.9, 0.1]}


@dataclass
class MarkovChain(Study):
    """Properties of named Markov chains and of random ones (MLAPP 17.2.3).

    Probabilities and periods of states that a smaller chain lacks are 0.
    """

    headline = {"stationary": "max(stationary)"}
    quantities = {
        "stationary": quantity("stationary probability of a state", "chain closed state"),
        "stationary_gap": quantity(
            "largest change of the stationary distribution in a step", "chain closed"
        ),
        "absorbed": quantity("probability of ending in a closed class", "chain state closed"),
        "period": quantity("period of a state; 0 without a return", "chain state"),
        "return_probability": quantity("probability of ever returning", "chain state"),
        "n_step": quantity("probability of a state after n steps", "chain state to n"),
        "classes": quantity("classes of states that lead to each other", "chain"),
        "closed_classes": quantity("classes that are never left", "chain"),
        "complex_eigenvalues": quantity("eigenvalues that are not real", "chain"),
        "irreducible": quantity("whether every state leads to every other", "draw"),
        "aperiodic": quantity("whether all states have period 1", "draw"),
        "regular": quantity("whether a power has positive entries only", "draw"),
        "all_self_loops": quantity("whether every state has a self-loop", "draw"),
        "self_loop": quantity("whether a state has a self-loop", "draw drawn_state"),
        "drawn_period": quantity("period of a state; 0 without a return", "draw drawn_state"),
        "drawn_closed": quantity("classes that are never left", "draw"),
        "null_dimension": quantity("dimension of the stationary distributions", "draw"),
        "limit_error": quantity("distance of a high power from the average of powers", "draw"),
        "least_return": quantity("smallest probability of a return of a state", "draw"),
    }
    axes = {
        "chain": axis_of("chain"),
        "closed": axis_of("closed class"),
        "state": axis_of("state"),
        "to": axis_of("state at the end"),
        "n": axis_of("steps"),
        "draw": axis_of("random chain"),
        "drawn_state": axis_of("state"),
    }

    chains: dict[str, list[float]] = knob(
        {}, "transition matrices by name, row by row; none: two states", at_least=0, at_most=1
    )
    steps: int = knob(20, "n-step probabilities up to this n", at_least=5, at_most=1000)
    states: int = knob(5, "states of a random chain", at_least=2, at_most=8)
    draws: int = knob(400, "random chains", at_least=4, at_most=10_000)

    @property
    def given(self) -> dict[str, Floats]:
        stated = self.chains or TWO
        return {name: _square(entries) for name, entries in stated.items()}

    def problems(self) -> Iterator[str]:
        for name, entries in (self.chains or TWO).items():
            if not 1 <= len(entries) <= 36 or round(len(entries) ** 0.5) ** 2 != len(entries):
                yield f"study.chains: '{name}' has {len(entries)} entries; allowed: 1, 4, 9, ... 36"
            elif np.abs(_square(entries).sum(1) - 1).max() > 1e-9:
                yield f"study.chains: '{name}'; allowed: rows that sum to 1"

    def run(self, rng: Generator) -> Outcome:
        K = max(len(A) for A in self.given.values())
        states = np.arange(1, K + 1)
        return outcome(
            {
                "chain": list(self.given),
                "state": states,
                "to": states,
                "closed": states,
                "n": np.arange(1, self.steps + 1),
                "draw": self.draws,
                "drawn_state": np.arange(1, self.states + 1),
            },
            **self._named(K),
            **self._drawn(rng),
        )

    def _named(self, K: int) -> dict[str, Any]:
        """Properties of the named chains, of K states at most."""
        size = len(self.given)
        stationary, absorbed = np.zeros((2, size, K, K))
        period, back, gap = np.zeros((size, K), int), np.zeros((size, K)), np.zeros((size, K))
        n_step, counts = np.zeros((size, K, K, self.steps)), np.zeros((3, size), int)
        for c, A in enumerate(self.given.values()):
            k, known = len(A), markov.structure(A)
            pi = markov.closed_distributions(A, known)
            stationary[c, : len(pi), :k] = pi
            gap[c, : len(pi)] = np.abs(pi @ A - pi).max(1)
            absorbed[c, :k, : len(pi)] = markov.absorption(A, known)
            period[c, :k], back[c, :k] = known.period, markov.return_probability(A, known)
            for m in range(self.steps):
                n_step[c, :k, :k, m] = np.linalg.matrix_power(A, m + 1)  # 17.7
            imaginary = np.abs(np.linalg.eigvals(A).imag)
            counts[:, c] = known.first.sum(), known.closed.sum(), (imaginary > markov.TINY).sum()
        return {
            "stationary": ("chain closed state", stationary),
            "stationary_gap": ("chain closed", gap),
            "absorbed": ("chain state closed", absorbed),
            "period": ("chain state", period),
            "return_probability": ("chain state", back),
            "n_step": ("chain state to n", n_step),
            "classes": ("chain", counts[0]),
            "closed_classes": ("chain", counts[1]),
            "complex_eigenvalues": ("chain", counts[2]),
        }

    def _drawn(self, rng: Generator) -> dict[str, Any]:
        """Properties of random chains."""
        A = markov.draw_chains(self.states, self.draws, rng)
        known = markov.structure(A)
        off = np.abs(markov.limit(A) - markov.average_limit(A)).max((1, 2))
        loops = np.diagonal(A, axis1=1, axis2=2) > 0
        return {
            "irreducible": ("draw", known.irreducible),
            "aperiodic": ("draw", (known.period == 1).all(1)),
            "regular": ("draw", markov.is_regular(A)),
            "all_self_loops": ("draw", loops.all(1)),
            "self_loop": ("draw drawn_state", loops),
            "drawn_period": ("draw drawn_state", known.period),
            "drawn_closed": ("draw", known.closed.sum(1)),
            "null_dimension": ("draw", markov.null_dimension(A)),
            "limit_error": ("draw", off),
            "least_return": ("draw", markov.return_probability(A, known).min(1)),
        }


def _square(entries: list[float]) -> Floats:
    size = round(len(entries) ** 0.5)
    return np.reshape(np.asarray(entries, dtype=np.float64), (size, -1))
