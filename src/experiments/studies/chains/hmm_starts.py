"""Optima, success rates and speed of Baum-Welch from several starts (MLAPP 17.5, PRML 13.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.stats import multivariate_normal

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import baum_welch as bw
from bythebook.models.chains import hmm_enumeration
from bythebook.models.chains.baum_welch_starts import random_categorical, random_gaussian
from bythebook.models.chains.labelled import Data
from bythebook.models.chains.named_starts import (
    CATEGORICAL,
    GAUSSIAN,
    em_from,
    make_data,
    make_start,
)
from bythebook.models.em import smallest_gain
from bythebook.models.types import Floats

CHAINS = ("casino-book", "casino", "lilypad", "three-regions")
SAME = 0.05  # nats: runs that end closer together have found the same optimum
CURVE, SHOWN = 300, 30  # iterations and restarts that the figure shows


@dataclass
class HmmStarts(Study):
    """Optima that EM reaches from several kinds of start (MLAPP 17.5.2.3)."""

    headline = {
        "best": "best[0]",
        "share_best_random": "share(best - final['random'] < 1)",
        "optima_random": "optima['random']",
        "median_iterations": "median(iterations)",
    }
    more_quantities = True
    quantities = {
        "best": quantity("largest log likelihood that any start reaches", "sequence", unit="nats"),
        "final": quantity("log likelihood at the end of EM", "start sequence restart", unit="nats"),
        "iterations": quantity("iterations until EM converges", "start sequence restart"),
        "optima": quantity("number of different optima", "start"),
    }

    chain: str = knob("casino-book", "what the data are", choices=CHAINS)
    length: int = knob(300, "steps of a data set", at_least=10, at_most=20_000)
    sequences: int = knob(1, "data sets", at_least=1, at_most=100)
    starts: list[str] = knob(["random"], "kinds of start", choices=GAUSSIAN, distinct=True)
    restarts: int = knob(20, "runs from each kind of start", at_least=1, at_most=1000)
    concentration: float = knob(1.0, "of the Dirichlet that draws random rows", above=0)
    labels: int | None = knob(None, "labelled steps of the labelled start; none: all", at_least=5)
    regularised: bool = knob(False, "give Gaussians the prior of MLAPP 11.4.2.8")
    tol: float = knob(1e-6, "gain in nats below which EM stops", above=0, at_most=1)
    max_iter: int = knob(2000, "iterations at most", at_least=1, at_most=100_000)

    def problems(self) -> Iterator[str]:
        known = CATEGORICAL if self._casino else GAUSSIAN
        strangers = [start for start in self.starts if start not in known]
        if strangers:
            allowed = ", ".join(known)
            yield f"study.starts={strangers[0]} is not for {self.chain}; allowed: {allowed}"
        if self.chain == "casino-book" and (self.length > 300 or self.sequences > 1):
            yield "study.chain=casino-book is one game of 300 rolls; chain=casino draws others"
        if self.labels is not None and self.labels > self.length:
            yield f"study.labels={self.labels}; allowed: up to study.length={self.length}"

    @property
    def _casino(self) -> bool:
        return self.chain.startswith("casino")

    def run(self, rng: Generator) -> Outcome:
        sets = make_data(self.chain, self.length, self.sequences, rng)
        runs = [[self._fit(kind, data, rng) for data in sets] for kind in self.starts]
        start, R = axis("start", self.starts), self.restarts
        axes = start, axis("sequence", len(sets)), axis("restart", R)

        def by_restart(name: str) -> Any:  # a deterministic run counts for every restart
            return np.array([[np.broadcast_to(run[name], R) for run in row] for row in runs])

        final, stay = by_restart("final"), by_restart("stay_probability")
        ends = np.sort(final[:, 0])  # collapsed runs, which are NaN, last
        found: dict[str, Any] = {
            "final": over(final, *axes),
            "best": axes[1].of(np.nanmax(final, axis=(0, 2))),
            "iterations": over(by_restart("iterations"), *axes),
            "best_stay_probability": stay[:, 0].flat[np.nanargmax(final[:, 0])],
            "optima": start.of(np.sum(np.diff(ends, prepend=-np.inf) > SAME, axis=1)),
            "objective": over(
                [_padded(row[0]["objective"]) for row in runs],
                start, axis("shown", SHOWN), axis("iteration", CURVE + 1),
            ),
        }  # fmt: skip
        for name in ("smallest_gain", "row_sum_gap", "zeros_at_start", "grown_zeros"):
            found[name] = over([[run[name] for run in row] for row in runs], *axes[:2])
        K = sets[0].truth.pi.shape[-1]
        state, to = (axis(name, range(1, K + 1)) for name in ("state", "to"))
        found["start_first"] = over([row[0]["start_first"] for row in runs], start, state)
        found["start_transitions"] = over([row[0]["start_rows"] for row in runs], start, state, to)
        found["start_spread"] = start.of([row[0]["start_spread"] for row in runs])
        found["counted_transitions"] = over(_counted(sets[0], K), state, to)
        found["drawn_stay"] = np.mean([np.mean(s.states[1:] == s.states[:-1]) for s in sets])
        if self._casino:
            found["step_gap"] = _step_gap(sets[0], rng)
        else:
            found["best_means"] = self._best_means(runs, final[:, 0])
            parameter = axis("parameter", ["pi", "A", "mu", "Sigma", "objective"])
            found["gaussian_step_gap"] = parameter.of(self._gaussian_step_gaps(sets[0], rng))
            found |= _drawn(sets, state)
        return Outcome(**found)

    def _best_means(self, runs: list[list[dict[str, Any]]], final: Floats) -> Quantity:
        """Means of the best run (start, restart) on the first sequence, from left to right."""
        kind, restart = np.unravel_index(np.nanargmax(final), final.shape)
        ends = runs[int(kind)][0]["means"]
        means = ends[min(int(restart), len(ends) - 1)]
        K, D = means.shape
        axes = axis("state", range(1, K + 1)), axis("variable", range(1, D + 1))
        return over(means[means[:, 0].argsort()], *axes)

    def _prior(self, data: Data) -> bw.Prior:
        if not self.regularised or self._casino:
            return bw.FLAT
        # MLAPP 11.4.2.8: the diagonal of the data, split among the states
        D = data.x.shape[-1]
        return bw.Prior(S0=np.diag(data.x.var(axis=0)) / 3 ** (1 / D), nu0=D + 2.0)

    def _gaussian_step_gaps(self, data: Data, rng: Generator) -> list[float]:
        """One EM step on six points against gamma and xi summed over all paths of 3 states."""
        prior, x = self._prior(data), data.x[:6]
        theta = random_gaussian(data.x, 3, 1, rng)
        fit = bw.baum_welch(theta, x, prior=prior, tol=-np.inf, max_iter=1)
        pi, A, mu, Sigma = (part[0] for part in theta)
        lik = [multivariate_normal(m, S).pdf(x) for m, S in zip(mu, Sigma, strict=True)]
        paths = hmm_enumeration.enumerate_paths(pi, A, np.transpose(lik))
        gamma = hmm_enumeration.state_marginals(paths, 3)
        xi = hmm_enumeration.pair_marginals(paths, 3).sum(axis=0)
        N = gamma.sum(axis=0)
        means = gamma.T @ x / N[:, None]
        squares = np.einsum("nk,nd,ne->kde", gamma, x, x)
        scatter = squares - N[:, None, None] * np.einsum("kd,ke->kde", means, means)  # 17.108
        objective, D = np.log(paths.evidence), x.shape[1]
        if prior.nu0 is not None:
            S0, weight = prior.S0, prior.nu0 + D + 1
            for S in Sigma:  # an inverse Wishart density, up to a constant
                objective -= (
                    weight / 2 * np.log(np.linalg.det(S)) + np.sum(S0 * np.linalg.inv(S)) / 2
                )
            scatter, N = scatter + S0, N + weight
        expected = gamma[0], xi / xi.sum(axis=1, keepdims=True), means, scatter / N[:, None, None]
        gaps = [np.abs(a[0] - b).max() for a, b in zip(fit.theta, expected, strict=True)]
        return [*gaps, np.abs(fit.objective[0, 0] - objective)]

    def _fit(self, kind: str, data: Data, rng: Generator) -> dict[str, Any]:
        """Final parameters and objectives of the restarts of one start on one data set."""
        prior = self._prior(data)
        options = self.restarts, self.concentration, self.labels, rng
        began = make_start(kind, data, *options)
        ended, final, fit = em_from(kind, began, data.x, prior, self.tol, self.max_iter, rng)
        rows = np.concatenate([ended.pi[:, None], ended.A], axis=1)
        zeros = np.concatenate([began.pi[:, None], began.A], axis=1) == 0
        with np.errstate(divide="ignore", invalid="ignore"):  # the logarithms of zeros
            spread = np.log(began.A[:, 0, 0]).std()
        return {
            "start_first": began.pi.mean(axis=0),
            "start_rows": began.A.mean(axis=0),
            "start_spread": spread,  # of the logarithm of a transition, over restarts
            "final": final,
            "iterations": fit.iterations,  # of soft EM
            "objective": fit.objective,
            "stay_probability": np.trace(ended.A, axis1=1, axis2=2) / ended.A.shape[-1],
            "smallest_gain": smallest_gain(fit.objective),
            "row_sum_gap": np.abs(rows[np.isfinite(final)].sum(axis=-1) - 1).max(initial=0),
            "zeros_at_start": np.sum(zeros),
            "grown_zeros": np.sum(rows[zeros] != 0),
            "means": None if self._casino else ended.mu,
        }


def _counted(data: Data, K: int) -> Floats:
    """Number of transitions between each two states, in the first data set."""
    N = np.zeros((K, K))
    for before, after in zip(data.states[:-1], data.states[1:], strict=True):
        N[before, after] += 1
    return N


def _drawn(sets: list[Data], state: Axis) -> dict[str, Any]:
    """Means and covariances of the points that each state has made, in all data sets."""
    x, z = (np.concatenate(parts) for parts in zip(*((s.x, s.states) for s in sets), strict=True))
    one, other = (axis(name, range(1, x.shape[1] + 1)) for name in ("variable", "with_variable"))
    counts, means, covariances = [], [], []
    for k in range(len(state)):
        here = x[z == k]
        counts.append(len(here))
        means.append(here.sum(axis=0) / max(len(here), 1))
        covariances.append((here - means[-1]).T @ (here - means[-1]) / max(len(here), 1))
    return {
        "drawn_points": state.of(counts),
        "drawn_means": over(means, state, one),
        "drawn_covariance": over(covariances, state, one, other),
    }


def _padded(curves: Floats) -> Floats:
    """The first curves (restarts, iterations) of a start, NaN where there are none."""
    shown = curves[:SHOWN, : CURVE + 1]
    room = (0, SHOWN - shown.shape[0]), (0, CURVE + 1 - shown.shape[1])
    return np.pad(shown, room, constant_values=np.nan)


def _step_gap(data: Data, rng: Generator) -> float:
    """One EM step on eight symbols against counts expected under all paths of 2 or 3 states."""
    x, gaps = data.x[:8], []
    for K in (2, 3):  # two states have separate kernels
        theta = random_categorical(K, 6, 1, rng)
        pi, A, B = (part[0] for part in theta)
        step = bw.baum_welch(theta, x, max_iter=1).theta
        expected = hmm_enumeration.categorical_step(pi, A, B, x)
        gaps += [np.abs(new[0] - old).max() for new, old in zip(step, expected, strict=True)]
    return float(max(gaps))
