"""Detailed balance and invariance of transitions for a target (PRML 11.2; notes 3.4.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import transition_kernels as made
from bythebook.models.chains.markov_chain import limit, null_dimension
from bythebook.models.types import Floats

BASE = 3  # transitions that are mixed and composed
RULES = ["accepted outright", "metropolis-hastings"]
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
    quantities = {
        "balance_gap": quantity("largest violation of detailed balance", "kernel draw"),
        "invariance_gap": quantity("largest change of the target in a step", "kernel draw"),
        "row_sum": quantity("largest sum of a row", "kernel draw"),
        "lag_dependence": quantity("largest difference of two rows", "kernel draw"),
        "null_dimension": quantity("dimension of the invariant distributions", "kernel draw"),
        "ergodic": quantity("whether all rows of a high power agree", "kernel draw"),
        "acceptance": quantity("share of proposals that is accepted", "rule draw"),
        "least_enlargement": quantity(
            "smallest ratio of the acceptance probabilities of the two rules", "draw"
        ),
    }
    axes = {
        "kernel": axis_of("transition"),
        "draw": axis_of("target and proposals"),
        "rule": axis_of("acceptance probability"),
    }

    kernels: list[str] = knob(list(KERNELS), "transitions", choices=KERNELS, distinct=True)
    shape: list[int] = knob([2, 3], "values of the two variables", at_least=2, at_most=4)
    draws: int = knob(300, "targets and proposals", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        if len(self.shape) != 2:
            yield f"study.shape has {len(self.shape)} entries; allowed: two"

    def run(self, rng: Generator) -> Outcome:
        K = self.shape[0] * self.shape[1]
        p, q = made.draw_problems(K, BASE, self.draws, rng)
        full = rng.dirichlet(np.ones(K), (self.draws, K))  # a proposal to anywhere
        shares = rng.dirichlet(np.ones(BASE), self.draws)
        T = np.stack([self._kernel(name, p, q, full, shares) for name in self.kernels])
        rows = limit(np.clip(T, 0, None) + 1e-300)
        hastings, outright = made.hastings_acceptance(p, full), made.outright_acceptance(p, full)
        proposed, apart = p[:, :, None] * full, ~np.eye(K, dtype=bool)
        each = "kernel draw"
        return outcome(
            {"kernel": self.kernels, "draw": self.draws, "rule": RULES},
            balance_gap=(each, np.abs(made.balance_gap(p, T)).max((-2, -1))),
            invariance_gap=(each, np.abs(made.invariance_gap(p, T)).max(-1)),
            row_sum=(each, T.sum(-1).max(-1)),
            lag_dependence=(each, np.ptp(T, axis=-2).max(-1)),
            null_dimension=(each, null_dimension(T)),
            ergodic=(each, np.ptp(rows, axis=-2).max(-1) <= 1e-9),
            acceptance=(
                "rule draw",
                [(proposed * rate).sum((1, 2)) for rate in (outright, hastings)],
            ),
            least_enlargement=("draw", (hastings / outright)[:, apart].min(1)),
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
