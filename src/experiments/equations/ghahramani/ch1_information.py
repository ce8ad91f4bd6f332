"""Equations of Ghahramani 1.2 and 1.3: coding costs, and beliefs over models."""

import numpy as np
from numpy.random import Generator
from scipy import stats

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.probability import model_posterior
from bythebook.models.types import Floats


def _pair(rng: Generator) -> tuple[Floats, Floats]:
    P, Q = rng.dirichlet(np.ones(int(rng.integers(2, 8))), 2)
    return P, Q


@equation("1", section="1.2", latex=r"H(P) = -\sum_x P(x) \log_2 P(x)")
def coding_cost(rng: Generator) -> Sides:
    """The expected number of bits if each symbol has -log2 P(x) is the entropy, by SciPy's."""
    P, _ = _pair(rng)
    return Sides(truth=stats.entropy(P, base=2), printed=-sum(p * np.log2(p) for p in P))


@equation(
    "2, 3",
    section="1.2",
    latex=r"-\sum_x P(x) \log_2 Q(x) - H(P) = \text{KL}(P \| Q) = \sum_x P(x) \log_2"
    r" \frac{P(x)}{Q(x)}",
)
def coding_divergence(rng: Generator) -> Sides:
    """The difference of the two coding costs is the divergence, by SciPy's, in bits."""
    P, Q = _pair(rng)
    difference = -np.sum(P * np.log2(Q)) + np.sum(P * np.log2(P))
    truth = stats.entropy(P, Q, base=2)
    return Sides(truth=(truth, truth), printed=(difference, np.sum(P * np.log2(P / Q))))


def _coins(rng: Generator) -> tuple[Floats, Floats]:
    """Known coins, the models, and a data set of tosses of one of them."""
    bias = rng.uniform(0.05, 0.95, int(rng.integers(2, 6)))
    return bias, (rng.random(int(rng.integers(1, 15))) < rng.choice(bias)).astype(float)


def _likelihood(bias: Floats, tosses: Floats) -> Floats:
    return np.asarray(np.where(tosses == 1, bias[:, None], 1 - bias[:, None]).prod(1))


@equation(
    "5",
    section="1.3",
    latex=r"P(m | D) \propto P(m) \prod_{n=1}^N P(x_n | m)",
)
def posterior_over_models(rng: Generator) -> Sides:
    """The posterior over models, against the project's, which updates it point by point."""
    bias, tosses = _coins(rng)
    joint = _likelihood(bias, tosses) / len(bias)
    log_p = np.log(np.where(tosses[:, None] == 1, bias, 1 - bias))
    truth = model_posterior.posterior(log_p)[-1]
    return Sides(truth=truth, printed=joint / np.sum(joint))


@equation(
    "6",
    section="1.3",
    latex=r"P(x | D) = \sum_{m=1}^M P(x | m) P(m | D)",
)
def averaged_prediction(rng: Generator) -> Sides:
    """The predictive distribution is the ratio of the probabilities of data with and without x."""
    bias, tosses = _coins(rng)
    with_one = np.mean(_likelihood(bias, np.append(tosses, 1.0)))
    joint = _likelihood(bias, tosses)
    return Sides(truth=with_one / np.mean(joint), printed=np.sum(bias * joint / np.sum(joint)))
