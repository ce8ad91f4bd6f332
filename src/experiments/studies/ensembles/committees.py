"""Gain of a committee over its members, in theory and with bootstrap samples (PRML 14.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies._curves import SyntheticCurve
from bythebook.models.regression import committees as models
from bythebook.models.regression.bias_variance import ridge_predictions
from bythebook.models.regression.committees import committee_errors
from bythebook.models.regression.curves import DESIGNS, powers

GROUPS = 20  # committees whose members have separate data sets
SHOWN = 20  # members drawn
TRIALS = 1000  # committees with skewed errors; twice as many with other weights


@dataclass
class Committees(SyntheticCurve, Study):
    """Errors of polynomials fitted to bootstrap sets, and of members that correlate (PRML 14.2)."""

    n: int = knob(25, "points in a data set", at_least=2)
    design: str = knob("uniform", "inputs equally spaced or drawn uniformly", choices=DESIGNS)
    members: list[int] = knob([1, 5, 20, 100], "counts", at_least=1, at_most=1000, distinct=True)
    orders: list[int] = knob(
        [1, 3, 5, 9], "of the fits", at_least=0, at_most=20, distinct=True, may_be_empty=True
    )
    penalty: float = knob(1e-6, "on squared weights, some of which a sample leaves free", above=0)
    repetitions: int = knob(100, "data sets, each with its committee", at_least=2, at_most=10_000)
    correlations: list[float] = knob(
        [0.0, 0.9], "of two errors", at_least=0, at_most=1, distinct=True, may_be_empty=True
    )
    points: int = knob(100_000, "where members correlate", at_least=100, at_most=1_000_000)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if max(self.members) >= self.points:
            yield f"study.members={self.members}; allowed: < study.points={self.points}"
        if not self.orders and not self.correlations:
            yield "study.orders and study.correlations are empty; give one of them"

    def run(self, rng: Generator) -> Outcome:
        members = axis("members", sorted(self.members))
        theory = self._theory(members, rng) if self.correlations else {}
        return Outcome(**theory, **(self._bootstrap(members, rng) if self.orders else {}))

    def _theory(self, members: Axis, rng: Generator) -> dict[str, Quantity]:
        """Members with equal errors, by number and correlation; other losses and weights."""
        correlation, zero = axis("correlation", self.correlations), np.zeros(self.points)
        ratio, expected = np.empty((2, len(correlation), len(members)))
        for i, rho in enumerate(self.correlations):
            for j, M in enumerate(members.values):
                errors = models.correlated_errors(rho, M, self.points, rng)
                found = committee_errors(errors, zero)
                ratio[i, j] = found.committee / found.average
                expected[i, j] = models.committee_ratio(rho, M)
        losses = models.skewed_losses(max(*self.members, 2), TRIALS, rng)
        by_loss = axis("loss", list(models.LOSSES)), axis("trial", TRIALS)
        weighted, draw = models.weighted_means(4, 2 * TRIALS, rng), axis("draw", 2 * TRIALS)
        return {
            "ratio": over(ratio, correlation, members),
            "expected_ratio": over(expected, correlation, members),
            "average_loss": over(losses.average, *by_loss),
            "committee_loss": over(losses.committee, *by_loss),
            "convex_stays_inside": draw.of(weighted.convex_stay_inside),
            "weights_are_convex": draw.of(weighted.are_convex),
            "weights_stay_inside": draw.of(weighted.stay_inside),
        }

    def _bootstrap(self, members: Axis, rng: Generator) -> dict[str, Quantity]:
        """Members fitted to samples of one data set, and to separate data sets."""
        order, grid = axis("order", sorted(self.orders)), axis("x", self.grid(101))
        most, h = max(self.members), self.truth(grid.values)
        repetition, shown = axis("repetition", self.repetitions), axis("member", min(SHOWN, most))
        x, t = self.sample(rng, self.repetitions)
        x_own, t_own = self.sample(rng, GROUPS * most)  # a data set for every member
        found = []
        for k in order.values:
            Phi, Phi_grid = powers(x, k), powers(grid.values, k)
            y = models.bootstrap_predictions(Phi, t, Phi_grid, most, rng, self.penalty)
            alone = ridge_predictions(Phi, t, Phi_grid, self.penalty)[0]  # (repetitions, grid)
            own = ridge_predictions(powers(x_own, k), t_own, Phi_grid, self.penalty)[0]
            own = own.reshape(GROUPS, most, len(grid))
            average, committee = models.errors_by_size(y, h, members.values)
            found.append(
                {
                    "average_error": average,
                    "committee_error": committee,
                    "single_error": np.mean((alone - h) ** 2, axis=-1),  # of a fit to all points
                    "independent_error": models.errors_by_size(own, h, members.values).committee,
                    "member_curve": y[0, : len(shown)],
                    "committee_curve": y[0].mean(0),
                }
            )
        axes = {
            "single_error": (repetition,),
            "independent_error": (members, axis("group", GROUPS)),
            "member_curve": (shown, grid),
            "committee_curve": (grid,),
        }
        return self.drawn(x[0], t[0], len(grid)) | {
            name: over([one[name] for one in found], order, *axes.get(name, (members, repetition)))
            for name in found[0]
        }
