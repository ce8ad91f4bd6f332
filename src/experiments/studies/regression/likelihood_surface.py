"""The likelihood as a function of the weights: curvature and information (FCML 2.7.3, 2.9.1)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.datasets import load
from models.regression.linear import least_squares, line
from models.regression.linear_likelihood import (
    hessian,
    information,
    inverse,
    log_likelihood,
    sigma_curvature,
)
from models.types import Floats


@dataclass
class LikelihoodSurface(Study):
    """Contours, Hessian, Fisher information and covariance of a line (FCML 2.7.3 and 2.9.1)."""

    data: str | None = knob(None, "regression data; their own noise variance is used", dataset=True)
    weights: list[float] = knob([-2.0, 3.0], "without data: w0 and w1 of the true line")
    n: int = knob(50, "without data: points in a data set", at_least=3, at_most=10_000)
    noise_variances: list[float] = knob(
        [1.0, 0.04], "without data: a data set for each, same inputs", above=0, distinct=True
    )
    sum_x: float | None = knob(None, "without data: shift and stretch the inputs to this sum")
    sum_xx: float | None = knob(None, "and to this sum of squares")
    repetitions: int = knob(1000, "inputs to draw for what could be printed", at_least=20)

    def problems(self) -> Iterator[str]:
        if len(self.weights) != 2:
            yield f"study.weights={self.weights}; allowed: two numbers"
        if (self.sum_x is None) != (self.sum_xx is None):
            yield "study.sum_x and study.sum_xx are given together or not at all"
        least = (self.sum_x or 0.0) ** 2 / self.n
        if self.sum_xx is not None and self.sum_xx <= least:
            yield f"study.sum_xx={self.sum_xx:g}; allowed: > {least:g} with this sum and n"
        if self.data is not None and len(np.unique(load(self.data).xt[0])) < 3:
            yield f"study.data={self.data} has fewer than three different inputs"

    def run(self, rng: Generator) -> Outcome:
        if self.data is not None:
            x, targets = load(self.data).xt
            noise = [least_squares(line(x), targets).sigma2]
            t, more = targets[None], _second_derivatives(line(x), targets)
            origin = float(x.mean())  # contours over raw years are a ridge too thin to see
        else:
            x, noise, origin = self._inputs(rng), self.noise_variances, 0.0
            e = np.sqrt(noise)[:, None] * rng.standard_normal((len(noise), self.n))
            t, more = line(x) @ np.array(self.weights) + e, self._information(x, rng)
        seen = line(x - origin)  # w0 is the line's value at the origin
        w_hat = np.array([least_squares(seen, row).w for row in t])
        centre = w_hat[0] if self.data is not None else np.array(self.weights)
        sd = np.sqrt(np.diag(inverse(information(seen, max(noise)))))
        grids = centre[:, None] + sd[:, None] * np.linspace(-3.5, 3.5, 101)
        w = np.stack(np.meshgrid(*grids, indexing="ij"), -1)
        relative = [
            log_likelihood(seen, row, w, v) - log_likelihood(seen, row, best, v)
            for row, best, v in zip(t, w_hat, noise, strict=True)
        ]
        of, point = axis("noise_variance", noise), axis("point", len(x))
        return Outcome(
            inputs=point.of(x),
            targets=over(t, of, point),
            origin=origin,
            w_hat=over(w_hat, of, axis("weight", 2)),
            likelihood=over(np.exp(relative), of, axis("w_0", grids[0]), axis("w_1", grids[1])),
            **more,
        )

    def _inputs(self, rng: Generator) -> Floats:
        x = np.sort(rng.uniform(0, 1, self.n))
        if self.sum_x is None or self.sum_xx is None:
            return x
        mean = self.sum_x / self.n
        spread = np.sqrt(self.sum_xx / self.n - mean**2)
        return np.asarray(mean + spread * (x - x.mean()) / x.std())

    def _information(self, x: Floats, rng: Generator) -> dict[str, Quantity]:
        """Matrices for each noise variance, and the sums in them that other inputs would have."""
        I = np.array([information(line(x), v) for v in self.noise_variances])
        C = np.array([inverse(matrix) for matrix in I])
        possible = rng.uniform(0, 1, (self.repetitions, self.n))
        axes = axis("noise_variance", self.noise_variances), axis("weight", 2), axis("other", 2)
        draw = axis("draw", self.repetitions)
        return {
            "information": over(I, *axes),
            "covariance": over(C, *axes),
            "information_times_covariance": over(I @ C, *axes),
            "possible_sum_x": draw.of(possible.sum(-1)),
            "possible_sum_xx": draw.of((possible**2).sum(-1)),
        }


def _second_derivatives(X: Floats, t: Floats) -> dict[str, Quantity]:
    """At the maximum, in the weights and in sigma, the latter by differences as well."""
    fit = least_squares(X, t)
    H = hessian(X, fit.sigma2)
    # Scaling rows and columns alike keeps the signs of the eigenvalues, and more digits.
    scale = np.sqrt(-np.diag(H))
    sigma = np.sqrt(fit.sigma2) * np.array([0.999, 1.0, 1.001])
    down, middle, up = (log_likelihood(X, t, fit.w, s**2) for s in sigma)
    weight = axis("weight", 2)
    return {
        "hessian": over(H, weight, axis("other", 2)),
        "scaled_eigenvalues": weight.of(np.linalg.eigvalsh(H / np.outer(scale, scale))),
        "sigma_curvature": Quantity(sigma_curvature(fit.residuals, fit.sigma2)),
        "sigma_curvature_by_differences": Quantity(
            (up - 2 * middle + down) / (sigma[2] - sigma[1]) ** 2
        ),
    }
