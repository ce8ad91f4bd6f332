"""Gain of a bootstrap committee over its members, and over one fit (PRML 14.2)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies._curves import SyntheticCurve
from bythebook.models.regression import committees as models
from bythebook.models.regression.bias_variance import ridge_predictions
from bythebook.models.regression.curves import DESIGNS, powers

GROUPS = 20  # committees whose members have separate data sets
SHOWN = 20  # members drawn


@dataclass
class Committees(SyntheticCurve, Study):
    """Errors of polynomials fitted to bootstrap sets, and to data sets of their own (PRML 14.2)."""

    headline = {"committee_error": "median(committee_error)"}
    quantities = {
        "average_error": quantity(
            "mean squared error of the members about the true curve",
            "order members repetition",
            equation="PRML 14.10",
        ),
        "committee_error": quantity(
            "squared error of the committee about the true curve",
            "order members repetition",
            equation="PRML 14.11",
        ),
        "single_error": quantity(
            "squared error of a fit to the whole data set", "order repetition"
        ),
        "independent_error": quantity(
            "squared error of a committee whose members have data sets of their own",
            "order members group",
        ),
        "member_curve": quantity("predictions of members", "order member x"),
        "committee_curve": quantity("prediction of the committee", "order x"),
        "truth": quantity("true curve", "x"),
        "inputs": quantity("inputs of the first data set", "point"),
        "targets": quantity("targets of the first data set", "point"),
    }
    axes = {
        "order": axis_of("polynomial order"),
        "members": axis_of("members of the committee"),
        "repetition": axis_of("data set"),
        "group": axis_of("committee with data sets of its own"),
        "member": axis_of("member of the committee"),
        "x": axis_of("input"),
        "point": axis_of("point of the first data set"),
    }

    n: int = knob(25, "points in a data set", at_least=2)
    design: str = knob("uniform", "inputs equally spaced or drawn uniformly", choices=DESIGNS)
    members: list[int] = knob([1, 5, 20, 100], "counts", at_least=1, at_most=1000, distinct=True)
    orders: list[int] = knob([1, 3, 5, 9], "of the fits", at_least=0, at_most=20, distinct=True)
    penalty: float = knob(1e-6, "on squared weights, some of which a sample leaves free", above=0)
    repetitions: int = knob(100, "data sets, each with its committee", at_least=2, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        members, orders = sorted(self.members), sorted(self.orders)
        grid, most = self.grid(101), max(self.members)
        h, shown = self.truth(grid), min(SHOWN, most)
        x, t = self.sample(rng, self.repetitions)
        x_own, t_own = self.sample(rng, GROUPS * most)  # a data set for every member
        found = []
        for k in orders:
            Phi, Phi_grid = powers(x, k), powers(grid, k)
            y = models.bootstrap_predictions(Phi, t, Phi_grid, most, rng, self.penalty)
            alone = ridge_predictions(Phi, t, Phi_grid, self.penalty)[0]  # (repetitions, grid)
            own = ridge_predictions(powers(x_own, k), t_own, Phi_grid, self.penalty)[0]
            own = own.reshape(GROUPS, most, len(grid))
            single = np.mean((alone - h) ** 2, axis=-1)
            independent = models.errors_by_size(own, h, members).committee
            bagged = models.errors_by_size(y, h, members)
            found.append((*bagged, single, independent, y[0, :shown], y[0].mean(0)))
        parts = list(zip(*found, strict=True))
        coords: dict[str, Any] = {"order": orders, "members": members, "group": GROUPS}
        coords |= {"repetition": self.repetitions, "member": shown, "x": grid, "point": self.n}
        return outcome(
            coords,
            average_error=("order members repetition", parts[0]),
            committee_error=("order members repetition", parts[1]),
            single_error=("order repetition", parts[2]),
            independent_error=("order members group", parts[3]),
            member_curve=("order member x", parts[4]),
            committee_curve=("order x", parts[5]),
            truth=("x", h),
            inputs=("point", x[0]),
            targets=("point", t[0]),
        )
