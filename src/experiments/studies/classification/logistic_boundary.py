"""Logistic regression with squared inputs draws a curved line (FCML 5.2.2.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.classification._plane import clouds, labelled, mesh
from models.classification.logistic import Posterior, newton_raphson, predict
from models.types import Floats

WEIGHTS = ["1", "x1", "x2", "x1^2", "x2^2"]  # FCML 5.10
FEATURES = {"linear": 3, "quadratic": 5}  # how many of them


@dataclass
class LogisticBoundary(Study):
    """MAP logistic regression on linear and on quadratic features of two inputs (FCML 5.10)."""

    headline = {f"accuracy_{name}": f"mean(training_accuracy['{name}'])" for name in FEATURES}

    centres: list[list[float]] = knob(
        [[5.0, 1.0], [0.0, 0.0], [2.0, 3.0]], "centres of round clouds of unit variance"
    )
    sizes: list[int] = knob([50, 50, 100], "points in each cloud", at_least=1, at_most=10_000)
    classes: list[int] = knob([0, 0, 1], "the class of each cloud", choices=(0, 1))
    prior_variance: float = knob(10.0, "variance of the prior of each weight", above=0)
    low: list[float] = knob([-3.0, -3.0], "least coordinates of the map")
    high: list[float] = knob([8.0, 6.0], "largest coordinates of the map")
    repetitions: int = knob(40, "sets of points; the first is drawn", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        if not len(self.centres) == len(self.sizes) == len(self.classes):
            yield "study.centres, sizes and classes need an entry for each cloud"
        elif any(len(c) != 2 for c in (*self.centres, self.low, self.high)):
            yield f"study.centres={self.centres}, low and high: allowed: places in the plane"

    def run(self, rng: Generator) -> Outcome:
        X = clouds(self.centres, self.sizes, self.repetitions, rng)
        t = np.repeat(np.array(self.classes, dtype=float), self.sizes)
        x1, x2, grid = mesh(self.low, self.high, 0.1)
        which, repetition = axis("features", list(FEATURES)), axis("repetition", self.repetitions)
        accuracy = np.empty((len(which), self.repetitions))
        steps = np.empty((len(which), self.repetitions), dtype=int)
        weights = np.zeros((len(which), self.repetitions, len(WEIGHTS)))
        maps = []
        for i, many in enumerate(FEATURES.values()):
            for r, points in enumerate(X):
                Phi = design(points)[:, :many]
                fit = newton_raphson(Posterior(Phi, t, self.prior_variance), np.zeros((1, many)))
                accuracy[i, r] = ((predict(fit.path[-1], Phi) > 0.5) == (t == 1)).mean()
                steps[i, r], weights[i, r, :many] = fit.steps[0], fit.path[-1, 0]
            maps.append(predict(weights[i, :1, :many], design(grid.reshape(-1, 2))[:, :many]))
        return Outcome(
            **labelled(X[0], t),
            training_accuracy=over(accuracy, which, repetition),
            newton_steps=over(steps, which, repetition),
            weight=over(weights, which, repetition, axis("feature", WEIGHTS)),
            probability_map=over(np.reshape(maps, (-1, len(x2), len(x1))), which, x2, x1),
        )


def design(X: Floats) -> Floats:
    """1, x_1, x_2 and their squares, for points (N, 2)."""
    return np.column_stack([np.ones(len(X)), X, X**2])  # FCML 5.10
