"""A mixture of straight lines by EM (PRML 14.5.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import place_problems
from bythebook.models.clustering import linear_mixture as lines
from bythebook.models.regression.linear import line as line_design
from bythebook.models.types import Floats

LIMIT = 2000  # iterations of EM at most
CLOSE = 1e-3  # log units below the end that count as close to convergence
FAR = 3  # standard deviations of the noise beyond which there are no data
EARLY = 101  # log likelihoods of the random starts that are recorded


@dataclass
class LineMixture(Study):
    """Lines fitted by EM to points along the two arms of a V (PRML 14.5.1, Figure 14.8)."""

    headline = {
        "median_iterations_until_close": "median(iterations_until_close)",
        "final_log_likelihood": "last(log_likelihood)",
    }
    quantities = {
        "inputs": quantity("inputs of the first data set", "point"),
        "targets": quantity("targets of the first data set", "point"),
        "lines": quantity("lines in some iterations", "snapshot line w"),
        "responsibilities": quantity(
            "responsibilities of the lines", "snapshot point line", equation="PRML 14.37"
        ),
        "log_likelihood": quantity(
            "log likelihood of the mixture of lines", "iteration", unit="nats"
        ),
        "random_climb": quantity(
            "log likelihood from random lines", "random_start early_iteration", unit="nats"
        ),
        "final_log_likelihood": quantity(
            "final log likelihood of the mixture", "repetition", unit="nats"
        ),
        "single_line_log_likelihood": quantity(
            "log likelihood of one line", "repetition", unit="nats"
        ),
        "slopes": quantity("slopes of the lines, the smaller one first", "repetition line"),
        "predictive_modes": quantity("maxima of the predictive density", "repetition x"),
        "mass_without_data": quantity(
            "predictive probability of targets farther than three standard deviations from the V",
            "repetition",
        ),
        "iterations_until_close": quantity(
            "iterations until EM is close to its final log likelihood", "repetition"
        ),
    }
    axes = {
        "point": axis_of("point"),
        "snapshot": axis_of("iteration"),
        "line": axis_of("line"),
        "w": axis_of("intercept or slope"),
        "iteration": axis_of("iteration"),
        "early_iteration": axis_of("iteration"),
        "random_start": axis_of("random start"),
        "repetition": axis_of("data set"),
        "x": axis_of("input"),
    }

    n: int = knob(50, "points", at_least=5, at_most=100_000)
    slope: float = knob(1.4, "slope of the right arm; the left has its negative")
    vertex: float = knob(-0.7, "the target where the arms meet, at x = 0")
    noise: float = knob(0.15, "standard deviation of the noise", above=0)
    start: list[list[float]] = knob([[0.0, 0.5], [0.0, -0.5]], "intercepts and slopes at first")
    snapshots: list[int] = knob([30, 50], "iterations to record", at_least=1, distinct=True)
    restarts: int = knob(200, "further starts, from random lines", at_least=1, at_most=10_000)
    repetitions: int = knob(200, "data sets; the first is drawn", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        yield from place_problems("start", self.start, 2)

    def _vee(self, x: Floats) -> Floats:
        return np.asarray(self.slope * np.abs(x) + self.vertex)

    def run(self, rng: Generator) -> Outcome:
        shape = self.repetitions, self.n
        x = np.sort(rng.uniform(-1, 1, shape), axis=1)
        t = self._vee(x) + self.noise * rng.standard_normal(shape)
        start, limits = np.array([self.start]), dict[str, Any](tol=0, max_iter=LIMIT)
        Phi = np.stack([np.ones_like(x), x], axis=-1)  # (S, N, 2): one batch for all data sets
        every = lines.fit_each(Phi, t, lines.start_at(np.tile(start, (len(x), 1, 1)), t), **limits)
        one_line = lines.start_at(np.zeros((len(x), 1, 2)), t)
        alone = lines.fit_each(Phi, t, one_line)  # a mixture of one

        grid = np.linspace(-1, 1, 41)
        at_grid, arms, far = line_design(grid), self._vee(grid), FAR * self.noise
        inside = lines.mass_between(at_grid, every.theta, arms - far, arms + far).mean(axis=1)
        until_close = np.argmax(every.final[:, None] - every.objective < CLOSE, axis=1)
        coords, found = self._first(Phi[0], x[0], t[0], rng)
        return outcome(
            coords | {"repetition": len(x), "x": grid},
            final_log_likelihood=("repetition", every.final),
            single_line_log_likelihood=("repetition", alone.final),
            slopes=("repetition line", np.sort(every.theta.w[..., 1], axis=1)),
            predictive_modes=("repetition x", lines.predictive_modes(at_grid, every.theta)),
            mass_without_data=("repetition", 1 - inside),  # on average over inputs
            iterations_until_close=("repetition", until_close),
            **found,
        )

    def _first(
        self, Phi: Floats, x: Floats, t: Floats, rng: Generator
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The first data set: snapshots on the way, and random lines to start from."""
        steps, K = [0, *sorted(self.snapshots)], len(self.start)
        begin = lines.start_at(np.array([self.start]), t)
        one = lines.fit(Phi, t, begin, snapshots=steps, tol=0, max_iter=LIMIT)
        begin = lines.start_at_random(Phi, t, K, rng, self.restarts)
        climbs = lines.fit(Phi, t, begin, max_iter=LIMIT).objective[:, :EARLY]
        L = one.objective[0][: int(one.iterations[0]) + 1]
        shown = [one.snapshots[step] for step in steps]
        coords = {"point": self.n, "snapshot": steps, "line": K, "w": ["intercept", "slope"]}
        coords |= {"iteration": len(L), "random_start": self.restarts}
        return coords | {"early_iteration": climbs.shape[1]}, {
            "inputs": ("point", x),
            "targets": ("point", t),
            "lines": ("snapshot line w", [theta.w[0] for theta in shown]),
            "responsibilities": (
                "snapshot point line",
                [lines.responsibilities(Phi, t, theta)[0] for theta in shown],
            ),
            "log_likelihood": ("iteration", L),
            "random_climb": ("random_start early_iteration", climbs),
        }
