"""Gaussians in the plane: contours, conditionals, and when they factorise (FCML 2.5.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from models.probability.gaussian import Gaussian, conditional, log_density, log_density_1d
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class GaussianPlane(Study):
    """Densities with several covariances; diagonal ones are products (FCML 2.5.4, EX 2.5-2.6)."""

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

    def problems(self) -> "Iterator[str]":
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
        reach = 3.2 * np.sqrt(max(max(row[0], row[2]) for row in self.covariances))
        axis = np.linspace(-reach, reach, 121)
        grid = np.stack(np.meshgrid(mean[0] + axis, mean[1] + axis, indexing="ij"), axis=-1)
        metrics: dict[str, Scalar] = {}
        densities = []
        for k, (a, b, c) in enumerate(self.covariances, start=1):
            joint = Gaussian(mean, np.array([[a, b], [b, c]]))
            density = np.exp(log_density(grid, *joint))
            densities.append(density)
            metrics[f"peak_{k}"] = float(density.max())
            metrics[f"factorises_{k}"] = self._factorises(joint, rng)
            for value in self.given:
                other = conditional(joint, value)
                metrics[f"mean_of_x2_given_{value:g}_{k}"] = float(other.mean[0])
                metrics[f"variance_of_x2_given_{value:g}_{k}"] = float(other.covariance[0, 0])
            if len(self.given) > 1:
                found = [metrics[f"mean_of_x2_given_{v:g}_{k}"] for v in self.given]
                metrics[f"x2_depends_on_x1_{k}"] = bool(max(found) != min(found))
        for k, row in enumerate(self.diagonals, start=1):
            several = Gaussian(rng.standard_normal(len(row)), np.diag(row))
            metrics[f"diagonal_{k}_factorises"] = self._factorises(several, rng)
        arrays = {"x1": mean[0] + axis, "x2": mean[1] + axis, "densities": np.array(densities)}
        return Outcome(metrics, arrays=arrays)

    def _factorises(self, joint: Gaussian, rng: Generator) -> bool:
        """Is the density the product of its univariate ones at random points?"""
        spread = np.sqrt(np.diag(joint.covariance))
        X = joint.mean + spread * rng.standard_normal((self.points, len(spread)))
        product: Floats = log_density_1d(X, joint.mean, spread**2).sum(-1)
        return bool(np.allclose(log_density(X, *joint), product, rtol=0, atol=1e-10))

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid

        arrays, metrics = outcome.arrays, outcome.metrics
        rows = len(self.covariances)
        figure, axes = grid(rows, 2, 0.72, sharex=True, sharey=True)
        for k, (row, density) in enumerate(zip(axes, arrays["densities"], strict=True), start=1):
            image = row[0].pcolormesh(arrays["x1"], arrays["x2"], density.T, rasterized=True)
            figure.colorbar(image, ax=row[0], label="p(x)")
            levels = density.max() * np.array([0.05, 0.2, 0.4, 0.6, 0.8, 0.95])
            row[1].contour(arrays["x1"], arrays["x2"], density.T, levels=levels, colors="C0")
            for value in self.given:
                centre = metrics[f"mean_of_x2_given_{value:g}_{k}"]
                row[1].axvline(value, color="C1", linestyle=":", linewidth=1.2)
                row[1].plot(value, centre, "D", color="C1")
            row[0].set_ylabel("$x_2$")
        for ax in axes[-1]:
            ax.set_xlabel("$x_1$")
        if self.given:
            axes[-1, 1].plot([], [], "D:", color="C1", label="mean of $x_2$ given $x_1$")
            figure.legend(loc="outside lower right")
        return {"densities": figure}
