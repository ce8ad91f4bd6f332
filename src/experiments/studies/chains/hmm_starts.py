"""Optima, success rates and speed of Baum-Welch from several starts (MLAPP 17.5, PRML 13.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import baum_welch as bw
from bythebook.models.chains.named_starts import (
    CATEGORICAL,
    GAUSSIAN,
    Data,
    em_from,
    make_data,
    make_start,
)
from bythebook.models.em import smallest_gain
from bythebook.models.types import Floats

CHAINS = ("casino-book", "casino", "lilypad", "three-regions")
SAME = 0.05  # nats: runs that end closer together have found the same optimum
CURVE, FEW = 300, 30  # iterations and restarts whose objective is recorded
RUN = "start sequence restart"


@dataclass
class HmmStarts(Study):
    """Optima that EM reaches from several kinds of start (MLAPP 17.5.2.3)."""

    headline = {
        "best": "best[0]",
        "share_best_random": "share(best - final['random'] < 1)",
        "optima_random": "optima['random']",
        "median_iterations": "median(iterations)",
    }
    quantities = {
        "best": quantity("largest log likelihood that any start reaches", "sequence", unit="nats"),
        "final": quantity("log likelihood at the end of EM", RUN, unit="nats"),
        "iterations": quantity("iterations until EM converges", RUN),
        "optima": quantity("number of different optima in the first data set", "start"),
        "objective": quantity(
            "log likelihood in the first data set", "start curve iteration", unit="nats"
        ),
        "smallest_gain": quantity("smallest relative gain of an iteration", "start sequence"),
        "grown_zeros": quantity(
            "probabilities that are zero at the start and not at the end", "start sequence"
        ),
        "best_stay_probability": quantity(
            "mean probability of staying in a state, best fit to the first data set"
        ),
    }
    axes = {
        "start": axis_of("kind of start"),
        "sequence": axis_of("data set"),
        "restart": axis_of("restart"),
        "curve": axis_of("restart"),
        "iteration": axis_of("EM iteration"),
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

        def of_restarts(name: str) -> Any:  # a deterministic run counts for every restart
            shape = self.restarts
            return np.array([[np.broadcast_to(run[name], shape) for run in row] for row in runs])

        def of_sets(name: str) -> Any:
            return "start sequence", [[run[name] for run in row] for row in runs]

        final, stay = of_restarts("final"), of_restarts("stay_probability")
        ends = np.sort(final[:, 0])  # collapsed runs, which are NaN, last
        return outcome(
            {
                "start": self.starts,
                "sequence": len(sets),
                "restart": self.restarts,
                "curve": FEW,
                "iteration": CURVE + 1,
            },
            final=(RUN, final),
            best=("sequence", np.nanmax(final, axis=(0, 2))),
            iterations=(RUN, of_restarts("iterations")),
            best_stay_probability=stay[:, 0].flat[np.nanargmax(final[:, 0])],
            optima=("start", np.sum(np.diff(ends, prepend=-np.inf) > SAME, axis=1)),
            objective=("start curve iteration", [_padded(row[0]["objective"]) for row in runs]),
            smallest_gain=of_sets("smallest_gain"),
            grown_zeros=of_sets("grown_zeros"),
        )

    def _prior(self, data: Data) -> bw.Prior:
        if not self.regularised or self._casino:
            return bw.FLAT
        # MLAPP 11.4.2.8: the diagonal of the data, split among the states
        D = data.x.shape[-1]
        return bw.Prior(S0=np.diag(data.x.var(axis=0)) / 3 ** (1 / D), nu0=D + 2.0)

    def _fit(self, kind: str, data: Data, rng: Generator) -> dict[str, Any]:
        """Objectives and final parameters of the restarts of one start on one data set."""
        prior = self._prior(data)
        began = make_start(kind, data, self.restarts, self.concentration, self.labels, rng)
        ended, final, fit = em_from(kind, began, data.x, prior, self.tol, self.max_iter, rng)
        zeros = np.concatenate([began.pi[:, None], began.A], axis=1) == 0
        rows = np.concatenate([ended.pi[:, None], ended.A], axis=1)
        return {
            "final": final,
            "iterations": fit.iterations,  # of soft EM
            "objective": fit.objective,
            "stay_probability": np.trace(ended.A, axis1=1, axis2=2) / ended.A.shape[-1],
            "smallest_gain": smallest_gain(fit.objective),
            "grown_zeros": np.sum(rows[zeros] != 0),
        }


def _padded(curves: Floats) -> Floats:
    """The first curves (restarts, iterations) of a start, NaN where there are none."""
    few = curves[:FEW, : CURVE + 1]
    room = (0, FEW - few.shape[0]), (0, CURVE + 1 - few.shape[1])
    return np.pad(few, room, constant_values=np.nan)
