"""A hidden Markov model whose states are known: counts and class moments (MLAPP 17.5.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import baum_welch as bw
from bythebook.models.chains import baum_welch_starts as starts
from bythebook.models.chains import labelled as by_label
from bythebook.models.chains.labelled import Data, labelled
from bythebook.models.chains.named_starts import ONE_MORE, make_data

CHAINS = ("casino", "lilypad")


@dataclass
class LabelledTraining(Study):
    """Error of estimates from labelled sequences against the length (MLAPP 17.5.1)."""

    headline = {
        "error_exponent_casino": "error_exponent['casino']",
        "error_exponent_lilypad": "error_exponent['lilypad']",
    }
    more_quantities = True
    quantities = {
        "error_exponent": quantity("exponent of the error's decay with the length", "chain"),
    }

    chains: list[str] = knob(list(CHAINS), "what the data are", choices=CHAINS, distinct=True)
    lengths: list[int] = knob(
        [100, 300, 1000, 10_000], "steps of a sequence", at_least=50, at_most=100_000, distinct=True
    )
    repetitions: int = knob(40, "sequences of each length", at_least=2, at_most=1000)
    shakes: int = knob(200, "neighbours with which the most likely model is compared", at_least=1)

    def problems(self) -> Iterator[str]:
        if len(self.lengths) < 2:
            yield f"study.lengths={self.lengths}: a rate needs at least two lengths"

    def run(self, rng: Generator) -> Outcome:
        lengths = sorted(self.lengths)
        chain, length = axis("chain", self.chains), axis("length", lengths)
        rms, slopes, gains = [], [], []
        for name in self.chains:
            sets = [make_data(name, T, self.repetitions, rng) for T in lengths]
            errors = np.array([[by_label.squared_errors(data) for data in row] for row in sets])
            rms.append(np.sqrt(np.mean(errors, axis=1)))  # (lengths, transitions and emissions)
            slopes.append(np.polyfit(np.log(lengths), np.log(rms[-1].mean(axis=1)), 1)[0])
            gains.append(self._largest_gain(make_data(name, lengths[0], 1, rng)[0], rng))
        gaps = {"counts_gap": _counts_gap(make_data("casino", lengths[-1], 1, rng)[0])}
        if "lilypad" in self.chains:
            gaps["moments_gap"] = _moments_gap(make_data("lilypad", lengths[-1], 1, rng)[0])
        (book,) = make_data("casino-book", 300, 1, rng)
        gaps["complete_gap"] = _complete_gap(book)
        begins = labelled(book, prior=ONE_MORE), starts.random_categorical(2, 6, 20, rng)
        ends = [bw.baum_welch(theta, book.x, tol=1e-6, max_iter=2000).final for theta in begins]
        return Outcome(
            rms_error=over(rms, chain, length, axis("part", ["transitions", "emissions"])),
            error_exponent=chain.of(slopes),
            largest_gain=chain.of(gains),
            book_labelled_final=ends[0][0],  # of EM on the book's game
            book_random_final=axis("restart", len(ends[1])).of(ends[1]),
            **gaps,
        )

    def _largest_gain(self, data: Data, rng: Generator) -> float:
        """Largest gain of a neighbour in the probability of data and states (17.92, 17.93)."""
        fit = labelled(data)
        top = by_label.complete_log_likelihood(fit, data)
        near = [starts.perturb(fit, rng, s) for s in np.logspace(-4, -1, self.shakes)]
        return max(by_label.complete_log_likelihood(other, data) for other in near) - top


def _counts_gap(data: Data) -> float:
    """The estimates against pairs counted one by one."""
    fit, z, x = labelled(data), data.states, data.x
    N, M = np.zeros((2, 2)), np.zeros((2, 6))
    np.add.at(N, (z[:-1], z[1:]), 1)
    np.add.at(M, (z, x), 1)
    pairs = (fit.A[0], N), (fit.B[0], M)
    return max(float(np.abs(p - n / n.sum(axis=1, keepdims=True)).max()) for p, n in pairs)


def _moments_gap(data: Data) -> float:
    """The Gaussians against the mean and the covariance of each class (17.93)."""
    fit, gaps = labelled(data), []
    for k in range(3):
        here = data.x[data.states == k]
        mean = here.mean(axis=0)
        xx = here.T @ here - len(here) * np.outer(mean, mean)
        gaps += [np.abs(fit.mu[0, k] - mean).max(), np.abs(fit.Sigma[0, k] - xx / len(here)).max()]
    return float(max(gaps))


def _complete_gap(data: Data) -> float:
    """The log probability of dice and rolls together against its factors, one by one (17.92)."""
    pi, A, B = (part[0] for part in data.truth)
    z, x = data.states, data.x
    factors = [
        pi[z[0]],
        *(A[a, b] for a, b in pairwise(z)),
        *(B[a, b] for a, b in zip(z, x, strict=True)),
    ]
    return float(abs(by_label.complete_log_likelihood(data.truth, data) - np.sum(np.log(factors))))
