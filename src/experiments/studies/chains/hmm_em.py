"""Baum-Welch from different starts: which optimum, how often, how fast (MLAPP 17.5, PRML 13.2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.studies.chains.hmm_em_starts import (
    CATEGORICAL,
    GAUSSIAN,
    Data,
    categorical_start,
    gaussian_start,
    make_data,
)
from models.chains import baum_welch as bw
from models.chains import baum_welch_starts, hmm_enumeration
from models.em import EMFit
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

CHAINS = ("casino-book", "casino", "lilypad", "three-regions")
HARD, ANNEAL = 10, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SAME = 0.05  # nats: runs that end closer together have found the same optimum
CURVE = 300  # iterations that the figure shows


class Run(NamedTuple):
    """Where the restarts of one start ended on one data set."""

    final: Floats  # (R,) the objective: the log likelihood, with the log prior if there is one
    iterations: Ints  # (R,) of soft EM
    objective: Floats  # (R, T + 1) of soft EM, NaN after a restart stopped
    zeros_stay: bool  # no probability that was zero has become positive
    rows_sum_to_one: bool
    stay: Floats  # (R,) mean probability of staying in a state


@dataclass
class HmmStarts(Study):
    """Run EM from several kinds of start and compare the optima (MLAPP 17.5.2.3)."""

    chain: str = knob("casino-book", "what the data are", choices=CHAINS)
    length: int = knob(300, "steps of a data set", at_least=10, at_most=20_000)
    sequences: int = knob(1, "data sets", at_least=1, at_most=100)
    starts: list[str] = knob(
        ["random"], "kinds of start", choices=tuple(dict.fromkeys(CATEGORICAL + GAUSSIAN)),
        distinct=True,
    )  # fmt: skip
    restarts: int = knob(20, "runs from each kind of start", at_least=1, at_most=1000)
    concentration: float = knob(1.0, "of the Dirichlet that draws random rows", above=0)
    labels: int | None = knob(None, "labelled steps of the labelled start; none: all", at_least=5)
    regularised: bool = knob(False, "give Gaussians the prior of MLAPP 11.4.2.8")
    tol: float = knob(1e-6, "gain in nats below which EM stops", above=0, at_most=1)
    max_iter: int = knob(2000, "iterations at most", at_least=1, at_most=100_000)

    def problems(self) -> "Iterator[str]":
        known = CATEGORICAL if self.chain.startswith("casino") else GAUSSIAN
        strangers = [start for start in self.starts if start not in known]
        if strangers:
            allowed = ", ".join(known)
            yield f"study.starts={strangers[0]} is not for {self.chain}; allowed: {allowed}"
        if self.chain == "casino-book" and (self.length > 300 or self.sequences > 1):
            yield "study.chain=casino-book is one game of 300 rolls; chain=casino draws others"
        if self.labels is not None and self.labels > self.length:
            yield f"study.labels={self.labels}; allowed: up to study.length={self.length}"

    def run(self, rng: Generator) -> Outcome:
        sets = make_data(self.chain, self.length, self.sequences, rng)
        runs = {start: [self._fit(start, data, rng) for data in sets] for start in self.starts}
        best = [
            np.nanmax([_highest(by_set[i].final) for by_set in runs.values()])
            for i in range(len(sets))
        ]
        metrics: dict[str, Scalar] = {"best": float(best[0])}
        table: dict[str, list[Any]] = {"start": list(runs)}
        arrays: dict[str, Floats] = {}
        for start, by_set in runs.items():
            gap = np.concatenate([top - run.final for top, run in zip(best, by_set, strict=True)])
            steps = np.concatenate([run.iterations for run in by_set])
            alive = np.isfinite(gap)
            ends = np.sort(by_set[0].final[np.isfinite(by_set[0].final)])
            found: dict[str, Scalar] = {
                "share_best": float(np.mean(gap < 1)),
                "mean_gap": float(gap[alive].mean()) if alive.any() else np.nan,
                "optima": int(np.sum(np.diff(ends, prepend=-np.inf) > SAME)),
                "median_iterations": float(np.median(steps)),
                "collapsed": int(np.sum(~alive)),
                "first": float(by_set[0].objective[0, 0]),
                "final": _highest(by_set[0].final),
                "lowest": -_highest(-by_set[0].final),
            }
            metrics |= {f"{name}_{start}": value for name, value in found.items()}
            for name, value in found.items():
                table.setdefault(name, []).append(value)
            arrays[f"gap_{start}"] = gap
            arrays[f"objective_{start}"] = by_set[0].objective[:30, : CURVE + 1]
        every = [run for by_set in runs.values() for run in by_set]
        top = max(every[:: len(sets)], key=lambda run: np.nan_to_num(run.final, nan=-np.inf).max())
        metrics |= {
            "objective_never_falls": all(_never_falls(run.objective) for run in every),
            "rows_sum_to_one": all(run.rows_sum_to_one for run in every),
            "zeros_stay_zero": all(run.zeros_stay for run in every),
            "stay_probability_best": float(top.stay[np.nanargmax(top.final)]),
        }
        if self.chain.startswith("casino"):
            metrics["step_error"] = _step_error(sets[0], rng)
        metrics |= self._statements(metrics)
        return Outcome(metrics, tables={"starts": table}, arrays=arrays)

    def _statements(self, metrics: dict[str, Any]) -> dict[str, Scalar]:
        """What the books say in words about the starts that were run."""
        share = {start: metrics[f"share_best_{start}"] for start in self.starts}
        gap = {start: metrics[f"mean_gap_{start}"] for start in self.starts}
        careful = [share[start] for start in ("labelled", "kmeans", "mixture") if start in share]
        said: dict[str, Scalar] = {}
        if "random" in share:
            said["starts_end_apart"] = metrics["optima_random"] > 1
            said["spread_random"] = metrics["final_random"] - metrics["lowest_random"]
            if careful:
                said["careful_starts_help"] = min(careful) > share["random"]
            if "viterbi" in share:
                said["viterbi_first_hurts"] = share["viterbi"] < share["random"]
            if "annealed" in share:
                said["annealing_helps"] = share["annealed"] > share["random"]
        if {"viterbi", "switched"} <= share.keys():
            said["viterbi_last_is_safer"] = gap["switched"] < gap["viterbi"]
        if "identical" in share:
            said["gain_identical"] = metrics["final_identical"] - metrics["first_identical"]
        return said

    def _fit(self, start: str, data: Data, rng: Generator) -> Run:
        options = (start, data, self.restarts, self.concentration, self.labels, rng)
        if data.truth.pi.shape[-1] == 2:
            return self._climb(start, categorical_start(*options), data, bw.FLAT, rng)
        prior = bw.FLAT
        if self.regularised:  # MLAPP 11.4.2.8: the diagonal of the data, split among the states
            D = data.x.shape[-1]
            spread = np.diag(data.x.reshape(-1, D).var(axis=0)) / 3 ** (1 / D)
            prior = bw.Prior(S0=spread, nu0=D + 2.0)
        return self._climb(start, gaussian_start(*options), data, prior, rng)

    def _climb(
        self, start: str, theta: bw.Model, data: Data, prior: bw.Prior, rng: Generator
    ) -> Run:
        def em(theta: bw.Model, steps: int, b: float = 1.0) -> EMFit[bw.Model]:
            return bw.baum_welch(
                theta, data.x, prior=prior, inverse_temperature=b, tol=self.tol, max_iter=steps
            )

        began = theta
        if start == "viterbi":
            theta = em(theta, HARD, np.inf).theta
        if start == "annealed":
            for b in ANNEAL:  # hot states grow alike: a nudge lets them part as they cool
                theta = baum_welch_starts.perturb(em(theta, 20, b).theta, rng, 0.01)
        fit = em(theta, self.max_iter)
        final, ended = fit.final, fit.theta
        if start == "switched":
            ended = em(ended, self.max_iter, np.inf).theta
            final = em(ended, 0).final
        rows = np.concatenate([ended.pi[:, None], ended.A], axis=1)
        zeros = np.concatenate([began.pi[:, None], began.A], axis=1) == 0
        alive = np.isfinite(final)
        return Run(
            final,
            fit.iterations,
            fit.objective,
            bool(np.all(rows[zeros] == 0)),
            bool(np.allclose(rows[alive].sum(axis=-1), 1.0, rtol=0, atol=1e-12)),
            np.trace(ended.A, axis1=1, axis2=2) / ended.A.shape[-1],
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, (left, right) = panels(1, 2)
        table, arrays = outcome.tables["starts"], outcome.arrays
        kinds = table["start"]
        for i, start in enumerate(kinds):
            curves = arrays[f"objective_{start}"][:, 1:].T
            steps = np.arange(1, len(curves) + 1)
            left.plot(steps, curves, color=f"C{i % 8}", linewidth=0.9, alpha=0.7)
            row = len(kinds) - 1 - i
            gap, share = arrays[f"gap_{start}"], table["share_best"][i]
            height = row + np.linspace(-0.3, 0.3, gap.size) if gap.size > 1 else [row]
            right.plot(np.maximum(gap, 0), height, ".", color=f"C{i % 8}", alpha=0.7)
            right.text(
                1.02, row, f"{share:.0%}", va="center", transform=right.get_yaxis_transform()
            )
        top, low = outcome.metrics["best"], min(table["lowest"])
        room = 0.05 * (top - low) + 0.5
        what = "Log posterior" if self.regularised else "Log likelihood"
        left.set(xlabel="EM iteration", ylabel=f"{what} (nats)", xscale="log")
        left.set(ylim=(low - 4 * room, top + room), title="One data set, by iteration")
        left.xaxis.set_major_formatter("{x:.0f}")
        right.axvline(1, color="0.4", linestyle=":", linewidth=1)
        right.set_xscale("symlog", linthresh=1)
        right.set(
            xlabel="End below the best (nats)", xlim=(-0.05, None), ylim=(-0.6, len(kinds) - 0.4)
        )
        right.set_title("All runs; share within 1 nat")
        right.set_yticks(range(len(kinds)), labels=kinds[::-1])
        right.xaxis.set_major_formatter("{x:g}")
        return {"starts": figure}


def _highest(values: Floats) -> float:
    """The largest that is a number: a collapsed restart has none."""
    alive = values[np.isfinite(values)]
    return float(alive.max()) if alive.size else np.nan


def _never_falls(objective: Floats) -> bool:
    """No step loses more than rounding may."""
    gain = np.diff(objective, axis=1)
    slack = 1e-9 * np.abs(objective[:, 1:])
    return bool(np.all((gain >= -slack) | ~np.isfinite(gain)))


def _step_error(data: Data, rng: Generator) -> float:
    """One EM step on eight symbols against counts expected under all 2^8 paths."""
    x, L = np.asarray(data.x)[:8], 6
    theta = baum_welch_starts.random_categorical(2, L, 1, rng)
    pi, A, B = (part[0] for part in theta)
    paths = hmm_enumeration.enumerate_paths(pi, A, B.T[x])
    gamma = hmm_enumeration.state_marginals(paths, 2)
    xi = hmm_enumeration.pair_marginals(paths, 2).sum(axis=0)
    counts = np.stack([gamma[x == face].sum(axis=0) for face in range(L)], axis=1)
    expected = (gamma[0], xi / xi.sum(axis=1, keepdims=True), counts / gamma.sum(axis=0)[:, None])
    step = bw.baum_welch(theta, x, max_iter=1).theta
    return max(float(np.abs(new[0] - old).max()) for new, old in zip(step, expected, strict=True))
