"""Estimates in closed form, and the information in an observation (FCML 2.11, 5.7)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import xlogy

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.classification import multinomial_bayes as texts
from bythebook.models.datasets import load
from bythebook.models.probability import distributions, estimates, gaussian
from bythebook.models.regression.linear import least_squares, line

FAMILIES = ("bernoulli", "gaussian", "multinomial")


@dataclass
class LikelihoodEstimates(Study):
    """Estimates against other parameters, averages against draws (FCML EX 2.8-2.14, 5.4-5.7)."""

    quantities = {
        "share_of_ones": quantity("estimated probability of a one", "q"),
        "bernoulli_gain": quantity(
            "log likelihood at the estimate minus that at another probability",
            "q other_q",
            unit="nats",
        ),
        "bernoulli_information": quantity("information about the probability in one draw", "q"),
        "expected_curvature": quantity("expected curvature of the log likelihood of one draw", "q"),
        "squared_score": quantity("mean squared score of one draw", "q"),
        "squared_score_error": quantity("standard error of the mean squared score", "q"),
        "gaussian_gain": quantity(
            "log likelihood at the estimate minus that at other parameters",
            "gaussian trial",
            unit="nats",
        ),
        "mean_information": quantity("information about the mean in one draw", "component other"),
        "squared_mean_score": quantity(
            "mean outer product of the score of the mean", "component other"
        ),
        "squared_mean_score_error": quantity("standard error of that mean", "component other"),
        "noise_variance": quantity(
            "most likely noise variance, as the mean squared residual", equation="FCML 2.35"
        ),
        "noise_variance_by_products": quantity(
            "most likely noise variance by products", equation="FCML 2.37"
        ),
        "ml_estimate": quantity("most likely probability of a word", "word"),
        "ml_by_search": quantity("most likely probability of a word, by a search", "word"),
        "ml_likelihood": quantity("likelihood at the most likely probabilities"),
        "map_likelihood": quantity("likelihood at the most probable probabilities", "alpha"),
        "expected_likelihood": quantity("expected likelihood under the posterior", "alpha"),
        "sampled_likelihood": quantity("mean likelihood of draws from the posterior", "alpha"),
        "sampled_likelihood_error": quantity(
            "standard error of the mean likelihood of draws", "alpha"
        ),
        "map_estimate": quantity("most probable probability of a word", "alpha word"),
        "map_by_search": quantity("most probable probability of a word, by a search", "alpha word"),
        "posterior_mean": quantity("posterior mean of the probability of a word", "alpha word"),
        "sampled_mean": quantity(
            "mean probability of a word in draws from the posterior", "alpha word"
        ),
        "sampled_mean_error": quantity("standard error of the mean of draws", "alpha word"),
    }
    axes = {
        "alpha": axis_of("parameter of the prior"),
        "component": axis_of("component of the mean"),
        "gaussian": axis_of("dimensions of the Gaussian"),
        "other": axis_of("second component"),
        "other_q": axis_of("probability compared with the estimate"),
        "q": axis_of("true probability"),
        "trial": axis_of("trial of other parameters"),
        "word": axis_of("word"),
    }

    families: list[str] = knob(
        ["bernoulli", "gaussian"], "whose parameters", choices=FAMILIES, distinct=True
    )
    q: list[float] = knob(
        [0.1, 0.3, 0.5, 0.7, 0.9], "Bernoulli parameters", above=0, below=1, distinct=True
    )
    mean: list[float] = knob([1.0, -2.0, 0.5], "mean of the Gaussian")
    variances: list[float] = knob([1.0, 2.0, 0.5], "its variances", above=0)
    correlation: float = knob(0.4, "between any two of its components", at_least=0, below=1)
    data: str = knob(
        "olympics-100m-men", "data for the two forms of the noise", dataset="regression"
    )
    counts: list[int] = knob([7, 3, 2, 0], "multinomial: count of each word", at_least=0)
    new: list[int] = knob([1, 1, 0, 1], "word counts of a new text", at_least=0)
    alphas: list[float] = knob(
        [1.01, 1.5, 2, 5], "parameters of the Dirichlet prior", above=1, at_most=1000, distinct=True
    )
    n: int = knob(50, "observations in a sample", at_least=10, at_most=100_000)
    trials: int = knob(500, "other parameters that are compared", at_least=10, at_most=10_000)
    draws: int = knob(
        20_000, "draws for an average: of scores, of a posterior", at_least=1000, at_most=1_000_000
    )

    def problems(self) -> Iterator[str]:
        if len(self.mean) != len(self.variances):
            yield f"study.variances={self.variances}; allowed: {len(self.mean)}, as in study.mean"
        if self.n <= len(self.mean):
            yield f"study.n={self.n}; allowed: > {len(self.mean)}, the dimensions"
        if len(self.counts) != len(self.new) or sum(self.counts) == 0:
            yield f"study.counts={self.counts}, study.new={self.new}; allowed: equally many words"

    def run(self, rng: Generator) -> Outcome:
        of = {
            "bernoulli": self._bernoulli,
            "gaussian": self._gaussian,
            "multinomial": self._multinomial,
        }
        found: dict[str, Any] = {}
        for family in self.families:
            found |= of[family](rng)
        return Outcome(**found)

    def _bernoulli(self, rng: Generator) -> dict[str, Any]:
        q, other = np.array(self.q), axis("other_q", np.linspace(0, 1, 1001))
        ones = (rng.uniform(size=(len(q), self.n)) < q[:, None]).sum(-1).astype(np.float64)
        tosses = (rng.uniform(size=(len(q), self.draws)) < q[:, None]).astype(np.float64)
        squares = distributions.bernoulli_scores(tosses, q[:, None]) ** 2
        along, gain = axis("q", self.q), estimates.bernoulli_gain(ones, self.n, other.values)
        return {
            "share_of_ones": along.of(ones / self.n),  # the estimate
            "bernoulli_gain": over(gain, along, other),
            "bernoulli_information": along.of(distributions.bernoulli_information(q)),
            # E{-d^2 ln P / dq^2} over the two outcomes, and the mean squared score of many tosses
            "expected_curvature": along.of(q * (1 / q**2) + (1 - q) * (1 / (1 - q) ** 2)),
            "squared_score": along.of(squares.mean(-1)),
            "squared_score_error": along.of(squares.std(-1) / np.sqrt(self.draws)),
        }

    def _gaussian(self, rng: Generator) -> dict[str, Any]:
        sd = np.sqrt(self.variances)
        C = np.where(np.eye(len(sd)) > 0, 1.0, self.correlation) * np.outer(sd, sd)
        X = rng.multivariate_normal(self.mean, C, self.n, method="cholesky")
        gains = [estimates.gaussian_gain(part, self.trials, rng) for part in (X[:, :1], X)]
        many = rng.multivariate_normal(self.mean, C, self.draws, method="cholesky")
        scores = gaussian.mean_scores(many, np.array(self.mean), C)
        I = gaussian.mean_information(C)
        error = np.sqrt((np.outer(np.diag(I), np.diag(I)) + I**2) / self.draws)
        axes = axis("component", len(sd)), axis("other", len(sd))
        x, t = load(self.data).xt
        fit = least_squares(line(x), t)
        which, trial = axis("gaussian", ["one", "all"]), axis("trial", self.trials)
        return {
            "gaussian_gain": over(gains, which, trial),
            "mean_information": over(I, *axes),
            "squared_mean_score": over(scores.T @ scores / self.draws, *axes),
            "squared_mean_score_error": over(error, *axes),
            "noise_variance": fit.sigma2,  # the mean squared residual (2.35); by products (2.37)
            "noise_variance_by_products": float(t @ t - t @ (line(x) @ fit.w)) / len(t),
        }

    def _multinomial(self, rng: Generator) -> dict[str, Any]:
        n, x = np.array(self.counts, dtype=float), np.array(self.new, dtype=float)
        alpha, word = axis("alpha", self.alphas), axis("word", np.arange(1, len(n) + 1))
        log_c, ml = float(texts.log_coefficient(x)), texts.word_probabilities(n[None])[0]
        q = np.array([texts.word_probabilities(n[None], a)[0] for a in self.alphas])
        samples = [rng.dirichlet(a + n, self.draws) for a in self.alphas]  # exercise 5.5
        values = np.array([np.exp(log_c + xlogy(x, sample).sum(1)) for sample in samples])
        posterior = np.array(self.alphas)[:, None] + n
        expected = [texts.log_expected_score(x[None], n[None], a)[0, 0] for a in self.alphas]
        of_alpha = {
            "map_likelihood": np.exp(log_c + texts.log_score(x[None], q)[0]),
            "expected_likelihood": np.exp(log_c + np.array(expected)),
            "sampled_likelihood": values.mean(1),
            "sampled_likelihood_error": values.std(1) / np.sqrt(self.draws),
        }
        of_words = {
            "map_estimate": q,
            "map_by_search": [estimates.multinomial_by_search(n, a) for a in self.alphas],
            "posterior_mean": posterior / posterior.sum(1, keepdims=True),
            "sampled_mean": [sample.mean(0) for sample in samples],
            "sampled_mean_error": [sample.std(0) / np.sqrt(self.draws) for sample in samples],
        }
        return {
            "ml_estimate": word.of(ml),
            "ml_by_search": word.of(estimates.multinomial_by_search(n, 1.0)),
            "ml_likelihood": np.exp(log_c + texts.log_score(x[None], ml[None])[0, 0]),
            **{name: alpha.of(numbers) for name, numbers in of_alpha.items()},
            **{name: over(numbers, alpha, word) for name, numbers in of_words.items()},
        }
