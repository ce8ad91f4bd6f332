"""Data and starts for EM in hidden Markov models, by name."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from models.chains import baum_welch as bw
from models.chains import baum_welch_starts as starts
from models.chains.casino import book_game, casino, simulate
from models.chains.hmm_examples import lilypad, three_regions, walk
from models.clustering import gaussian_mixture, gaussian_mixture_starts
from models.clustering.kmeans import kmeans, kmeans_plus_plus
from models.types import AnyArray, Ints

# `viterbi`, `annealed` and `switched` begin as `random` does; what differs is how EM goes on.
AT_RANDOM = ("random", "viterbi", "annealed", "switched")
CATEGORICAL = (*AT_RANDOM, "labelled", "truth", "identical", "perturbed", "zeros")
GAUSSIAN = (*CATEGORICAL, "kmeans", "mixture")
# What no label shows would start at zero, and stay there for good (PRML exercise 13.6).
ONE_MORE = bw.Prior(initial=1.0, transition=1.0, symbol=1.0)


class Data(NamedTuple):
    """One sequence with what made it."""

    x: AnyArray  # (T,) symbols or (T, D) points
    states: Ints  # (T,)
    truth: bw.CategoricalHMM | bw.GaussianHMM  # with an axis of one restart


def make_data(chain: str, length: int, sequences: int, rng: Generator) -> list[Data]:
    """The first rolls of the book's game, or new sequences."""
    if chain.startswith("casino"):
        model = casino()
        game = book_game() if chain == "casino-book" else simulate(model, sequences, length, rng)
        rows = (np.atleast_2d(row)[:, :length] for row in game)
        truth = bw.CategoricalHMM(*(part[None] for part in model))
        return [Data(rolls, dice, truth) for dice, rolls in zip(*rows, strict=True)]
    gaussians = lilypad() if chain == "lilypad" else three_regions()
    walks = walk(gaussians, sequences, length, rng)
    origin = bw.GaussianHMM(*(part[None] for part in gaussians))
    return [Data(points, states, origin) for states, points in zip(*walks, strict=True)]


def categorical_start(
    kind: str, data: Data, restarts: int, concentration: float, labels: int | None, rng: Generator
) -> bw.CategoricalHMM:
    """Starts for two dice of six faces; those without chance come once."""
    assert isinstance(data.truth, bw.CategoricalHMM)
    K, L = data.truth.B.shape[1:]
    if kind == "truth":
        return data.truth
    if kind == "labelled":
        x, z = data.x[:labels], data.states[:labels]
        return starts.labelled_categorical(x, bw.one_hot(z, K)[None, None], L, ONE_MORE)
    if kind == "identical":
        return starts.identical_categorical(data.x, K, L, 1)
    if kind == "perturbed":
        return starts.perturb(starts.identical_categorical(data.x, K, L, restarts), rng, 0.01)
    theta = starts.random_categorical(K, L, restarts, rng, concentration)
    return _with_zeros(theta) if kind == "zeros" else theta


def gaussian_start(
    kind: str, data: Data, restarts: int, concentration: float, labels: int | None, rng: Generator
) -> bw.GaussianHMM:
    """Starts for Gaussians in the plane; those without chance come once."""
    assert isinstance(data.truth, bw.GaussianHMM)
    x, K = np.asarray(data.x), data.truth.pi.shape[-1]
    if kind == "truth":
        return data.truth
    if kind == "labelled":
        gamma = bw.one_hot(data.states[:labels], K)[None, None]
        return starts.labelled_gaussian(x[:labels], gamma, ONE_MORE)
    if kind == "identical":
        return starts.identical_gaussian(x, K, 1)
    if kind == "perturbed":
        return starts.perturb(starts.identical_gaussian(x, K, restarts), rng, 0.01)
    if kind == "kmeans":
        return starts.kmeans_gaussian(x, K, restarts, rng)
    if kind == "mixture":  # the order of the points ignored, K-means before EM (PRML 9.2.2)
        labelled = kmeans(x, kmeans_plus_plus(x, K, rng, restarts)).labels
        mixture = gaussian_mixture.fit(x, gaussian_mixture_starts.start_from_labels(x, labelled, K))
        chain = starts.uniform_chain(restarts, K)
        return bw.GaussianHMM(*chain, mixture.theta.mu, mixture.theta.Sigma)
    theta = starts.random_gaussian(x, K, restarts, rng, concentration)
    return _with_zeros(theta) if kind == "zeros" else theta


def _with_zeros(theta: bw.Model) -> bw.Model:
    """Never begin in the first state, and never go from it to the second."""
    pi, A = theta.pi.copy(), theta.A.copy()
    pi[:, 0], A[:, 0, 1] = 0.0, 0.0
    return theta._replace(
        pi=pi / pi.sum(axis=-1, keepdims=True), A=A / A.sum(axis=-1, keepdims=True)
    )
