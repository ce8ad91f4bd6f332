"""The likelihood of a coin's parameter, and the information in a toss."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.probability.likelihood_estimates import LikelihoodEstimates


def draw(study: LikelihoodEstimates, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = panels(1, 2)
    shown = int(np.argmin(np.abs(np.array(study.q) - 0.3)))
    q = outcome["bernoulli_gain"].along("other_q")[20:-20]
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
    yield "likelihood", figure
