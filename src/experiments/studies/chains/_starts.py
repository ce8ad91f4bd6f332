"""Data and starts for EM in hidden Markov models, by name."""

from typing import Any, NamedTuple

from numpy.random import Generator

from models.chains import baum_welch as bw
from models.chains import baum_welch_starts as starts
from models.chains.casino import book_game, casino, simulate
from models.chains.hmm_examples import lilypad, three_regions, walk
from models.types import AnyArray, Ints

AnyHMM = Any  # a CategoricalHMM or a GaussianHMM, of R restarts
# `viterbi`, `annealed` and `switched` begin as `random` does; what differs is how EM goes on.
AT_RANDOM = ("random", "viterbi", "annealed", "switched")
ONCE = ("labelled", "truth", "identical")  # without chance: one run a data set
CATEGORICAL = (*AT_RANDOM, *ONCE, "perturbed", "zeros")
GAUSSIAN = (*CATEGORICAL, "kmeans", "mixture")
# What no label shows would start at zero, and stay there for good (PRML exercise 13.6).
ONE_MORE = bw.Prior(initial=1.0, transition=1.0, symbol=1.0)


class Data(NamedTuple):
    """One sequence with what made it."""

    x: AnyArray  # (T,) symbols or (T, D) points
    states: Ints  # (T,)
    truth: AnyHMM  # with an axis of one restart


def make_data(chain: str, length: int, sequences: int, rng: Generator) -> list[Data]:
    """The first rolls of the book's game, or new sequences."""
    model: AnyHMM = {"lilypad": lilypad, "three-regions": three_regions}.get(chain, casino)()
    if chain == "casino-book":
        made: Any = (row[None, :length] for row in book_game())
    else:
        made = (simulate if chain == "casino" else walk)(model, sequences, length, rng)
    truth = type(model)(*(part[None] for part in model))
    return [Data(seen, hidden, truth) for hidden, seen in zip(*made, strict=True)]


def labelled(data: Data, labels: int | None = None, prior: bw.Prior = bw.FLAT) -> AnyHMM:
    """The most likely model for the first steps of a labelled sequence, or for all (17.5.1)."""
    x, gamma = data.x[:labels], bw.one_hot(data.states[:labels], data.truth.pi.shape[-1])
    if isinstance(data.truth, bw.CategoricalHMM):
        return starts.labelled_categorical(x, gamma[None, None], data.truth.B.shape[-1], prior)
    return starts.labelled_gaussian(x, gamma[None, None], prior)


def make_start(
    kind: str, data: Data, restarts: int, concentration: float, labels: int | None, rng: Generator
) -> AnyHMM:
    """Models to start from; those without chance come once."""
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
