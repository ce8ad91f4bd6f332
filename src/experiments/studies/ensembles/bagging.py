"""Committees of fits to resampled data, and to data sets of their own (PRML 14.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.regression.bias_variance import (
    bootstrap_predictions,
    committee_errors,
    ridge_predictions,
)
from models.regression.curves import DESIGNS, inputs, noisy, powers, sine
from models.types import Floats

GROUPS = 20  # committees whose members have data sets of their own
SHOWN = 20  # members drawn


@dataclass
class Bagging(Study):
    """Polynomials fitted to bootstrap sets of noisy points of sin(2 pi x), 0 <= x <= 1."""

    n: int = knob(25, "points in a data set", at_least=2)
    noise: float = knob(0.3, "standard deviation of the noise", at_least=0)
    design: str = knob("uniform", "inputs equally spaced or drawn uniformly", choices=DESIGNS)
    orders: list[int] = knob([1, 3, 5, 9], "of the fits", at_least=0, at_most=20, distinct=True)
    members: list[int] = knob(
        [1, 5, 20, 100], "sizes of the committee", at_least=1, at_most=1000, distinct=True
    )
    penalty: float = knob(1e-6, "on squared weights, some of which a sample leaves free", above=0)
    repetitions: int = knob(100, "data sets, each with its committee", at_least=2, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        order, members = axis("order", sorted(self.orders)), axis("members", sorted(self.members))
        repetition, group = axis("repetition", self.repetitions), axis("group", GROUPS)
        most, grid = max(self.members), axis("x", np.linspace(0, 1, 101))
        h = sine(grid.values)
        x, t = self._sample(self.repetitions, rng)
        x_own, t_own = self._sample(GROUPS * most, rng)  # a data set for every member
        average, committee = np.empty((2, len(order), len(members), self.repetitions))
        independent = np.empty((len(order), len(members), GROUPS))
        single = np.empty((len(order), self.repetitions))
        first = np.empty((len(order), most, len(grid)))
        for i, k in enumerate(order.values):
            Phi, Phi_grid = powers(x, k), powers(grid.values, k)
            y = bootstrap_predictions(Phi, t, Phi_grid, most, rng, self.penalty)
            alone = ridge_predictions(Phi, t, Phi_grid, self.penalty)[0]  # (repetitions, grid)
            single[i], first[i] = np.mean((alone - h) ** 2, axis=-1), y[0]
            own = ridge_predictions(powers(x_own, k), t_own, Phi_grid, self.penalty)[0]
            own = own.reshape(GROUPS, most, len(grid))
            for j, size in enumerate(members.values):
                average[i, j], committee[i, j] = committee_errors(y[:, :size], h)
                independent[i, j] = committee_errors(own[:, :size], h).committee
        point, shown = axis("point", self.n), axis("member", min(SHOWN, most))
        return Outcome(
            average_error=over(average, order, members, repetition),
            committee_error=over(committee, order, members, repetition),
            single_error=over(single, order, repetition),  # of one fit to all points
            independent_error=over(independent, order, members, group),
            member_curve=over(first[:, : len(shown)], order, shown, grid),
            committee_curve=over(first.mean(1), order, grid),
            inputs=point.of(x[0]),
            targets=point.of(t[0]),
            truth=grid.of(h),
        )

    def _sample(self, n_sets: int, rng: Generator) -> tuple[Floats, Floats]:
        x = inputs(self.n, 0.0, 1.0, self.design, n_sets, rng)
        return x, noisy(sine(x), self.noise, rng)
