"""Variation of maximum likelihood estimates: covariance and bias (FCML 2.9-2.10).

t_n = w^T x_n + noise,    cov(w_hat) = sigma^2 (X^T X)^-1,    E{sigma_hat^2} = sigma^2 (1 - D / N)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.regression import bias_variance as estimates
from bythebook.models.types import Floats

MATRIX = "experiment weight other"


@dataclass
class EstimatorVariability(Study):
    """The spread of estimated weights and noise variance over many data sets (FCML 2.9-2.10)."""

    headline = {"mean_w_1": "mean(w_hat[:, 1])", "noise_variance": "first(mean_noise_variance)"}
    quantities = {
        "inputs": quantity("inputs of the data", "point"),
        "targets": quantity("targets of one data set", "point"),
        "truth": quantity("true line", "x"),
        "w_hat": quantity("estimated weights", "repetition weight", equation="FCML 2.33"),
        "noise_variance_estimate": quantity(
            "estimated noise variance", "repetition", equation="FCML 2.35"
        ),
        "noise_variance_about_truth": quantity(
            "mean squared distance of the targets from the true line", "repetition"
        ),
        "covariance": quantity(
            "covariance of the estimated weights by the formula",
            "weight other",
            equation="FCML 2.45",
        ),
        "empirical_covariance": quantity(
            "covariance of the estimated weights over data sets", "weight other"
        ),
        "lines": quantity("fitted lines of the first data sets", "line x"),
        "share_with_truth_between": quantity("share of sets of lines that contain the true line"),
        "mean_noise_variance": quantity("mean of the estimated noise variances", "n"),
        "possible_mean_w": quantity(
            "mean of the estimated weights in a repeated experiment", "experiment weight"
        ),
        "possible_mean_noise_variance": quantity(
            "mean of the estimated noise variances in a repeated experiment", "experiment"
        ),
        "possible_noise_variance_estimate": quantity(
            "estimated noise variance in a repeated experiment", "experiment"
        ),
        "possible_covariance": quantity(
            "covariance of the weights by the formula in a repeated experiment", MATRIX
        ),
        "possible_empirical_covariance": quantity(
            "covariance of the weights over data sets in a repeated experiment", MATRIX
        ),
    }
    axes = {
        "point": axis_of("point of the data"),
        "x": axis_of("input"),
        "repetition": axis_of("data set"),
        "weight": axis_of("weight"),
        "other": axis_of("second weight of a covariance"),
        "line": axis_of("data set"),
        "n": axis_of("points of a data set"),
        "experiment": axis_of("repeated experiment, with its own inputs"),
    }

    weights: list[float] = knob([-2.0, 3.0], "true weights of 1, x, x^2, ...")
    noise_variance: float = knob(0.25, "true variance of the noise", above=0)
    n: list[int] = knob([20], "points in a data set; past the first: noise only", at_least=3)
    low: float = knob(0.0, "the smallest input; inputs are drawn uniformly, once")
    high: float = knob(1.0, "the largest input")
    repetitions: int = knob(10_000, "data sets for these inputs", at_least=100, at_most=1_000_000)
    experiments: int = knob(1000, "experiments, own inputs each", at_least=100, at_most=100_000)
    lines: int = knob(10, "lines in a set of lines", at_least=2, at_most=100)

    def problems(self) -> Iterator[str]:
        if self.low >= self.high:
            yield f"study.low={self.low:g}, study.high={self.high:g}; allowed: low < high"
        if not 2 <= len(self.weights) < min(self.n):
            yield f"study.weights={self.weights}; allowed: at least two, fewer than {min(self.n)}"

    def run(self, rng: Generator) -> Outcome:
        w, n, sigma2 = np.array(self.weights), self.n[0], self.noise_variance
        x, grid = rng.uniform(self.low, self.high, n), np.linspace(self.low, self.high, 41)
        X, at = self._design(x), self._design(grid)
        t = X @ w + np.sqrt(sigma2) * rng.standard_normal(n)  # one data set, to show
        found = estimates.simulate_estimates(X, w, sigma2, self.repetitions, rng)
        truth, fits = at @ w, found.w @ at.T
        possible = self._possible_experiments(rng)
        return outcome(
            {
                "point": n,
                "x": grid,
                "repetition": self.repetitions,
                "weight": len(w),
                "other": len(w),
                "line": self.lines,
                "n": self.n,
                "experiment": self.experiments,
            },
            inputs=("point", x),
            targets=("point", t),
            truth=("x", truth),
            w_hat=("repetition weight", found.w),
            noise_variance_estimate=("repetition", found.sigma2),
            noise_variance_about_truth=("repetition", found.true_sigma2),
            covariance=("weight other", estimates.estimate_covariance(X, sigma2)),
            empirical_covariance=("weight other", np.cov(found.w.T, bias=True)),
            lines=("line x", fits[: self.lines]),
            share_with_truth_between=estimates.share_between(fits, truth, self.lines),
            mean_noise_variance=("n", self._mean_noise_variances(found.sigma2, rng)),
            **possible,
        )

    def _design(self, x: Floats) -> Floats:
        return np.asarray(x[..., np.newaxis] ** np.arange(len(self.weights)))

    def _possible_experiments(self, rng: Generator) -> dict[str, Any]:
        """Possible results of the book's experiment with other random numbers."""
        R, n, w, sigma2 = self.experiments, self.n[0], np.array(self.weights), self.noise_variance
        X = self._design(rng.uniform(self.low, self.high, (R, n)))
        averages = estimates.simulate_averages(X, w, sigma2, self.repetitions, rng)
        one = sigma2 * (rng.chisquare(n - len(w), R) / n)  # an arbitrary data set's
        return {
            "possible_mean_w": ("experiment weight", averages.w),
            "possible_mean_noise_variance": ("experiment", averages.sigma2),
            "possible_noise_variance_estimate": ("experiment", one),
            "possible_covariance": (MATRIX, estimates.estimate_covariance(X, sigma2)),
            "possible_empirical_covariance": (MATRIX, averages.covariance),
        }

    def _mean_noise_variances(self, first: Floats, rng: Generator) -> list[float]:
        """The mean estimate of the noise variance for every n; `first` are those of the first."""
        means, w = [float(first.mean())], np.array(self.weights)
        for more in self.n[1:]:
            X = self._design(rng.uniform(self.low, self.high, more))
            found = estimates.simulate_estimates(X, w, self.noise_variance, self.repetitions, rng)
            means.append(float(found.sigma2.mean()))
        return means
