"""Maximum likelihood in closed form, and the information in an observation (FCML 2.11)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import xlog1py, xlogy

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.datasets import load
from models.probability.distributions import bernoulli_information, bernoulli_scores
from models.probability.gaussian import (
    Gaussian,
    estimate,
    log_likelihood,
    mean_information,
    mean_scores,
)
from models.regression.linear import least_squares, line
from models.types import Floats


@dataclass
class LikelihoodEstimates(Study):
    """Estimates against other parameters, information against scores (FCML EX 2.8-2.14)."""

    q: list[float] = knob(
        [0.1, 0.3, 0.5, 0.7, 0.9], "Bernoulli parameters", above=0, below=1, distinct=True
    )
    mean: list[float] = knob([1.0, -2.0, 0.5], "mean of the Gaussian")
    variances: list[float] = knob([1.0, 2.0, 0.5], "its variances", above=0)
    correlation: float = knob(0.4, "between any two of its components", at_least=0, below=1)
    n: int = knob(50, "observations in a sample", at_least=10, at_most=100_000)
    trials: int = knob(500, "other parameters that are tried", at_least=10, at_most=10_000)
    scores: int = knob(20_000, "observations for the covariance of the score", at_least=1000)
    data: str = knob("olympics-100m-men", "data for the two forms of the noise", dataset=True)

    def problems(self) -> Iterator[str]:
        if len(self.mean) != len(self.variances):
            yield f"study.variances={self.variances}; allowed: {len(self.mean)}, as in study.mean"
        if self.n <= len(self.mean):
            yield f"study.n={self.n}; allowed: > {len(self.mean)}, the dimensions"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        fit = least_squares(line(x), t)
        return Outcome(
            **self._bernoulli(rng),
            **self._gaussian(rng),
            noise_variance=fit.sigma2,  # the mean squared residual (2.35), and by products (2.37)
            noise_variance_by_products=float(t @ t - t @ (line(x) @ fit.w)) / len(t),
        )

    def _bernoulli(self, rng: Generator) -> dict[str, Quantity]:
        q, other = np.array(self.q), np.linspace(0, 1, 1001)
        ones = (rng.uniform(size=(len(q), self.n)) < q[:, None]).sum(-1).astype(np.float64)
        best = xlogy(ones, ones / self.n) + xlog1py(self.n - ones, -ones / self.n)
        others = xlogy(ones[:, None], other) + xlog1py(self.n - ones[:, None], -other)
        tosses = (rng.uniform(size=(len(q), self.scores)) < q[:, None]).astype(np.float64)
        squares = bernoulli_scores(tosses, q[:, None]) ** 2
        along = axis("q", self.q)
        return {
            "share_of_ones": along.of(ones / self.n),  # the estimate
            "bernoulli_gain": over(others - best[:, None], along, axis("other_q", other)),
            "bernoulli_information": along.of(bernoulli_information(q)),
            # E{-d^2 ln P / dq^2} over the two outcomes, and the mean squared score of many tosses
            "expected_curvature": along.of(q * (1 / q**2) + (1 - q) * (1 / (1 - q) ** 2)),
            "squared_score": along.of(squares.mean(-1)),
            "squared_score_error": along.of(squares.std(-1) / np.sqrt(self.scores)),
        }

    def _gaussian(self, rng: Generator) -> dict[str, Quantity]:
        sd = np.sqrt(self.variances)
        C = np.where(np.eye(len(sd)) > 0, 1.0, self.correlation) * np.outer(sd, sd)
        truth = Gaussian(np.array(self.mean), C)
        X = rng.multivariate_normal(*truth, self.n, method="cholesky")
        gains = [self._gains(part, rng) for part in (X[:, :1], X)]
        scores = mean_scores(
            rng.multivariate_normal(*truth, self.scores, method="cholesky"), *truth
        )
        I = mean_information(truth.covariance)
        axes = axis("component", len(sd)), axis("other", len(sd))
        return {
            "gaussian_gain": over(
                gains, axis("gaussian", ["one", "all"]), axis("trial", self.trials)
            ),
            "mean_information": over(I, *axes),
            "squared_mean_score": over(scores.T @ scores / len(scores), *axes),
            "squared_mean_score_error": over(
                np.sqrt((np.outer(np.diag(I), np.diag(I)) + I**2) / len(scores)), *axes
            ),
        }

    def _gains(self, X: Floats, rng: Generator) -> Floats:
        """What means and covariances near and far add to the log likelihood of X (N, D)."""
        best, D = estimate(X), X.shape[1]
        root = np.linalg.cholesky(best.covariance)
        step = np.geomspace(1e-3, 1, self.trials)[:, None]
        shifts = rng.standard_normal((self.trials, D))
        turns = rng.standard_normal((self.trials, D, D))
        roots = root @ (np.eye(D) + step[..., None] * turns)
        others = log_likelihood(X, best.mean + step * shifts @ root.T, roots @ roots.mT)
        return np.asarray(others - log_likelihood(X, *best))
