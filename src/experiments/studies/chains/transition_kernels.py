"""Detailed balance and invariance of transitions for a target (PRML 11.2; notes 3.4.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import transition_kernels as made
from bythebook.models.chains.markov_chain import average_limit, limit, null_dimension, stationary
from bythebook.models.types import Floats

BASE = 3  # transitions that are mixed and composed
KERNELS = (
    "identity",
    "base",
    "mixture",
    "composition",
    "palindrome",
    "metropolis-hastings",
    "accepted outright",
    "accepted without rejections",
    "rotation",
    "one conditional",
    "random conditional",
    "conditionals in turn",
    "there and back",
)


@dataclass
class TransitionKernels(Study):
    """Gaps of balance and invariance of transitions built for drawn targets (PRML 11.39-11.45).

    States are the cells of a table of two variables; conditional transitions draw one given the
    other.
    """

    headline = {"balance_gap": "max(balance_gap)"}
    more_quantities = True
    quantities = {
        "balance_gap": quantity("largest violation of detailed balance", "kernel draw"),
    }

    kernels: list[str] = knob(list(KERNELS), "transitions", choices=KERNELS, distinct=True)
    shape: list[int] = knob([2, 3], "values of the two variables", at_least=2, at_most=4)
    draws: int = knob(300, "targets and proposals", at_least=1, at_most=10_000)
    matrix: list[float] = knob(
        [], "a separate chain, row by row", at_least=0, at_most=1, may_be_empty=True
    )

    def problems(self) -> Iterator[str]:
        if len(self.shape) != 2:
            yield f"study.shape has {len(self.shape)} entries; allowed: two"
        if round(len(self.matrix) ** 0.5) ** 2 != len(self.matrix):
            yield f"study.matrix has {len(self.matrix)} entries; allowed: a square number"

    def run(self, rng: Generator) -> Outcome:
        K = self.shape[0] * self.shape[1]
        p, q = made.draw_problems(K, BASE, self.draws, rng)
        full = rng.dirichlet(np.ones(K), (self.draws, K))  # a proposal to anywhere
        shares = rng.dirichlet(np.ones(BASE), self.draws)
        T = np.stack([self._kernel(name, p, q, full, shares) for name in self.kernels])
        kernel, draw = axis("kernel", self.kernels), axis("draw", self.draws)
        rows = limit(np.clip(T, 0, None) + 1e-300)
        second = np.sort(np.linalg.eigvals(T).real, axis=-1)[..., -2]
        hastings, outright = made.hastings_acceptance(p, full), made.outright_acceptance(p, full)
        apart = ~np.eye(K, dtype=bool)
        found = {
            "balance_gap": np.abs(made.balance_gap(p, T)).max((-2, -1)),
            "invariance_gap": np.abs(made.invariance_gap(p, T)).max(-1),
            "least_chance": T.min((-2, -1)),
            "row_gap": np.abs(T.sum(-1) - 1).max(-1),
            "lag_dependence": np.ptp(T, axis=-2).max(-1),
            "null_dimension": null_dimension(T),
            "ergodic": np.ptp(rows, axis=-2).max(-1) <= 1e-9,
            "second_eigenvalue": second,
        }
        reading, rule = axis("reading", ["as printed", "corrected"]), axis("rule", RULES)
        chance = p[:, :, None] * full
        back = np.swapaxes(chance, -1, -2)
        return Outcome(
            **{name: over(values, kernel, draw) for name, values in found.items()},
            equation_gap=over(
                [
                    np.abs(made.hastings_equation(p, full, as_printed=way)).max((0, -2, -1))
                    for way in (True, False)
                ],
                *(reading, draw),
            ),
            acceptance=over(
                [(chance * rate).sum((1, 2)) for rate in (outright, hastings)], rule, draw
            ),
            acceptance_by_flows=over(
                [(chance * back).sum((1, 2)), np.minimum(chance, back).sum((1, 2))], rule, draw
            ),
            reached_share=(q > 0).mean(),
            least_enlargement=draw.of((hastings / outright)[:, apart].min(1)),
            **self._own(),
        )

    def _kernel(self, name: str, p: Floats, q: Floats, full: Floats, shares: Floats) -> Floats:
        B = made.with_rejections(q, made.hastings_acceptance(p[:, None], q))
        one, two = (made.conditional(p, (self.shape[0], self.shape[1]), v) for v in (0, 1))
        outright = full * made.outright_acceptance(p, full)
        forwards = B[:, 0] @ B[:, 1] @ B[:, 2]
        match name:
            case "identity":
                return np.broadcast_to(np.eye(p.shape[1]), full.shape)
            case "base":
                return B[:, 0]
            case "mixture":
                return np.asarray(np.einsum("nk,nkij->nij", shares, B))  # 11.42
            case "composition":
                return np.asarray(forwards)  # 11.43
            case "palindrome":
                return np.asarray(forwards @ B[:, 2] @ B[:, 1] @ B[:, 0])
            case "metropolis-hastings":
                return made.with_rejections(full, made.hastings_acceptance(p, full))
            case "accepted outright":
                return made.with_rejections(full, made.outright_acceptance(p, full))
            case "accepted without rejections":
                return outright  # 3.50
            case "rotation":
                return made.rotation(p)
            case "one conditional":
                return one
            case "random conditional":
                return (one + two) / 2
            case "conditionals in turn":
                return np.asarray(one @ two)
        return np.asarray(one @ two @ one)

    def _own(self) -> dict[str, Quantity]:
        if not self.matrix:
            return {}
        size = round(len(self.matrix) ** 0.5)
        A = np.reshape(np.asarray(self.matrix, dtype=np.float64), (size, size))
        pi = stationary(A)
        return {
            "own_balance_gap": Quantity(np.abs(made.balance_gap(pi, A)).max()),
            "own_distance": Quantity(np.abs(average_limit(A) - pi).max()),
        }


RULES = ["accepted outright", "metropolis-hastings"]
