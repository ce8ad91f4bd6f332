"""The alpha family of divergences: limits, signs and zero forcing (PRML 10.1.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
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
    more_quantities = True
    quantities = {
        "divergence": quantity("alpha divergence of two Gaussians", "alpha pair", unit="nats"),
    }

    alphas: list[float] = knob(
        [-3.0, -0.5, 0.0, 0.5, 3.0], "of divergences between Gaussians", at_least=-3, at_most=3
    )
    pairs: int = knob(100, "pairs of Gaussians", at_least=3, at_most=10_000)
    forcing: list[float] = knob([-2.0, -1.0], "alphas of zero forcing", at_most=-1)
    avoiding: list[float] = knob([1.0, 2.0], "alphas of zero avoiding", at_least=1)
    blocks: int = knob(100, "distributions of two blocks", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        if {-1.0, 1.0} & set(self.alphas):
            yield "study.alphas: 1 and -1 are limits; allowed: all between and beyond"

    def run(self, rng: Generator) -> Outcome:
        alpha, pair = axis("alpha", self.alphas), axis("pair", self.pairs)
        direction = axis("direction", ["p||q", "q||p"])
        m = rng.uniform(-1, 1, self.pairs)
        n = m + rng.choice([-1, 1], self.pairs) * rng.uniform(0.2, 1.5, self.pairs)  # apart
        v, w = rng.uniform(0.75, 1.4, (2, self.pairs))  # no ratio above 2: all are finite
        x = np.linspace(-25, 25, 2001)
        p, q, room = _normal(x, m, v), _normal(x, n, w), x[1] - x[0]
        far = np.sqrt(divergences.gaussian_hellinger(m, v, n, w))
        third = np.roll(m, 1), np.roll(v, 1)
        other = np.sqrt(divergences.gaussian_hellinger(m, v, *third))
        last = np.sqrt(divergences.gaussian_hellinger(n, w, *third))
        sides = np.array([far, other, last])
        of = divergences.alpha_divergence
        return Outcome(
            divergence=over([of(p, q, a, room) for a in self.alphas], alpha, pair),
            divergence_of_equals=over([of(p, p, a, room) for a in self.alphas], alpha, pair),
            swapped_divergence=pair.of(of(q, p, 0.0, room)),
            kullback_leibler=over(
                [divergences.gaussian_kl(m, v, n, w), divergences.gaussian_kl(n, w, m, v)],
                direction,
                pair,
            ),
            hellinger=pair.of(far**2),
            hellinger_integral=pair.of(((np.sqrt(p) - np.sqrt(q)) ** 2).sum(-1) * room),  # 10.20
            closed_divergence=over([_closed(a, m, v, n, w) for a in self.alphas], alpha, pair),
            limit_divergence=over([of(p, q, a, room) for a in (1.0, -1.0)], direction, pair),
            triangle_slack=over(sides.sum(0) - 2 * sides, axis("side", 3), pair),
            **self._supports(rng),
        )

    def _supports(self, rng: Generator) -> dict[str, Quantity]:
        """The part of a p in two blocks that the best q covers, and the part of q outside p."""
        draw = axis("blocks", self.blocks)
        one, gap, two = SIZES
        share = rng.uniform(0.1, 0.9, (self.blocks, 1))
        p = np.zeros((self.blocks, sum(SIZES)))
        p[:, :one] = share * rng.dirichlet(np.ones(one), self.blocks)
        p[:, one + gap :] = (1 - share) * rng.dirichlet(np.ones(two), self.blocks)
        forced = np.array([divergences.best_run(p, a).covered for a in self.forcing])
        avoided = np.array([divergences.best_run(p, a).covered for a in self.avoiding])
        first = forced[..., :one].any(-1)  # the block where q lies
        low, high = axis("forcing", self.forcing), axis("avoiding", self.avoiding)
        return {
            "held_states": draw.of((p > 0).sum(-1)),
            "forced_outside": over((forced & (p == 0)).sum(-1), low, draw),
            "forced_states": over(forced.sum(-1), low, draw),
            "forced_block_mass": over(np.where(first, share[:, 0], 1 - share[:, 0]), low, draw),
            "avoiding_missed": over((p * ~avoided).sum(-1), high, draw),
            "avoiding_states": over(avoided.sum(-1), high, draw),
            "shown_p": axis("state", p.shape[1]).of(p[0]),
            "shown_forced": over(forced[:, 0].astype(int), low, axis("state", p.shape[1])),
            "shown_avoiding": over(avoided[:, 0].astype(int), high, axis("state", p.shape[1])),
        }


def _closed(alpha: float, m: Floats, v: Floats, n: Floats, w: Floats) -> Floats:
    """Divergence (10.19) of N(m, v) and N(n, w), whose powers multiply to a Gaussian."""
    high, low = (1 + alpha) / 2, (1 - alpha) / 2
    wide = high * w + low * v
    integral = v ** (low / 2) * w ** (high / 2) / np.sqrt(wide)
    integral = integral * np.exp(-high * low * (m - n) ** 2 / (2 * wide))
    return np.asarray((1 - integral) / (high * low))


def _normal(x: Floats, m: Floats, v: Floats) -> Floats:
    off = x - m[:, None]
    return np.asarray(np.exp(-(off**2) / (2 * v[:, None])) / np.sqrt(2 * np.pi * v[:, None]))
