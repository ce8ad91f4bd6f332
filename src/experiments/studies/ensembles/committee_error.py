"""The error of a committee against that of its members (PRML 14.8-14.14, exercises 14.2-14.5)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.regression.bias_variance import committee_errors, committee_ratio, correlated_errors
from models.types import Bools, Floats

LOSSES: dict[str, Callable[[Floats], Floats]] = {  # convex in the error but for the last
    "square": np.square,
    "absolute": np.abs,
    "fourth_power": lambda e: e**4,
    "exponential": np.exp,
    "root": lambda e: np.sqrt(np.abs(e)),
}


@dataclass
class CommitteeError(Study):
    """Errors of committees by size and correlation, under other losses and weights (PRML 14.2)."""

    members: list[int] = knob([1, 2, 5, 10, 50], "of a committee", at_least=1, distinct=True)
    correlations: list[float] = knob(
        [0.0, 0.2, 0.5, 0.9], "of two members' errors", at_least=0, at_most=1, distinct=True
    )
    points: int = knob(100_000, "inputs to average over", at_least=100, at_most=1_000_000)

    def problems(self) -> Iterator[str]:
        if max(self.members) >= self.points:
            yield f"study.members={self.members}; allowed: < study.points={self.points}"

    def run(self, rng: Generator) -> Outcome:
        members = axis("members", sorted(self.members))
        correlation = axis("correlation", self.correlations)
        ratio, expected = np.empty((2, len(correlation), len(members)))
        for i, rho in enumerate(self.correlations):
            for j, M in enumerate(members.values):
                errors = correlated_errors(rho, M, self.points, rng)
                found = committee_errors(errors, np.zeros(self.points))
                ratio[i, j] = found.committee / found.average
                expected[i, j] = committee_ratio(rho, M)
        # Mean squares of Gaussians: relative variance 2 / points above, no more below.
        z = (ratio / expected - 1) / np.sqrt(4 / self.points)
        gaps = [_uncorrelated_gap(M, self.points, rng) for M in self.members]
        return Outcome(
            ratio=over(ratio, correlation, members),
            expected_ratio=over(expected, correlation, members),
            ratio_z=over(z, correlation, members),
            uncorrelated_gap=axis("exact_members", self.members).of(gaps),
            **_losses(max(self.members), rng),
            **_weighted(rng),
        )


def _uncorrelated_gap(members: int, points: int, rng: Generator) -> float:
    """(14.14) for errors whose means and products vanish exactly, relative gap."""
    v = rng.standard_normal((points, members))
    Q, _ = np.linalg.qr(np.column_stack([np.ones(points), v]))  # (14.12), (14.13)
    found = committee_errors(Q[:, 1:].T * rng.uniform(0.5, 2, (members, 1)), np.zeros(points))
    return abs(float(found.committee * members / found.average) - 1)


def _losses(members: int, rng: Generator, trials: int = 1000) -> dict[str, Quantity]:
    """The mean losses of committees with skewed errors, and of their members."""
    errors = rng.gamma(1.0, size=(trials, max(members, 2), 20)) - rng.uniform(0, 2, (trials, 1, 1))
    together = [loss(errors.mean(1)).mean(-1) for loss in LOSSES.values()]
    apart = [loss(errors).mean((1, 2)) for loss in LOSSES.values()]
    axes = axis("loss", list(LOSSES)), axis("trial", trials)
    return {"committee_loss": over(together, *axes), "average_loss": over(apart, *axes)}


def _weighted(rng: Generator, trials: int = 2000, members: int = 4) -> dict[str, Quantity]:
    """Ex. 14.5: weighted means stay between the members' extremes if and only if (14.57)."""
    convex = rng.dirichlet(np.ones(members), trials)
    stay = _between(convex, rng.standard_normal((trials, members)))
    # A third sums to anything, a third to one with any signs, a third obeys the rule.
    weights = rng.normal(1 / members, 0.5, (trials, members))
    weights[trials // 3 :] /= weights[trials // 3 :].sum(-1, keepdims=True)
    weights[2 * trials // 3 :] = convex[2 * trials // 3 :]
    obeys = np.all(weights >= 0, axis=-1) & (np.abs(weights.sum(-1) - 1) < 1e-9)
    # Two sets of predictions that find out: all 1, and 1 at the least weight and 0 elsewhere.
    least = (weights == weights.min(-1, keepdims=True)).astype(np.float64)
    held = _between(weights, np.ones((trials, members))) & _between(weights, least)
    draw = axis("draw", trials)
    return {
        "convex_stays_inside": draw.of(stay),
        "weights_are_convex": draw.of(obeys),
        "weights_stay_inside": draw.of(held),
    }


def _between(weights: Floats, y: Floats) -> Bools:
    """Is y_min <= y_COM <= y_max (14.56), up to rounding?"""
    mean = np.sum(weights * y, axis=-1)
    return np.asarray((y.min(-1) - 1e-9 <= mean) & (mean <= y.max(-1) + 1e-9))
