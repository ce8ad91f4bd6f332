"""The likelihood of a line as a function of its weights, at several levels of noise (FCML 2.9.1).

log L(w) = -|t - X w|^2 / (2 sigma^2) + const,    I = X^T X / sigma^2,    cov(w) = I^-1
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.regression import linear_likelihood as likelihood
from bythebook.models.regression.linear import least_squares, line
from bythebook.models.types import Floats


@dataclass
class LikelihoodSurface(Study):
    """Likelihood, Fisher information and covariance of a line's weights (FCML 2.9.1)."""

    quantities = {
        "inputs": quantity("inputs of the data", "point"),
        "targets": quantity("targets of the data", "noise_variance point"),
        "w_hat": quantity("fitted weights", "noise_variance weight"),
        "likelihood": quantity("likelihood over its maximum", "noise_variance w_0 w_1"),
        "information": quantity(
            "Fisher information", "noise_variance weight other", equation="FCML 2.47"
        ),
        "covariance": quantity(
            "covariance of the weights", "noise_variance weight other", equation="FCML 2.45"
        ),
        "possible_sum_x": quantity("sum of inputs drawn uniformly", "draw"),
        "possible_sum_xx": quantity("sum of the squares of inputs drawn uniformly", "draw"),
    }
    axes = {
        "point": axis_of("point of the data"),
        "noise_variance": axis_of("noise variance"),
        "weight": axis_of("weight"),
        "other": axis_of("second weight of a matrix"),
        "w_0": axis_of("intercept"),
        "w_1": axis_of("slope"),
        "draw": axis_of("draw of the inputs"),
    }

    weights: list[float] = knob([-2.0, 3.0], "w0 and w1 of the true line")
    n: int = knob(50, "points in a data set", at_least=3, at_most=10_000)
    noise_variances: list[float] = knob(
        [1.0, 0.04], "of the noise; a data set for each, same inputs", above=0, distinct=True
    )
    sum_x: float | None = knob(None, "shift and stretch the inputs to this sum")
    sum_xx: float | None = knob(None, "and to this sum of squares")
    repetitions: int = knob(100, "draws of the inputs", at_least=20)

    def problems(self) -> Iterator[str]:
        if len(self.weights) != 2:
            yield f"study.weights={self.weights}; allowed: two numbers"
        if (self.sum_x is None) != (self.sum_xx is None):
            yield "study.sum_x and study.sum_xx are given together or not at all"
        least = (self.sum_x or 0.0) ** 2 / self.n
        if self.sum_xx is not None and self.sum_xx <= least:
            yield f"study.sum_xx={self.sum_xx:g}; allowed: > {least:g} with this sum and n"

    def run(self, rng: Generator) -> Outcome:
        x, noise = self._inputs(rng), self.noise_variances
        e = np.sqrt(noise)[:, None] * rng.standard_normal((len(noise), self.n))
        X = line(x)
        t = X @ np.array(self.weights) + e
        information = np.array([likelihood.information(X, v) for v in noise])
        covariance = np.linalg.solve(information, np.broadcast_to(np.eye(2), information.shape))
        w_hat = np.array([least_squares(X, row).w for row in t])
        sd = np.sqrt(np.diag(covariance[np.argmax(noise)]))
        grids = np.array(self.weights)[:, None] + sd[:, None] * np.linspace(-3.5, 3.5, 101)
        w = np.stack(np.meshgrid(*grids, indexing="ij"), -1)
        surfaces = [
            likelihood.relative_likelihood(X, row, w, best, v)
            for row, best, v in zip(t, w_hat, noise, strict=True)
        ]
        possible = rng.uniform(0, 1, (self.repetitions, self.n))
        return outcome(
            {
                "point": self.n,
                "noise_variance": noise,
                "weight": 2,
                "other": 2,
                "w_0": grids[0],
                "w_1": grids[1],
                "draw": self.repetitions,
            },
            inputs=("point", x),
            targets=("noise_variance point", t),
            w_hat=("noise_variance weight", w_hat),
            likelihood=("noise_variance w_0 w_1", surfaces),
            information=("noise_variance weight other", information),
            covariance=("noise_variance weight other", covariance),
            possible_sum_x=("draw", possible.sum(-1)),
            possible_sum_xx=("draw", (possible**2).sum(-1)),
        )

    def _inputs(self, rng: Generator) -> Floats:
        x = np.sort(rng.uniform(0, 1, self.n))
        if self.sum_x is None or self.sum_xx is None:
            return x
        mean = self.sum_x / self.n
        spread = np.sqrt(self.sum_xx / self.n - mean**2)
        return np.asarray(mean + spread * (x - x.mean()) / x.std())
