"""Gaussians in the plane: contours and conditionals (FCML 2.5.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.probability.gaussian import Gaussian, conditional, log_density


@dataclass
class GaussianPlane(Study):
    """Densities with several covariances, and conditionals (FCML 2.5.4)."""

    quantities = {
        "density": quantity("density of the Gaussian", "gaussian x2 x1"),
        "conditional_mean": quantity("mean of one variable, given the other", "gaussian given"),
    }
    axes = {
        "gaussian": axis_of("number of the Gaussian"),
        "given": axis_of("value of the other variable"),
        "x1": axis_of("first variable"),
        "x2": axis_of("second variable"),
    }

    mean: list[float] = knob([2.0, 1.0], "the mean in the plane")
    covariances: list[list[float]] = knob(
        [[1.0, 0.0, 1.0], [1.0, 0.8, 1.0]], "variance, covariance, variance of each Gaussian"
    )
    given: list[float] = knob([1.0, 3.0], "values of x1 to condition on", distinct=True)

    def problems(self) -> Iterator[str]:
        if len(self.mean) != 2:
            yield f"study.mean={self.mean}; allowed: two numbers"
        for row in self.covariances:
            if len(row) != 3 or not (row[0] > 0 and row[0] * row[2] > row[1] ** 2):
                yield f"study.covariances: {row}; allowed: three numbers, positive definite"

    def run(self, rng: Generator) -> Outcome:
        mean = np.array(self.mean)
        planes = [Gaussian(mean, np.array([[a, b], [b, c]])) for a, b, c in self.covariances]
        reach = 3.2 * np.sqrt(max(max(row[0], row[2]) for row in self.covariances))
        x1, x2 = (centre + np.linspace(-reach, reach, 121) for centre in self.mean)
        grid = np.stack(np.meshgrid(x1, x2), axis=-1)
        beliefs = [[conditional(joint, x) for x in self.given] for joint in planes]
        return outcome(
            {"gaussian": np.arange(1, len(planes) + 1), "x1": x1, "x2": x2, "given": self.given},
            density=("gaussian x2 x1", [np.exp(log_density(grid, *joint)) for joint in planes]),
            conditional_mean=(
                "gaussian given",
                [[belief.mean[0] for belief in row] for row in beliefs],
            ),
        )
