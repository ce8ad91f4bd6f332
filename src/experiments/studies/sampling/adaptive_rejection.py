"""Adaptive rejection sampling: an envelope of tangents that is refined (PRML 11.1.3)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling.adaptive_rejection import (
    BUMPS,
    CONCAVE,
    Run,
    adapt,
    metropolis,
)
from bythebook.models.sampling.uniformity import even
from bythebook.models.types import AnyArray, Floats

GRID = np.array([-3.0, 0.0, 3.0])  # tangents of two bumps, one in the valley between them
STEPS = 30  # of chains on them
CURVE = 161  # points of the curves in the figure


@dataclass
class AdaptiveRejection(Study):
    """Adaptive rejection from random starting points, and with a Metropolis step (PRML 11.1.3)."""

    headline = {"rejected": "mean(last(rejection_probability, over='points'))"}
    quantities = {
        "rejection_probability": quantity(
            "probability that the next candidate is rejected", "target repetition run points"
        ),
        "rejected": quantity(
            "share of the candidates that is rejected", "target repetition points"
        ),
        "clearance": quantity(
            "smallest distance of the log envelope above the log target", "target points"
        ),
        "draw_p": quantity("p-value of the distribution of the draws", "target draw repetition"),
        "extended_p": quantity("p-value of the draws with a Metropolis step", "repetition"),
        "plain_p": quantity("p-value of the draws without a Metropolis step"),
        "log_target": quantity("log of the unnormalised target", "z"),
        "log_envelope": quantity("log of the envelope", "grid_points z"),
    }
    axes = {
        "draw": axis_of("order of the draw"),
        "grid_points": axis_of("number of envelope points"),
        "points": axis_of("number of envelope points"),
        "repetition": axis_of("group of runs"),
        "run": axis_of("run"),
        "target": axis_of("target"),
        "z": axis_of("value"),
    }

    targets: list[str] = knob(
        ["gaussian"], "log-concave densities", choices=tuple(CONCAVE), distinct=True
    )
    points: int = knob(8, "grid points at the end; two at first", at_least=4, at_most=30)
    draws: int = knob(3, "accepted draws of a run that are analysed", at_least=1, at_most=100)
    runs: int = knob(100, "runs of a repetition", at_least=20, at_most=10_000)
    repetitions: int = knob(40, "groups of runs", at_least=2, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        runs = [self._adapted(name, rng) for name in self.targets]
        draws = [
            even(CONCAVE[name].cdf(self._grouped(run.draws)).swapaxes(1, 2))
            for name, run in zip(self.targets, runs, strict=True)
        ]
        start = rng.normal(0, 2, self.runs * self.repetitions)
        last, plain = metropolis(BUMPS, GRID, start, STEPS, rng)
        few, z, log_target, log_envelope = self._curves(rng)
        return outcome(
            {
                "target": self.targets,
                "repetition": self.repetitions,
                "run": self.runs,
                "points": np.arange(2, self.points + 1),
                "draw": np.arange(1, self.draws + 1),
                "grid_points": few,
                "z": z,
            },
            rejection_probability=(
                "target repetition run points",
                [self._grouped(run.rejection) for run in runs],
            ),
            rejected=(
                "target repetition points",
                [self._grouped(run.tried).mean(1) for run in runs],
            ),
            clearance=("target points", [run.gap.min(0) for run in runs]),
            draw_p=("target draw repetition", [p.swapaxes(0, 1) for p in draws]),
            extended_p=("repetition", even(BUMPS.cdf(self._grouped(last)))),
            plain_p=float(even(BUMPS.cdf(plain))),  # of all of them in one batch
            log_target=("z", log_target),
            log_envelope=("grid_points z", log_envelope),
        )

    def _adapted(self, name: str, rng: Generator) -> Run:
        """All runs of a target, from one starting point on either side of its mode."""
        target = CONCAVE[name]
        count = self.runs * self.repetitions
        left = max(target.least, target.mode - 3 * target.width)
        low = target.mode - (target.mode - left) * rng.uniform(0.1, 0.9, count)
        high = target.mode + 3 * target.width * rng.uniform(0.1, 0.9, count)
        return adapt(target, np.stack([low, high], axis=1), self.points, self.draws, rng)

    def _grouped(self, values: AnyArray) -> AnyArray:
        return values.reshape(self.repetitions, self.runs, *values.shape[1:])

    def _curves(self, rng: Generator) -> tuple[list[int], Floats, Floats, list[Floats]]:
        """The first target: ln p, and the tangents of one run with few and with all points."""
        target = CONCAVE[self.targets[0]]
        low = max(target.least + 0.05, target.mode - 3 * target.width)
        z = np.linspace(low, target.mode + 4 * target.width, CURVE)
        start = np.array([[max(low, target.mode - target.width), target.mode + 2 * target.width]])
        few = sorted({3, self.points})
        seed = int(rng.integers(2**32))  # the same run, stopped earlier and later
        envelopes = [
            adapt(target, start, count, 1, np.random.default_rng(seed)).envelope for count in few
        ]
        return few, z, target.log_p(z), [found.log_q(z[None])[0] for found in envelopes]
