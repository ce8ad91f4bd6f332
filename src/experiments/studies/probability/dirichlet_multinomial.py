"""Word probabilities estimated, smoothed and averaged out, in a case small enough to check."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import log_softmax, xlogy

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.classification.multinomial_bayes import (
    log_coefficient,
    log_expected_score,
    log_score,
    word_probabilities,
)
from models.types import Floats


@dataclass
class DirichletMultinomial(Study):
    """ML, MAP and expected likelihood of a multinomial class (FCML exercises 5.4 to 5.7)."""

    counts: list[int] = knob([7, 3, 2, 0], "how often each word was seen in the class", at_least=0)
    new: list[int] = knob([1, 1, 0, 1], "word counts of a new text", at_least=0)
    alphas: list[float] = knob(
        [1.01, 1.5, 2, 5], "parameters of the Dirichlet prior", above=1, at_most=1000, distinct=True
    )
    draws: int = knob(100_000, "draws of the posterior", at_least=100, at_most=1_000_000)

    def problems(self) -> Iterator[str]:
        if len(self.counts) != len(self.new) or sum(self.counts) == 0:
            yield f"study.counts={self.counts}, study.new={self.new}; allowed: equally many words"

    def run(self, rng: Generator) -> Outcome:
        n, x = np.array(self.counts, dtype=float), np.array(self.new, dtype=float)
        alpha, word = axis("alpha", self.alphas), axis("word", np.arange(1, len(n) + 1))
        log_c = float(log_coefficient(x))
        ml = word_probabilities(n[None])[0]
        q = np.array([word_probabilities(n[None], a)[0] for a in self.alphas])
        samples = [rng.dirichlet(a + n, self.draws) for a in self.alphas]  # exercise 5.5
        values = np.array([np.exp(log_c + xlogy(x, sample).sum(1)) for sample in samples])
        posterior = np.array(self.alphas)[:, None] + n
        expected = [log_expected_score(x[None], n[None], a)[0, 0] for a in self.alphas]
        return Outcome(
            ml_estimate=word.of(ml),
            ml_by_search=word.of(_maximum(n, 1.0)),
            ml_likelihood=np.exp(log_c + log_score(x[None], ml[None])[0, 0]),
            map_estimate=over(q, alpha, word),
            map_by_search=over([_maximum(n, a) for a in self.alphas], alpha, word),
            map_likelihood=alpha.of(np.exp(log_c + log_score(x[None], q)[0])),
            expected_likelihood=alpha.of(np.exp(log_c + np.array(expected))),
            sampled_likelihood=alpha.of(values.mean(1)),
            sampled_likelihood_error=alpha.of(values.std(1) / np.sqrt(self.draws)),
            posterior_mean=over(posterior / posterior.sum(1, keepdims=True), alpha, word),
            sampled_mean=over([sample.mean(0) for sample in samples], alpha, word),
            sampled_mean_error=over(
                [sample.std(0) / np.sqrt(self.draws) for sample in samples], alpha, word
            ),
        )


def _maximum(n: Floats, alpha: float) -> Floats:
    """The word probabilities of the highest posterior, searched for and not by the formula."""

    def minus_log_posterior(theta: Floats) -> tuple[float, Floats]:
        log_q = log_softmax(theta)
        power = n + alpha - 1
        return float(-power @ log_q), power.sum() * np.exp(log_q) - power

    start = np.zeros(len(n))
    found = minimize(minus_log_posterior, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    return np.asarray(np.exp(log_softmax(found.x)))
