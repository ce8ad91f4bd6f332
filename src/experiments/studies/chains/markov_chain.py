"""Chains over a few states: stationary distributions, classes, periods, limits (MLAPP 17.2.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import markov_chain as markov
from bythebook.models.types import Floats

TWO = {"two": [0.1, 0.9, 0.9, 0.1]}
PATHS = 5  # steps of the longest paths that are summed
KIND = axis("kind", ["any", "loops", "circle", "dense"])  # of random chains, in turn


@dataclass
class MarkovChain(Study):
    """Properties of named Markov chains and of random ones (MLAPP 17.2.3).

    Probabilities and periods of states that a smaller chain lacks are 0.
    """

    headline = {"stationary": "max(stationary)"}
    more_quantities = True
    quantities = {
        "stationary": quantity("stationary probability of a state", "chain closed state"),
    }

    chains: dict[str, list[float]] = knob(
        {}, "transition matrices by name, row by row; none: two states", at_least=0, at_most=1
    )
    steps: int = knob(20, "n-step probabilities up to this n", at_least=PATHS, at_most=1000)
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
        return Outcome(**self._named(), **self._drawn(rng))

    def _named(self) -> dict[str, Quantity]:
        given = self.given
        K = max(len(A) for A in given.values())
        chain, state, to = (
            axis("chain", list(given)),
            axis("state", range(1, K + 1)),
            axis("to", range(1, K + 1)),
        )
        closed, n = axis("closed", range(1, K + 1)), axis("n", range(1, self.steps + 1))
        size = len(given)
        stationary, absorbed = np.zeros((2, size, K, K))
        period, back, gap = np.zeros((size, K), int), np.zeros((size, K)), np.zeros((size, K))
        n_step, counts = np.zeros((size, K, K, self.steps)), np.zeros((4, size))
        path_gap = np.zeros((2, size))
        for c, A in enumerate(given.values()):
            k, known = len(A), markov.structure(A)
            pi = markov.closed_distributions(A, known)
            stationary[c, : len(pi), :k] = pi
            gap[c, : len(pi)] = np.abs(pi @ A - pi).max(1)
            absorbed[c, :k, : len(pi)] = markov.absorption(A, known)
            period[c, :k], back[c, :k] = known.period, markov.return_probability(A, known)
            for m in range(self.steps):
                n_step[c, :k, :k, m] = np.linalg.matrix_power(A, m + 1)  # 17.7
            values = np.linalg.eigvals(A)
            counts[:, c] = (
                known.first.sum(),
                known.closed.sum(),
                (np.abs(values.imag) > markov.TINY).sum(),
                np.abs(pi[0][:, None] * A - (pi[0][:, None] * A).T).max(),
            )
            path_gap[:, c] = self._paths(A, n_step[c, :k, :k])
        return {
            "stationary": over(stationary, chain, closed, state),
            "stationary_gap": over(gap, chain, closed),
            "absorbed": over(absorbed, chain, state, closed),
            "period": over(period, chain, state),
            "return_probability": over(back, chain, state),
            "n_step": over(n_step, chain, state, to, n),
            "classes": chain.of(counts[0].astype(int)),
            "closed_classes": chain.of(counts[1].astype(int)),
            "complex_eigenvalues": chain.of(counts[2].astype(int)),
            "balance_gap": chain.of(counts[3]),
            "path_gap": chain.of(path_gap[0]),
            "composed_gap": chain.of(path_gap[1]),
        }

    def _paths(self, A: Floats, n_step: Floats) -> tuple[float, float]:
        """Powers against sums over paths; sums of m and n steps against those of m + n."""
        summed = markov.path_sums(A, PATHS)
        powers = np.moveaxis(n_step[..., :PATHS], -1, 0)
        composed = [
            np.abs(summed[m] @ summed[n] - summed[m + n + 1]).max()  # 17.6
            for m in range(PATHS)
            for n in range(PATHS - m - 1)
        ]
        return float(np.abs(powers - summed).max()), float(max(composed))

    def _drawn(self, rng: Generator) -> dict[str, Quantity]:
        A = markov.draw_chains(self.states, self.draws, rng)
        known = markov.structure(A)
        draw, state = axis("draw", self.draws), axis("drawn_state", range(1, self.states + 1))
        column = axis("column", range(1, self.states + 1))
        average = markov.average_limit(A)
        solved = np.full((self.draws, self.states, self.states), np.nan)
        whole = known.irreducible
        for k in range(self.states):
            solved[whole, k] = markov.stationary(A[whole], k)
        off = np.abs(solved - average[:, :1]).max(-1)
        first = known.closed.argmax(1)
        pi = average[np.arange(self.draws), first]  # of the class of the first closed state
        loops = np.diagonal(A, axis1=1, axis2=2) > 0
        values, positive = np.linalg.eigvals(A), (A > 0).mean((1, 2))
        four = axis("four", self.draws // 4)
        return {
            "positive_share": over(positive[: 4 * len(four)].reshape(-1, 4), four, KIND),
            "irreducible": draw.of(whole),
            "aperiodic": draw.of((known.period == 1).all(1)),
            "regular": draw.of(markov.is_regular(A)),
            "slowest_regular": Quantity(markov.is_regular(_slow(self.states))),
            "all_self_loops": draw.of(loops.all(1)),
            "self_loop": over(loops, draw, state),
            "drawn_period": over(known.period, draw, state),
            "drawn_closed": draw.of(known.closed.sum(1)),
            "null_dimension": draw.of(markov.null_dimension(A)),
            "column_error": over(np.where(whole[:, None], off, 0.0), draw, column),
            "limit_error": draw.of(np.abs(markov.limit(A) - average).max((1, 2))),
            "least_return": draw.of(markov.return_probability(A, known).min(1)),
            "unit_eigenvalue_error": draw.of(np.abs(values - 1).min(1)),
            "stationary_residual": draw.of(np.abs(np.vecmat(pi, A) - pi).max(1)),
        }


def _slow(K: int) -> Floats:
    """A circle with one short cut, the slowest to mix of regular chains of K states."""
    A = np.roll(np.eye(K), 1, 1)
    A[-1, :2] = 0.5
    return A


def _square(entries: list[float]) -> Floats:
    size = round(len(entries) ** 0.5)
    return np.reshape(np.asarray(entries, dtype=np.float64), (size, -1))
