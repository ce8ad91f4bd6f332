"""Bits that discrete state variables hold about the past, and their cost (Ghahramani 5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains.capacity import as_one, chain_step, flat_step, information
from bythebook.models.graphs.dimension import dimension, tables

PEAKED = 0.2  # of Dirichlet rows: drawn chains that remember something


@dataclass
class ChainCapacity(Study):
    """M chains of K states against one of K^M: information, parameters, operations of a step.

    Parameters are of the distribution of two steps.
    """

    headline = {"bits": "max(information)"}
    more_quantities = True
    quantities = {
        "information": quantity(
            "information of two observations about the next state", "K M draw", unit="bits"
        ),
    }

    states: list[int] = knob([2, 3], "K", at_least=2, at_most=4, distinct=True)
    chains: list[int] = knob([1, 2, 3], "M", at_least=1, at_most=4, distinct=True)
    draws: int = knob(20, "of all tables", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        largest = max(self.states) ** max(self.chains)
        if largest > 27:
            yield f"study.states and study.chains: {largest} joint states; allowed: up to 27"

    def run(self, rng: Generator) -> Outcome:
        axes = axis("K", self.states), axis("M", self.chains)
        draw = axis("draw", self.draws)
        costs: dict[str, list[float]] = {}
        drawn: dict[str, list[list[float]]] = {}
        for K in self.states:
            for M in self.chains:
                for name, cost in _costs(K, M, rng).items():
                    costs.setdefault(name, []).append(cost)
                rows = [_drawn(K, M, rng) for _ in range(self.draws)]
                for name in rows[0]:
                    drawn.setdefault(name, []).append([row[name] for row in rows])
        shape = tuple(map(len, axes))
        return Outcome(
            **{name: over(np.reshape(values, shape), *axes) for name, values in costs.items()},
            **{
                name: over(np.reshape(values, (*shape, self.draws)), *axes, draw)
                for name, values in drawn.items()
            },
        )


def _costs(K: int, M: int, rng: Generator) -> dict[str, float]:
    """Quantities that depend on the sizes alone."""
    S = len(list(np.ndindex(*[K] * M)))
    before = [list(range(i)) for i in range(2 * M)]
    apart = [*([] for _ in range(M)), *([i] for i in range(M))]
    p, moves = np.full([K] * M, 1 / S), [np.full((K, K), 1 / K)] * M
    return {
        "joint_states": S,
        "cycle_information": information(
            np.full(S, 1 / S), np.roll(np.eye(S), 1, axis=1), np.eye(S)
        ),
        "flat_parameters": dimension(tables(before, K), rng),
        "chain_parameters": dimension(tables(apart, K), rng),
        "flat_operations": flat_step(p, moves).way.operations(S),
        "chain_operations": chain_step(p, moves).way.operations(K),
    }


def _drawn(K: int, M: int, rng: Generator) -> dict[str, float]:
    """Information of the state about the past, and a step in two ways, for drawn tables."""
    S = K**M
    moves = [rng.dirichlet(np.full(K, PEAKED), K) for _ in range(M)]
    start, seen = rng.dirichlet(np.ones(S)), rng.dirichlet(np.full(S, PEAKED), S)
    p = start.reshape([K] * M)
    whole = as_one(moves)
    p_all = np.einsum("z,zx,zw,wy,wv->vxy", start, seen, whole, seen, whole)
    bits = [-np.sum(q * np.log2(q)) for q in (p_all, p_all.sum(0), p_all.sum((1, 2)))]
    return {
        "information": information(start, whole, seen),
        "entropy_information": float(bits[1] + bits[2] - bits[0]),
        "step_gap": float(np.abs(flat_step(p, moves).p - chain_step(p, moves).p).max()),
    }
