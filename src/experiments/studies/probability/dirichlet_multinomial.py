"""Word probabilities estimated, smoothed and averaged out, in a case small enough to check."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import log_softmax, xlogy

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from models.classification.multinomial_bayes import (
    log_coefficient,
    log_expected_score,
    log_score,
    word_probabilities,
)
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class DirichletMultinomial(Study):
    """ML, MAP and expected likelihood of a multinomial class (FCML exercises 5.4 to 5.7)."""

    counts: list[int] = knob([7, 3, 2, 0], "how often each word was seen in the class", at_least=0)
    new: list[int] = knob([1, 1, 0, 1], "word counts of a new text", at_least=0)
    alphas: list[float] = knob(
        [1.01, 1.5, 2, 5], "parameters of the Dirichlet prior", above=1, at_most=1000, distinct=True
    )
    draws: int = knob(100_000, "draws of the posterior", at_least=100, at_most=1_000_000)

    def problems(self) -> "Iterator[str]":
        if len(self.counts) != len(self.new) or sum(self.counts) == 0:
            yield f"study.counts={self.counts}, study.new={self.new}; allowed: equally many words"

    def run(self, rng: Generator) -> Outcome:
        n, x = np.array(self.counts, dtype=float), np.array(self.new, dtype=float)
        log_c = float(log_coefficient(x))
        ml = word_probabilities(n[None])[0]
        rows: list[tuple[float, ...]] = []
        agree = {"map": True, "monte_carlo": True, "posterior_mean": True}
        for alpha in self.alphas:
            q = word_probabilities(n[None], alpha)[0]
            expected = float(np.exp(log_c + log_expected_score(x[None], n[None], alpha)[0, 0]))
            sample = rng.dirichlet(alpha + n, self.draws)  # exercise 5.5
            values = np.exp(log_c + xlogy(x, sample).sum(1))
            error = values.std() / np.sqrt(self.draws)
            agree["map"] &= bool(np.allclose(q, _maximum(n, alpha), atol=1e-6))
            agree["monte_carlo"] &= bool(abs(values.mean() - expected) < 4 * error)
            mean = (alpha + n) / (alpha + n).sum()
            spread = 4 * sample.std(0) / np.sqrt(self.draws)
            agree["posterior_mean"] &= bool((np.abs(sample.mean(0) - mean) < spread).all())
            plug_in = float(np.exp(log_c + log_score(x[None], q[None])[0, 0]))
            rows.append((alpha, plug_in, expected, float(values.mean()), float(error), *q))
        words = [f"q_{m + 1}" for m in range(len(n))]
        names = ["alpha", "map_likelihood", "expected_likelihood", "monte_carlo", "error", *words]
        table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        metrics: dict[str, Any] = {
            "ml_is_relative_frequency": bool(np.allclose(ml, _maximum(n, 1.0), atol=1e-5)),
            "ml_likelihood": float(np.exp(log_c + log_score(x[None], ml[None])[0, 0])),
            "ml_likelihood_is_zero": bool(np.isneginf(log_score(x[None], ml[None])[0, 0])),
            "map_formula_is_the_maximum": agree["map"],
            "posterior_is_dirichlet_of_alpha_plus_counts": agree["posterior_mean"],
            "expected_likelihood_agrees_with_monte_carlo": agree["monte_carlo"],
            "expected_likelihood_never_zero": bool(min(table["expected_likelihood"]) > 0),
            "map_likelihood_never_zero": bool(min(table["map_likelihood"]) > 0),
        }
        return Outcome(metrics, tables={"alphas": table}, arrays={"ml": ml})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        table, ml = outcome.tables["alphas"], outcome.arrays["ml"]
        figure, axes = panels(1, 2)
        place = np.arange(1, len(ml) + 1)
        width = 0.8 / (1 + len(self.alphas))
        bars = {"maximum likelihood": ml} | {
            rf"MAP, $\alpha$ = {alpha:g}": [table[f"q_{m}"][k] for m in place]
            for k, alpha in enumerate(self.alphas)
        }
        for k, (name, values) in enumerate(bars.items()):
            axes[0].bar(place + (k - len(bars) / 2 + 0.5) * width, values, width, label=name)
        axes[0].set(xlabel="Word", ylabel="Probability of the word", xticks=place)
        axes[0].legend(fontsize=7)
        axes[1].plot(table["alpha"], table["map_likelihood"], "o-", label="MAP")
        axes[1].plot(table["alpha"], table["expected_likelihood"], "s--", label="expected")
        axes[1].set(xlabel=r"$\alpha$", ylabel="Likelihood of the new text", ylim=(0, None))
        axes[1].legend()
        return {"estimates": figure}


def _maximum(n: Floats, alpha: float) -> Floats:
    """The word probabilities of the highest posterior, searched for and not by the formula."""

    def minus_log_posterior(theta: Floats) -> tuple[float, Floats]:
        log_q = log_softmax(theta)
        power = n + alpha - 1
        return float(-power @ log_q), power.sum() * np.exp(log_q) - power

    start = np.zeros(len(n))
    found = minimize(minus_log_posterior, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    return np.asarray(np.exp(log_softmax(found.x)))
