"""Variation of maximum likelihood estimates: covariance and bias (FCML 2.9-2.10)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.regression import bias_variance as estimates
from bythebook.models.types import Floats

SHOWN = ("estimates", "data", "lines", "noise_estimates", "noise_variance")


@dataclass
class EstimatorVariability(Study):
    """The spread of estimated weights and noise variance over many data sets (FCML 2.9-2.10)."""

    headline = {"mean_w_1": "mean(w_hat[:, 1])", "noise_variance": "first(mean_noise_variance)"}
    more_quantities = True
    quantities = {
        "w_hat": quantity("estimated weights", "repetition weight"),
        "mean_noise_variance": quantity("mean of the estimated noise variances", "n"),
        "inputs": quantity("inputs of the data", "point"),
        "targets": quantity("targets of the first data set", "point"),
        "errors": quantity("target minus true line", "point"),
        "shown_w": quantity("weights estimated from the first data set", "weight"),
        "shown_noise_variance": quantity("noise variance estimated from the first data set"),
        "truth": quantity("true line", "x"),
        "noise_variance_estimate": quantity("estimated noise variance", "repetition"),
        "noise_variance_about_truth": quantity(
            "mean squared distance of the targets from the true line", "repetition"
        ),
        "covariance": quantity(
            "covariance of the estimated weights by the formula", "weight other"
        ),
        "empirical_covariance": quantity(
            "covariance of the estimated weights over data sets", "weight other"
        ),
        "covariance_error": quantity("standard error of the empirical covariance", "weight other"),
        "lines": quantity("fitted lines", "line x"),
        "share_above_truth": quantity("share of the fitted lines above the true one"),
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
            "covariance of the weights by the formula in a repeated experiment",
            "experiment weight other",
        ),
        "possible_empirical_covariance": quantity(
            "covariance of the weights over data sets in a repeated experiment",
            "experiment weight other",
        ),
        "expected_noise_variance": quantity("expected value of the estimated noise variance", "n"),
        "noise_variance_error": quantity(
            "standard error of the mean of the estimated noise variances", "n"
        ),
    }

    weights: list[float] = knob([-2.0, 3.0], "true weights of 1, x, x^2, ...")
    noise_variance: float = knob(0.25, "true variance of the noise", above=0)
    n: list[int] = knob([20], "points in a data set; past the first: noise only", at_least=3)
    low: float = knob(0.0, "the smallest input; inputs are drawn uniformly, once")
    high: float = knob(1.0, "the largest input")
    repetitions: int = knob(10_000, "data sets for these inputs", at_least=100, at_most=1_000_000)
    experiments: int = knob(1000, "experiments, own inputs each", at_least=100, at_most=100_000)
    lines: int = knob(10, "fitted lines to draw", at_least=2, at_most=100)
    show: list[str] = knob(["estimates"], "what to draw", choices=SHOWN, distinct=True)

    def problems(self) -> Iterator[str]:
        if self.low >= self.high:
            yield f"study.low={self.low:g}, study.high={self.high:g}; allowed: low < high"
        if not 2 <= len(self.weights) < min(self.n):
            yield f"study.weights={self.weights}; allowed: at least two, fewer than {min(self.n)}"

    def run(self, rng: Generator) -> Outcome:
        w, n, S = np.array(self.weights), self.n[0], self.repetitions
        x = rng.uniform(self.low, self.high, n)
        X = self._design(x)
        t = X @ w + np.sqrt(self.noise_variance) * rng.standard_normal(n)  # one data set, to show
        own = estimates.least_squares(X, t[None])  # its estimates
        found = estimates.simulate_estimates(X, w, self.noise_variance, S, rng)
        C = estimates.estimate_covariance(X, self.noise_variance)  # (2.45)
        point, grid = axis("point", n), axis("x", np.linspace(self.low, self.high, 41))
        weight, other = axis("weight", len(w)), axis("other", len(w))
        repetition = axis("repetition", S)
        truth, fits = self._design(grid.values) @ w, found.w @ self._design(grid.values).T
        return Outcome(
            inputs=point.of(x),
            targets=point.of(t),
            errors=point.of(t - X @ w),
            shown_w=weight.of(own.w[0]),
            shown_noise_variance=float(own.sigma2[0]),
            truth=grid.of(truth),
            w_hat=over(found.w, repetition, weight),
            noise_variance_estimate=repetition.of(found.sigma2),
            noise_variance_about_truth=repetition.of(found.true_sigma2),
            covariance=over(C, weight, other),
            empirical_covariance=over(np.cov(found.w.T, bias=True), weight, other),
            covariance_error=over(estimates.covariance_error(C, S), weight, other),
            lines=over(fits[: self.lines], axis("line", self.lines), grid),
            share_above_truth=float((fits > truth).mean()),
            share_with_truth_between=estimates.share_between(fits, truth, self.lines),
            **self._possible_experiments(rng),
            **self._noise_curve(found.sigma2, rng),
        )

    def _design(self, x: Floats) -> Floats:
        return np.asarray(x[..., np.newaxis] ** np.arange(len(self.weights)))

    def _possible_experiments(self, rng: Generator) -> dict[str, Quantity]:
        """Possible results of the book's experiment with other random numbers."""
        R, n, w, sigma2 = self.experiments, self.n[0], np.array(self.weights), self.noise_variance
        X = self._design(rng.uniform(self.low, self.high, (R, n)))
        averages = estimates.simulate_averages(X, w, sigma2, self.repetitions, rng)
        one = sigma2 * (rng.chisquare(n - len(w), R) / n)  # an arbitrary data set's
        C = estimates.estimate_covariance(X, sigma2)
        run, weight, other = axis("experiment", R), axis("weight", len(w)), axis("other", len(w))
        return {
            "possible_mean_w": over(averages.w, run, weight),
            "possible_mean_noise_variance": run.of(averages.sigma2),
            "possible_noise_variance_estimate": run.of(one),
            "possible_covariance": over(C, run, weight, other),
            "possible_empirical_covariance": over(averages.covariance, run, weight, other),
        }

    def _noise_curve(self, first: Floats, rng: Generator) -> dict[str, Quantity]:
        """The mean estimate of the noise variance for every n, with its expectation (2.53)."""
        sigma2, w, S = self.noise_variance, np.array(self.weights), self.repetitions
        n, means = axis("n", self.n), [first.mean()]
        for more in self.n[1:]:
            X = self._design(rng.uniform(self.low, self.high, more))
            means.append(estimates.simulate_estimates(X, w, sigma2, S, rng).sigma2.mean())
        expected = [estimates.expected_sigma2(sigma2, k, len(w)) for k in self.n]
        left = n.values - len(w)  # the estimate is sigma^2 chi^2_left / n
        return {
            "mean_noise_variance": n.of(means),
            "expected_noise_variance": n.of(expected),
            "noise_variance_error": n.of(sigma2 * np.sqrt(2 * left / S) / n.values),
        }
