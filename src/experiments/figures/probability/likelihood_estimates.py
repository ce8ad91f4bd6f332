"""The likelihood of a coin's parameter and the information in a toss; word probabilities."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.probability.likelihood_estimates import LikelihoodEstimates


def draw(study: LikelihoodEstimates, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if "bernoulli" in study.families:
        yield "likelihood", _likelihood(study, outcome)
    if "multinomial" in study.families:
        yield "estimates", _estimates(study, outcome)


def _likelihood(study: LikelihoodEstimates, outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2)
    shown = int(np.argmin(np.abs(np.array(study.q) - 0.3)))
    q = outcome["bernoulli_gain"].coord("other_q")[20:-20]
    share = outcome["share_of_ones"].values[shown]
    left.plot(q, outcome["bernoulli_gain"].values[shown, 20:-20])
    left.axvline(share, color="C1", linestyle="--", label=f"share of ones, {share:.2f}")
    left.set(xlabel="q", ylabel="log likelihood, less its maximum")
    left.set_ylim(-0.6 * study.n, 0.05 * study.n)
    left.legend(loc="lower center")
    right.plot(q, 1 / (q * (1 - q)), label="1 / (q (1 - q))")
    right.plot(study.q, outcome["squared_score"].values, "o", label="mean squared score")
    right.set(xlabel="q", ylabel="information of q in one toss", ylim=(0, 20))
    right.legend(loc="upper center")
    return figure


def _estimates(study: LikelihoodEstimates, outcome: Outcome) -> Figure:
    """Word probabilities by each estimate, and the likelihood of a new text."""
    figure, axes = subplots(1, 2)
    word, width = outcome["ml_estimate"].coord("word"), 0.8 / (1 + len(study.alphas))
    names = [rf"MAP, $\alpha$ = {alpha:g}" for alpha in study.alphas]
    estimates = [outcome["ml_estimate"].values, *outcome["map_estimate"].values]
    for k, (name, values) in enumerate(zip(["maximum likelihood", *names], estimates, strict=True)):
        axes[0].bar(word + (k - len(estimates) / 2 + 0.5) * width, values, width, label=name)
    axes[0].set(xlabel="Word", ylabel="Probability of the word", xticks=word)
    axes[0].legend(fontsize=7)
    for what, look, label in (("map", "o-", "MAP"), ("expected", "s--", "expected")):
        likelihood = outcome[f"{what}_likelihood"]
        axes[1].plot(likelihood.coord("alpha"), likelihood.values, look, label=label)
    axes[1].set(xlabel=r"$\alpha$", ylabel="Likelihood of the new text", ylim=(0, None))
    axes[1].legend()
    return figure
