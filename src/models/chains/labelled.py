"""A hidden Markov model whose states are known: counts and class moments (MLAPP 17.5.1)."""

from typing import Any, NamedTuple

import numpy as np

from bythebook.models.chains import baum_welch as bw
from bythebook.models.chains import baum_welch_starts as starts
from bythebook.models.chains import hmm
from bythebook.models.types import AnyArray, Ints

AnyHMM = Any  # a CategoricalHMM or a GaussianHMM, of R restarts


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


def squared_errors(data: Data) -> tuple[float, float]:
    """Mean squared error of the transitions, and of the emissions in their own units."""
    fit, truth = labelled(data), data.truth
    if isinstance(truth, bw.CategoricalHMM):
        emissions = (fit.B - truth.B) ** 2
    else:
        off = (fit.mu - truth.mu)[..., None]
        emissions = off * np.linalg.solve(truth.Sigma, off)
    return float(np.mean((fit.A - truth.A) ** 2)), float(np.mean(emissions))


def complete_log_likelihood(model: AnyHMM, data: Data) -> float:
    """The log probability of data and states together (17.92, 17.93)."""
    log_lik = model.log_likelihood(data.x)[0, 0]
    return float(hmm.log_joint(model.pi[0], model.A[0], log_lik, data.states))
