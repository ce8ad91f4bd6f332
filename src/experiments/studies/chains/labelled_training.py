"""A hidden Markov model whose states are known: counts and class moments (MLAPP 17.5.1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.chains.hmm_em_starts import ONE_MORE, Data, make_data
from models.chains import baum_welch as bw
from models.chains import baum_welch_starts as starts
from models.chains import hmm
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

CHAINS = ("casino", "lilypad")


@dataclass
class LabelledTraining(Study):
    """How fast the estimates from labelled sequences approach the model that made them."""

    chains: list[str] = knob(list(CHAINS), "what the data are", choices=CHAINS, distinct=True)
    lengths: list[int] = knob(
        [100, 300, 1000, 10_000], "steps of a sequence", at_least=50, at_most=100_000, distinct=True
    )
    repetitions: int = knob(40, "sequences of each length", at_least=2, at_most=1000)
    shakes: int = knob(200, "neighbours that the most likely model is held against", at_least=1)

    def problems(self) -> "Iterator[str]":
        if len(self.lengths) < 2:
            yield f"study.lengths={self.lengths}: a rate needs at least two lengths"

    def run(self, rng: Generator) -> Outcome:
        lengths = sorted(self.lengths)
        metrics: dict[str, Scalar] = {}
        series, errors = {}, {}
        for chain in self.chains:
            errors[chain] = np.array(
                [
                    [_squared_error(data) for data in make_data(chain, T, self.repetitions, rng)]
                    for T in lengths
                ]
            )
            rms = np.sqrt(np.mean(errors[chain], axis=1))  # (lengths, A and emissions)
            slope = np.polyfit(np.log(lengths), np.log(rms.mean(axis=1)), 1)[0]
            metrics[f"error_exponent_{chain}"] = float(slope)
            metrics[f"error_falls_{chain}"] = bool(np.all(np.diff(rms.mean(axis=1)) < 0))
            for name, column in zip(("A", "emission"), rms.T, strict=True):
                series[f"rms_error_{name}_{chain}"] = Series(lengths, column.tolist())
                metrics[f"rms_error_{name}_{chain}"] = float(column[-1])
            data = make_data(chain, lengths[0], 1, rng)[0]
            metrics[f"most_likely_{chain}"] = self._most_likely(data, rng)
        metrics["counts_error"] = _counts_error(make_data("casino", lengths[-1], 1, rng)[0])
        if "lilypad" in self.chains:
            metrics["moments_error"] = _moments_error(make_data("lilypad", lengths[-1], 1, rng)[0])
        metrics |= _em_from_labels(rng)
        return Outcome(metrics, series)

    def _most_likely(self, data: Data, rng: Generator) -> bool:
        """No neighbour makes data and states together more probable (17.92, 17.93)."""
        fit = _fit(data)
        top = _complete_log_likelihood(fit, data)
        near = np.logspace(-4, -1, self.shakes)
        return all(_complete_log_likelihood(_shake(fit, rng, s), data) <= top for s in near)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, axes = panels(1, 2, sharex=True)
        titles = {"A": "Transition probabilities", "emission": "Emissions"}
        units = {"casino": "probability of a face", "lilypad": "mean, in standard deviations"}
        for ax, (name, title) in zip(axes, titles.items(), strict=True):
            for i, chain in enumerate(self.chains):
                lengths, values = outcome.series[f"rms_error_{name}_{chain}"]
                label = chain if name == "A" else f"{chain}: {units[chain]}"
                ax.loglog(lengths, values, "so"[i % 2], color=f"C{i}", label=label)
                guide = values[-1] * np.sqrt(lengths[-1] / np.array(lengths))
                ax.loglog(lengths, guide, "--", color=f"C{i}", linewidth=1)
            ax.plot([], [], "--", color="0.4", linewidth=1, label="as 1 / √T")
            ax.set(xlabel="Labelled steps T", ylabel="Root mean square error", title=title)
            ax.legend(loc="lower left")
        return {"errors": figure}


def _fit(data: Data) -> bw.CategoricalHMM | bw.GaussianHMM:
    """The most likely model for one labelled sequence."""
    K = data.truth.pi.shape[-1]
    gamma = bw.one_hot(data.states, K)[None, None]
    if isinstance(data.truth, bw.CategoricalHMM):
        return starts.labelled_categorical(data.x, gamma, data.truth.B.shape[-1])
    return starts.labelled_gaussian(np.asarray(data.x, dtype=float), gamma)


def _squared_error(data: Data) -> list[float]:
    """Mean squared error of the transitions, and of the emissions in their own units."""
    fit, truth = _fit(data), data.truth
    transitions = float(np.mean((fit.A - truth.A) ** 2))
    if isinstance(fit, bw.CategoricalHMM) and isinstance(truth, bw.CategoricalHMM):
        return [transitions, float(np.mean((fit.B - truth.B) ** 2))]
    assert isinstance(fit, bw.GaussianHMM)
    assert isinstance(truth, bw.GaussianHMM)
    off = (fit.mu - truth.mu)[..., None]
    return [transitions, float(np.mean(off * np.linalg.solve(truth.Sigma, off)))]


def _shake(
    model: bw.CategoricalHMM | bw.GaussianHMM, rng: Generator, strength: float
) -> bw.CategoricalHMM | bw.GaussianHMM:
    if isinstance(model, bw.CategoricalHMM):
        return starts.perturb(model, rng, strength)
    return starts.perturb(model, rng, strength)


def _complete_log_likelihood(model: bw.CategoricalHMM | bw.GaussianHMM, data: Data) -> float:
    log_lik = model.log_likelihood(data.x)[0, 0]
    return float(hmm.log_joint(model.pi[0], model.A[0], log_lik, data.states))


def _counts_error(data: Data) -> float:
    """The estimates against pairs counted one by one."""
    fit, z, x = _fit(data), data.states, data.x
    assert isinstance(fit, bw.CategoricalHMM)
    N, M = np.zeros((2, 2)), np.zeros((2, 6))
    np.add.at(N, (z[:-1], z[1:]), 1)
    np.add.at(M, (z, x), 1)
    by_hand: list[Floats] = [N / N.sum(axis=1, keepdims=True), M / M.sum(axis=1, keepdims=True)]
    return max(float(np.abs(a[0] - b).max()) for a, b in zip((fit.A, fit.B), by_hand, strict=True))


def _moments_error(data: Data) -> float:
    """The Gaussians against the mean and the covariance of each class (17.93)."""
    fit, x = _fit(data), np.asarray(data.x)
    assert isinstance(fit, bw.GaussianHMM)
    worst = 0.0
    for k in range(3):
        here = x[data.states == k]
        xx = here.T @ here - len(here) * np.outer(here.mean(axis=0), here.mean(axis=0))
        worst = max(worst, float(np.abs(fit.mu[0, k] - here.mean(axis=0)).max()))
        worst = max(worst, float(np.abs(fit.Sigma[0, k] - xx / len(here)).max()))
    return worst


def _em_from_labels(rng: Generator) -> dict[str, Scalar]:
    """On the book's game: EM from the labelled estimate, and the best of twenty random starts."""
    data = make_data("casino-book", 300, 1, rng)[0]
    gamma = bw.one_hot(data.states, 2)[None, None]
    labelled = starts.labelled_categorical(data.x, gamma, 6, ONE_MORE)
    final = float(bw.baum_welch(labelled, data.x, tol=1e-6, max_iter=2000).final[0])
    random = starts.random_categorical(2, 6, 20, rng)
    best = float(bw.baum_welch(random, data.x, tol=1e-6, max_iter=2000).final.max())
    return {"final_labelled": final, "labels_reach_best": final >= best - 0.01}
