"""Boltzmann machines with hidden units, fitted to a parity (MLAPP 19.4.2; Ghahramani 5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs import boltzmann as bm
from bythebook.models.types import Floats, Ints

SOFTNESS = 1.5  # of the parity: p(y) ~ exp(1.5 times the product of all variables)


@dataclass
class HiddenUnits(Study):
    """The best fit of machines with hidden units to a soft parity, by enumeration (MLAPP 19.4.2).

    Each pair of variables of the parity is independent. Hidden units are linked to the visible
    ones. Also central third moments of random machines without hidden units.
    """

    headline = {"divergence": "min(divergence)"}
    quantities = {
        "divergence": quantity(
            "divergence of the parity from the best machine", "hidden_units", unit="nats"
        ),
        "parameter_count": quantity("number of parameters of a machine", "hidden_units"),
        "third_moment": quantity(
            "central third moment of three variables of a random machine", "draw triple"
        ),
    }
    axes = {
        "hidden_units": axis_of("number of hidden units"),
        "draw": axis_of("random machine"),
        "triple": axis_of("three variables"),
    }

    visible: int = knob(4, "variables seen", at_least=3, at_most=6)
    hidden_units: list[int] = knob(
        [0, 1, 2, 3], "of machines fitted to a parity", at_least=0, at_most=4, distinct=True
    )
    draws: int = knob(10, "random machines", at_least=1, at_most=200)
    restarts: int = knob(10, "starts of each fit", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        if sorted(self.hidden_units) != self.hidden_units:
            yield "study.hidden_units: not in their order; allowed: from few to many"

    def run(self, rng: Generator) -> Outcome:
        y = bm.all_states(self.visible)
        phi = bm.features(y, _pairs(self.visible))
        p = bm.probabilities(rng.normal(0, 0.5, (self.draws, phi.shape[1])), phi)
        third = _third(p, y)
        target = np.exp(SOFTNESS * y.prod(1))
        target /= target.sum()
        fits = [_bipartite_fit(target, y, H, self.restarts, rng) for H in self.hidden_units]
        return outcome(
            {
                "hidden_units": self.hidden_units,
                "draw": self.draws,
                "triple": third.shape[1],
            },
            divergence=("hidden_units", [best for best, _ in fits]),
            parameter_count=("hidden_units", [count for _, count in fits]),
            third_moment=("draw triple", third),
        )


def _pairs(N: int) -> Ints:
    return np.array(list(combinations(range(N), 2)))


def _third(p: Floats, y: Floats) -> Floats:
    """Central third moments of all triples of variables."""
    off = y - (p @ y)[:, None, :]
    return np.stack(
        [(p * off[..., list(t)].prod(-1)).sum(-1) for t in combinations(range(y.shape[1]), 3)], -1
    )


def _bipartite_fit(
    target: Floats, y: Floats, H: int, restarts: int, rng: Generator
) -> tuple[float, int]:
    """The best of some fits of a machine with H hidden units, and its number of parameters.

    p(y) ~ exp(theta' phi(y)) prod_h 2 cosh(c_h + u_h' y): hidden units are summed out.
    """
    N = y.shape[1]
    phi = bm.features(y, _pairs(N))
    F = phi.shape[1]
    inputs = np.column_stack([np.ones(len(y)), y])

    def loss(free: Floats) -> tuple[float, Floats]:
        field = inputs @ free[F:].reshape(H, N + 1).T
        score = phi @ free[:F] + np.logaddexp(field, -field).sum(1)
        log_p = score - score.max()
        log_p -= np.log(np.exp(log_p).sum())
        gap = np.exp(log_p) - target
        slope = np.concatenate([gap @ phi, (np.tanh(field).T @ (gap[:, None] * inputs)).ravel()])
        return float(target @ (np.log(target) - log_p)), slope

    count = F + H * (N + 1)
    starts = rng.standard_normal((restarts, count))
    fits = [minimize(loss, s, jac=True, method="BFGS").fun for s in starts]
    return float(min(fits)), count
