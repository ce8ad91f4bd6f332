"""Gaussians in place of densities of one or two variables: a target, and ways to approximate it.

What is known of a target exactly, in closed form or by quadrature, stands beside its approximations
(FCML 4.4).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.approximation import targets
from models.approximation.laplace import approximate
from models.classification.drawn_regression import draw
from models.classification.logistic import Posterior
from models.datasets import load
from models.probability.gaussian import log_density
from models.types import Floats

# The targets, and what their parameters are called; `coin` is a beta posterior, the other
# posteriors are of two weights, whose data are `study.data` or drawn with weights w.
TARGETS = {
    "gamma": ("α", "β"),
    "coin": ("α", "β", "y", "N"),
    "logistic": ("σ²",),
    "linear": ("σ²", "N", "w_1", "w_2"),
}
METHODS = ("laplace", "moments")
DISTANCES = [0.2, 0.4, 0.5, 0.6, 0.8, 1.0, 2.0, 3.0]  # from the mode, in standard deviations


@dataclass
class DensityApproximation(Study):
    """Gaussian approximations of densities, and how far off they are (FCML 4.4)."""

    headline = {"largest_total_variation": "max(total_variation)"}

    target: str = knob("gamma", "the kind of density", choices=tuple(TARGETS))
    parameters: list[list[float]] = knob(
        [[20.0, 0.5], [2.0, 100.0]],
        "of each density: " + "; ".join(f"{k} {', '.join(v)}" for k, v in TARGETS.items()),
    )
    data: str | None = knob(None, "logistic: two attributes and t = 0 or 1", dataset=True)
    methods: list[str] = knob(["laplace"], "Gaussians to try", choices=METHODS, distinct=True)

    def problems(self) -> Iterator[str]:
        for row in self.parameters:
            if len(row) != len(TARGETS[self.target]):
                yield f"study.parameters: {self.target} needs {', '.join(TARGETS[self.target])}"
            elif self.target == "coin" and not 0 <= row[2] <= row[3]:
                yield f"study.parameters: y = {row[2]:g}; allowed: 0 to N = {row[3]:g}"
            elif min(self._shape(row)) <= 1:
                yield f"study.parameters: {row} has no mode inside; allowed: above 1, with the data"
            elif row[0] <= 0 or (self.target == "linear" and row[1] < 2):
                yield f"study.parameters: {row}; allowed: {TARGETS[self.target][0]} > 0, N >= 2"
        if (self.target == "logistic") != (self.data is not None):
            yield f"study.data={self.data}: it belongs to study.target=logistic"
        elif self.data is not None and not _binary(load(self.data).matrix):
            yield f"study.data={self.data}; allowed: two attributes and a class, 0 or 1"

    def _shape(self, row: list[float]) -> list[float]:
        """The parameters that must exceed 1 for a mode."""
        if self.target == "coin":
            return [row[0] + row[2], row[1] + row[3] - row[2]]
        return row[:1] if self.target == "gamma" else [np.inf]

    def _target(self, row: list[float], rng: Generator) -> targets.Target:
        if self.target == "gamma":
            return targets.gamma(*row)
        if self.target == "coin":
            return targets.beta(*self._shape(row))
        if self.data is None:
            return targets.regression(draw(np.array(row[2:]), int(row[1]), row[0], "real", rng))
        matrix = load(self.data).matrix
        return targets.regression(Posterior(matrix[:, :2], matrix[:, 2], row[0]))

    def run(self, rng: Generator) -> Outcome:
        case = axis("case", [", ".join(f"{value:g}" for value in row) for row in self.parameters])
        each = [self._approximated(self._target(row, rng)) for row in self.parameters]
        return Outcome(
            **{
                name: over([found[name].values for found in each], case, *quantity.axes)
                for name, quantity in each[0].items()
            }
        )

    def _approximated(self, p: targets.Target) -> dict[str, Quantity]:
        """Gaussians in place of p, and p itself, with their errors."""
        laplace = approximate(p.mode, p.hessian, float(p.log_g(p.mode)))
        named = {"laplace": laplace[:2], "moments": (p.mean, p.covariance)}
        gaussians = [named[name] for name in self.methods]
        mean, covariance = zip((p.mean, p.covariance), *gaussians, strict=True)
        evidence = [p.log_g(m) - log_density(m, m, S) for m, S in gaussians]  # as by FCML 4.12
        distance, outside = np.transpose([targets.total_variation(p, *q) for q in gaussians])
        near = targets.about_mode(p, laplace.covariance, np.array(DISTANCES))
        grids = targets.window(p, np.sqrt(np.diag(laplace.covariance)))
        at = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1)
        with np.errstate(divide="ignore"):  # log of nought at the ends of the support
            curves = [p.log_g(at) - p.log_evidence, *(log_density(at, *q) for q in gaussians)]
        method, way = axis("method", self.methods), axis("way", ["exact", *self.methods])
        i, j = (axis(name, np.arange(1, len(grids) + 1)) for name in ("variable", "other"))
        steps = [axis(f"step_{d}", len(grids[0])) for d in i.values]
        direction, away = axis("direction", near.direction), axis("distance", DISTANCES)
        return {
            "centre": over(mean, way, i),
            "covariance": over(covariance, way, i, j),
            "log_evidence": way.of([p.log_evidence, *evidence]),
            "total_variation": method.of(distance),
            "mass_outside": method.of(outside),
            "log_error": over(near.log_error, direction, away),
            "search_gap": over(near.search_gap),
            "curvature_gap": over(near.curvature_gap),
            "place": over(grids, i, steps[0]),
            "log_density": over(curves, way, *steps),
        }


def _binary(matrix: Floats) -> bool:
    return matrix.shape[1] == 3 and set(np.unique(matrix[:, 2])) <= {0.0, 1.0}
