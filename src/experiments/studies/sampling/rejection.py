"""Rejection sampling: what is kept, how often, and in how many dimensions (PRML 11.1.2-3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.sampling import rejection as models
from models.sampling.rejection import Pair
from models.sampling.uniformity import even
from models.types import Floats

FEWEST = 5  # values kept of which a distribution can be asked
U = np.linspace(0.1, 0.9, 9)  # uniform numbers of which draws of the proposals are kept
CURVE = 201  # points of the curves in the figure
SHOWN = 300  # pairs of a height and a candidate in the figure


@dataclass
class Rejection(Study):
    """Targets under proposals, with multiples of the smallest k and products of several targets."""

    headline = {"acceptance": "min(mean(acceptance, over='repetition'))"}

    pairs: list[str] = knob(
        ["bumps 3"],
        "a target under a proposal: bumps and their distance, cauchy and the width of a Gaussian"
        " under it, gamma and its shape, wider and the deviation of a Gaussian",
        distinct=True,
    )
    dimensions: list[int] = knob(
        [1], "targets multiplied with each other", at_least=1, at_most=100, distinct=True
    )
    factors: list[float] = knob([1.0], "multiples of the smallest k", at_least=1, distinct=True)
    widths: list[float] = knob(
        [],
        "Gaussian proposals of which to ask whether p / q is bounded",
        above=0,
        may_be_empty=True,
    )
    draws: int = knob(3000, "candidates of a repetition", at_least=100, at_most=100_000)
    repetitions: int = knob(100, "sets of candidates", at_least=2, at_most=10_000)

    def problems(self) -> Iterator[str]:
        try:
            for name in self.pairs:
                models.named(name)
        except ValueError as told:
            yield f"study.pairs: {told}"
        if self.draws * self.repetitions * max(self.dimensions) > 20_000_000:
            yield "study.draws times repetitions times dimensions; allowed: <= 20000000"

    def run(self, rng: Generator) -> Outcome:
        pairs = {name: models.named(name) for name in self.pairs}
        pair, repetition = axis("pair", self.pairs), axis("repetition", self.repetitions)
        where = axis("dimension", self.dimensions), axis("factor", self.factors)
        log_k = np.array([models.log_smallest_k(p) for p in pairs.values()])
        cells = [self._tried(p, k, rng) for p, k in zip(pairs.values(), log_k, strict=True)]
        found = {
            name: over([cell[name] for cell in cells], pair, *where, repetition)
            for name in cells[0]
        }
        found |= {
            "area": pair.of([models.area(p) for p in pairs.values()]),
            "smallest_k": pair.of(np.exp(log_k)),
            "excess": pair.of(
                [models.excess(p, k) for p, k in zip(pairs.values(), log_k, strict=True)]
            ),
        }
        found |= _at_quantiles(pairs, log_k)
        found |= self._curves(next(iter(pairs.values())), log_k[0], rng)
        if self.widths:
            found["growth"] = axis("width", self.widths).of([models.growth(w) for w in self.widths])
        if all(name.startswith("gamma") for name in self.pairs):
            found |= self._of_gamma(pairs, rng)
        return Outcome(**found)

    def _tried(self, pair: Pair, log_k: float, rng: Generator) -> dict[str, Floats]:
        """Rates and probabilities of tests, over dimensions, factors and repetitions."""
        shape = len(self.dimensions), len(self.factors), self.repetitions
        cdf = models.distribution(pair)
        names = ("acceptance", "proposal_p", "kept_p", "height_p")
        found = {name: np.ones(shape) for name in names}
        for (d, D), (f, factor) in product(enumerate(self.dimensions), enumerate(self.factors)):
            of_all = D * log_k + np.log(factor)
            tried = models.tries(pair, of_all, (self.repetitions, self.draws, D), rng)
            found["acceptance"][d, f] = tried.kept.mean(-1)
            flat = tried.z.reshape(self.repetitions, -1)
            found["proposal_p"][d, f] = even(pair.proposal_cdf(flat))
            for r, kept in enumerate(tried.kept):
                if kept.sum() >= FEWEST:
                    found["kept_p"][d, f, r] = even(cdf(tried.z[r, kept]).ravel())
                    found["height_p"][d, f, r] = even(tried.height[r, kept])
        return found

    def _of_gamma(self, pairs: dict[str, Pair], rng: Generator) -> dict[str, Quantity]:
        """What a search over Cauchy densities finds; and the tangent as Exercise 11.7 prints it."""
        pair, repetition = axis("pair", self.pairs), axis("repetition", self.repetitions)
        shapes = [float(name.split()[1]) for name in self.pairs]
        best = np.array([models.best_cauchy(a, at_mode=False) for a in shapes])
        u = rng.random((len(shapes), self.repetitions, self.draws))
        printed = [
            even(p.proposal_cdf(models.tangent_of_unit(p, row)))
            for p, row in zip(pairs.values(), u, strict=True)
        ]
        return {
            "best_acceptance": pair.of(best[:, 0]),
            "best_place": pair.of(best[:, 1]),
            "best_width": pair.of(best[:, 2]),
            "best_at_mode": pair.of([models.best_cauchy(a, at_mode=True)[0] for a in shapes]),
            "maxima": pair.of([models.maxima(p) for p in pairs.values()]),
            "printed_tangent_p": over(printed, pair, repetition),
            "printed_tangent": over(
                [models.tangent_of_unit(p, U) for p in pairs.values()], pair, axis("u", U)
            ),
        }

    def _curves(self, pair: Pair, log_k: float, rng: Generator) -> dict[str, Quantity]:
        """Of the first pair: the target, k q, and some candidates with their heights."""
        tried = models.tries(pair, log_k, (SHOWN, 1), rng)
        low, high = np.quantile(tried.z, [0.03, 0.97])
        z = axis("z", np.linspace(low, high, CURVE))
        shot = axis("shot", SHOWN)
        target = np.exp(pair.log_target(z.values))
        height = tried.height * np.exp(pair.log_target(tried.z[:, 0]))
        return {
            "target_curve": z.of(target),
            "comparison_curve": z.of(np.exp(pair.log_proposal(z.values) + log_k)),
            "shot_z": shot.of(tried.z[:, 0]),
            "shot_height": shot.of(np.where(tried.kept, height, 0.0)),
            "shot_kept": shot.of(tried.kept),
        }


def _at_quantiles(pairs: dict[str, Pair], log_k: Floats) -> dict[str, Quantity]:
    """Draws of the proposals that some uniform numbers give; target and k q there."""
    where = axis("pair", list(pairs)), axis("u", U)
    z = [pair.quantile(U) for pair in pairs.values()]
    each = list(zip(pairs.values(), z, log_k, strict=True))
    return {
        "place": over(z, *where),
        "target_there": over([np.exp(pair.log_target(at)) for pair, at, _ in each], *where),
        "comparison_there": over(
            [np.exp(pair.log_proposal(at) + k) for pair, at, k in each], *where
        ),
    }
