"""Gaussians in the plane: contours, conditionals and factorisation (FCML 2.5.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.probability.gaussian import Gaussian, conditional, log_density, product_gaps


@dataclass
class GaussianPlane(Study):
    """Densities with several covariances; diagonal ones are products (FCML 2.5.4, EX 2.5-2.6)."""

    quantities = {
        "density": quantity("density of the Gaussian", "gaussian x1 x2"),
        "product_gap": quantity(
            "difference between the density and the product of its margins", "gaussian point"
        ),
        "diagonal_gap": quantity(
            "difference between the density and the product, diagonal covariance", "diagonal point"
        ),
        "conditional_mean": quantity("mean of one variable, given the other", "gaussian given"),
        "conditional_variance": quantity("variance of one variable, given the other", "gaussian"),
    }
    axes = {
        "diagonal": axis_of("number of the diagonal covariance"),
        "gaussian": axis_of("number of the Gaussian"),
        "given": axis_of("value of the other variable"),
        "point": axis_of("point of the plane"),
        "x1": axis_of("first variable"),
        "x2": axis_of("second variable"),
    }

    mean: list[float] = knob([2.0, 1.0], "the mean in the plane")
    covariances: list[list[float]] = knob(
        [[1.0, 0.0, 1.0], [1.0, 0.8, 1.0]], "variance, covariance, variance of each Gaussian"
    )
    given: list[float] = knob(
        [1.0, 3.0], "values of x1 to condition on", may_be_empty=True, distinct=True
    )
    diagonals: list[list[float]] = knob(
        [], "variances of further, independent components", may_be_empty=True
    )
    points: int = knob(1000, "random points at which densities are compared", at_least=1)

    def problems(self) -> Iterator[str]:
        if len(self.mean) != 2:
            yield f"study.mean={self.mean}; allowed: two numbers"
        for row in self.covariances:
            if len(row) != 3 or not (row[0] > 0 and row[0] * row[2] > row[1] ** 2):
                yield f"study.covariances: {row}; allowed: three numbers, positive definite"
        for row in self.diagonals:
            if not row or min(row) <= 0:
                yield f"study.diagonals: {row}; allowed: variances > 0"

    def run(self, rng: Generator) -> Outcome:
        mean = np.array(self.mean)
        planes = [Gaussian(mean, np.array([[a, b], [b, c]])) for a, b, c in self.covariances]
        reach = 3.2 * np.sqrt(max(max(row[0], row[2]) for row in self.covariances))
        x1, x2 = (axis(f"x{i + 1}", mean[i] + np.linspace(-reach, reach, 121)) for i in (0, 1))
        grid = np.stack(np.meshgrid(x1.values, x2.values, indexing="ij"), axis=-1)
        point = axis("point", self.points)
        gaussian, given = axis("gaussian", np.arange(1, len(planes) + 1)), axis("given", self.given)
        found = {
            "density": over([np.exp(log_density(grid, *j)) for j in planes], gaussian, x1, x2),
            "product_gap": over(
                [product_gaps(joint, self.points, rng) for joint in planes], gaussian, point
            ),
        }
        if self.given:
            beliefs = [[conditional(joint, x) for x in self.given] for joint in planes]
            means = [[belief.mean[0] for belief in row] for row in beliefs]
            found["conditional_mean"] = over(means, gaussian, given)
            variances = [row[0].covariance[0, 0] for row in beliefs]  # the same for any condition
            found["conditional_variance"] = gaussian.of(variances)
        if self.diagonals:
            gaps = [
                product_gaps(
                    Gaussian(rng.standard_normal(len(row)), np.diag(row)), self.points, rng
                )
                for row in self.diagonals
            ]
            found["diagonal_gap"] = over(gaps, axis("diagonal", np.arange(1, len(gaps) + 1)), point)
        return Outcome(**found)
