"""Data and starts for EM in hidden Markov models, by name."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.chains import baum_welch as bw
from bythebook.models.chains import baum_welch_starts as starts
from bythebook.models.chains.casino import book_game, casino, simulate
from bythebook.models.chains.hmm_examples import lilypad, three_regions, walk
from bythebook.models.convergence import NotConverged
from bythebook.models.em import EMFit
from bythebook.models.types import AnyArray, Floats, Ints

AnyHMM = Any  # a CategoricalHMM or a GaussianHMM, of R restarts

# `viterbi`, `annealed` and `switched` start as `random` does; they differ in how EM continues.
AT_RANDOM = ("random", "viterbi", "annealed", "switched")
HARD, ANNEAL = 10, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # steps; inverse temperatures
ONCE = ("labelled", "truth", "identical")  # deterministic: one run per data set
CATEGORICAL = (*AT_RANDOM, *ONCE, "perturbed", "zeros")
GAUSSIAN = (*CATEGORICAL, "kmeans", "mixture")
# An event that no label shows would start at zero, and stay there (PRML exercise 13.6).
ONE_MORE = bw.Prior(initial=1.0, transition=1.0, symbol=1.0)


class Data(NamedTuple):
    """One sequence with its states and its model."""

    x: AnyArray  # (T,) symbols or (T, D) points
    states: Ints  # (T,)
    truth: AnyHMM  # with an axis of one restart


def labelled(data: Data, labels: int | None = None, prior: bw.Prior = bw.FLAT) -> AnyHMM:
    """The most likely model for the first steps of a labelled sequence, or for all (17.5.1)."""
    x, gamma = data.x[:labels], bw.one_hot(data.states[:labels], data.truth.pi.shape[-1])
    if isinstance(data.truth, bw.CategoricalHMM):
        return starts.labelled_categorical(x, gamma[None, None], data.truth.B.shape[-1], prior)
    return starts.labelled_gaussian(x, gamma[None, None], prior)


def make_data(chain: str, length: int, sequences: int, rng: Generator) -> list[Data]:
    """The first rolls of the book's game, or new sequences."""
    model: AnyHMM = {"lilypad": lilypad, "three-regions": three_regions}.get(chain, casino)()
    if chain == "casino-book":
        made: Any = (row[None, :length] for row in book_game())
    else:
        made = (simulate if chain == "casino" else walk)(model, sequences, length, rng)
    truth = type(model)(*(part[None] for part in model))
    return [Data(seen, hidden, truth) for hidden, seen in zip(*made, strict=True)]


def make_start(
    kind: str, data: Data, restarts: int, concentration: float, labels: int | None, rng: Generator
) -> AnyHMM:
    """Models to start from; a deterministic start gives one model."""
    x, truth, K = data.x, data.truth, data.truth.pi.shape[-1]
    if kind == "truth":
        return truth
    if kind == "labelled":
        return labelled(data, labels, ONE_MORE)
    if kind in ("kmeans", "mixture"):
        cluster = starts.kmeans_gaussian if kind == "kmeans" else starts.mixture_gaussian
        return cluster(x, K, restarts, rng)
    alike, R = kind in ("identical", "perturbed"), 1 if kind == "identical" else restarts
    theta: AnyHMM
    if isinstance(truth, bw.GaussianHMM) and alike:
        theta = starts.identical_gaussian(x, K, R)
    elif isinstance(truth, bw.GaussianHMM):
        theta = starts.random_gaussian(x, K, R, rng, concentration)
    elif alike:
        theta = starts.identical_categorical(x, K, truth.B.shape[-1], R)
    else:
        theta = starts.random_categorical(K, truth.B.shape[-1], R, rng, concentration)
    if kind == "zeros":
        return starts.with_zeros(theta)
    return starts.perturb(theta, rng, 0.01) if kind == "perturbed" else theta


class Ended(NamedTuple):
    """The result of EM from R restarts."""

    theta: AnyHMM
    final: Floats  # (R,) the log likelihood, with the log prior if there is one
    soft: EMFit[AnyHMM]  # EM at inverse temperature 1


def em_from(
    kind: str, theta: AnyHMM, x: AnyArray, prior: bw.Prior, tol: float, steps: int, rng: Generator
) -> Ended:
    """EM as the kind of start specifies: with Viterbi training before or after it, or annealed."""

    def em(theta: AnyHMM, steps: int, b: float = 1.0) -> EMFit[AnyHMM]:
        return bw.baum_welch(theta, x, prior=prior, inverse_temperature=b, tol=tol, max_iter=steps)

    with warnings.catch_warnings():  # these stages need not converge
        warnings.simplefilter("ignore", NotConverged)
        if kind == "viterbi":
            theta = em(theta, HARD, np.inf).theta
        if kind == "annealed":
            for b in ANNEAL:  # states become equal at high temperature: noise separates them
                theta = starts.perturb(em(theta, 20, b).theta, rng, 0.01)
    fit = em(theta, steps)
    if kind == "switched":
        theta = em(fit.theta, steps, np.inf).theta
        return Ended(theta, em(theta, 0).final, fit)
    return Ended(fit.theta, fit.final, fit)
