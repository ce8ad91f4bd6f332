"""Equations of Ghahramani 10: the marginal likelihood of a model of sequences."""

from itertools import pairwise

from numpy.polynomial.legendre import leggauss
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.probability import sequences


@equation(
    "section 10, marginal likelihood",
    section="10",
    latex=r"P(D | m) = \int P(D | \theta, m) P(\theta | m) \, d\theta",
)
def sequence_evidence(rng: Generator) -> Sides:
    """The evidence is the probability of the data with parameters from the prior.

    A chain of order 1 has two parameters, each uniform; the integral is by Gauss-Legendre, and the
    evidence is the project's, from counts.
    """
    x = rng.integers(0, 2, int(rng.integers(3, 12)))
    node, weight = leggauss(20)
    theta, weight = (node + 1) / 2, weight / 2
    integral = 0.0
    for a, wa in zip(theta, weight, strict=True):  # of a one after a zero
        for b, wb in zip(theta, weight, strict=True):  # after a one
            p = 0.5  # the first toss is fair
            for before, after in pairwise(x):
                chance = b if before else a
                p *= chance if after else 1 - chance
            integral += wa * wb * p
    return Sides(truth=sequences.chain_evidence(x, 1), printed=integral)
