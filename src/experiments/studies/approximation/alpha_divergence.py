"""The alpha family of divergences: signs, zero forcing and zero avoiding (PRML 10.1.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import divergences
from bythebook.models.types import Floats

SIZES = (4, 3, 4)  # states of the first block of p, of the gap and of the second block


@dataclass
class AlphaDivergence(Study):
    """Alpha divergences of drawn Gaussians, and the best uniform q for a p with two blocks.

    The states of a block have drawn probabilities; states between the blocks have probability
    zero. q is uniform over a run of states.
    """

    headline = {"largest": "max(divergence)"}
    quantities = {
        "divergence": quantity(
            "alpha divergence of two Gaussians", "alpha pair", unit="nats", equation="PRML 10.19"
        ),
        "support": quantity("number of states that have probability", "repetition"),
        "covered": quantity("number of states that the best q covers", "alpha repetition"),
        "outside": quantity("number of these states without probability", "alpha repetition"),
        "missed": quantity("probability that the best q leaves out", "alpha repetition"),
        "block_mass": quantity("probability of the block in which q begins", "alpha repetition"),
        "first_p": quantity("p of the first case", "state"),
        "first_q": quantity("best q of the first case", "alpha state"),
    }
    axes = {
        "alpha": axis_of("alpha"),
        "pair": axis_of("pair of Gaussians"),
        "repetition": axis_of("distribution of two blocks"),
        "state": axis_of("state"),
    }

    alphas: list[float] = knob(
        [-3.0, -1.0, 0.0, 1.0, 3.0], "of the divergences", at_least=-3, at_most=3, distinct=True
    )
    pairs: int = knob(100, "pairs of Gaussians", at_least=1, at_most=10_000)
    repetitions: int = knob(100, "distributions of two blocks", at_least=1, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        m = rng.uniform(-1, 1, self.pairs)
        n = m + rng.choice([-1, 1], self.pairs) * rng.uniform(0.2, 1.5, self.pairs)  # apart
        v, w = rng.uniform(0.75, 1.4, (2, self.pairs))  # no ratio above 2: all are finite
        x, step = np.linspace(-25, 25, 2001, retstep=True)
        densities = _normal(x, m, v), _normal(x, n, w)
        p, share = self._two_blocks(rng)
        runs = np.array([divergences.best_run(p, a).covered for a in self.alphas])
        first = runs[..., : SIZES[0]].any(-1)  # whether q begins in the first block
        along = "alpha repetition"
        return outcome(
            {
                "alpha": self.alphas,
                "pair": self.pairs,
                "repetition": self.repetitions,
                "state": sum(SIZES),
            },
            divergence=(
                "alpha pair",
                [divergences.alpha_divergence(*densities, a, step) for a in self.alphas],
            ),
            support=("repetition", (p > 0).sum(-1)),
            covered=(along, runs.sum(-1)),
            outside=(along, (runs & (p == 0)).sum(-1)),
            missed=(along, (p * ~runs).sum(-1)),
            block_mass=(along, np.where(first, share, 1 - share)),
            first_p=("state", p[0]),
            first_q=("alpha state", runs[:, 0] / runs[:, 0].sum(-1, keepdims=True)),
        )

    def _two_blocks(self, rng: Generator) -> tuple[Floats, Floats]:
        """Distributions (B, K) of two blocks with a gap, and the mass of the first block."""
        one, gap, two = SIZES
        share = rng.uniform(0.1, 0.9, (self.repetitions, 1))
        p = np.zeros((self.repetitions, sum(SIZES)))
        p[:, :one] = share * rng.dirichlet(np.ones(one), self.repetitions)
        p[:, one + gap :] = (1 - share) * rng.dirichlet(np.ones(two), self.repetitions)
        return p, share[:, 0]


def _normal(x: Floats, m: Floats, v: Floats) -> Floats:
    off = x - m[:, None]
    return np.asarray(np.exp(-(off**2) / (2 * v[:, None])) / np.sqrt(2 * np.pi * v[:, None]))
