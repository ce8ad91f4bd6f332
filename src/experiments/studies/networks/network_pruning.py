"""Pruning of the connections of a deep network by an l1 penalty (MLAPP 16.5.6.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.networks.neural_network import (
    fit_network,
    n_parameters,
    predict,
)
from bythebook.models.regression.random_curves import random_curves


@dataclass
class NetworkPruning(Study):
    """Remaining connections and fit against the weight of an l1 penalty (MLAPP Figure 16.18)."""

    headline = {"connections": "mean(connections)", "misfit": "median(misfit)"}
    quantities = {
        "connections": quantity("connections that are left", "penalty repetition"),
        "connections_at_start": quantity("connections of the whole network"),
        "misfit": quantity(
            "standard deviation of the residuals, in that of the targets", "penalty repetition"
        ),
        "weight": quantity("weights of the network of the figure", "connection"),
        "inputs": quantity("inputs of its data", "point"),
        "targets": quantity("targets of its data", "point"),
        "curve": quantity("its output", "x"),
    }
    axes = {
        "penalty": axis_of("weight of the l1 penalty"),
        "repetition": axis_of("curve, with its data"),
        "connection": axis_of("connection"),
        "point": axis_of("point of the data"),
        "x": axis_of("input"),
    }

    hidden: list[int] = knob([4, 4, 4, 4], "tanh units in each layer", at_least=1, at_most=50)
    penalties: list[float] = knob([0.5, 0.05, 5.0], "l1; the first: drawn", above=0, distinct=True)
    decay: float = knob(1e-3, "weight of half the squared weights", at_least=0)
    n: int = knob(200, "points in a data set", at_least=2)
    repetitions: int = knob(3, "curves, with data and start each", at_least=1, at_most=100)
    max_iter: int = knob(2000, "iterations of L-BFGS-B between restarts", at_least=1)
    rounds: int = knob(4, "times that it is started, each time from the previous end", at_least=1)
    threshold: float = knob(1e-4, "a connection of this size or less counts as pruned", at_least=0)

    @property
    def layer_sizes(self) -> tuple[int, ...]:
        return (1, *self.hidden, 1)

    def run(self, rng: Generator) -> Outcome:
        sizes, penalties = self.layer_sizes, sorted(self.penalties)
        data = random_curves(self.repetitions, self.n, rng)
        start = rng.standard_normal((self.repetitions, n_parameters(sizes)))
        theta = np.repeat(start[None], len(penalties), axis=0)
        misfit = np.empty(theta.shape[:2])
        for i, l1 in enumerate(penalties):
            for s in range(self.repetitions):
                x, t, here = data.x[s, :, None], data.t[s, :, None], theta[i, s : s + 1]
                for _ in range(self.rounds):
                    here[:] = fit_network(
                        here, sizes, x, t, decay=self.decay, l1=l1, max_iter=self.max_iter
                    ).theta
                misfit[i, s] = np.std(predict(here, sizes, x) - t) / np.std(t)
        drawn = theta[penalties.index(self.penalties[0]), :1]
        return outcome(
            {
                "penalty": penalties,
                "repetition": self.repetitions,
                "connection": start.shape[1],
                "point": self.n,
                "x": data.grid,
            },
            connections=("penalty repetition", np.sum(np.abs(theta) > self.threshold, axis=-1)),
            connections_at_start=start.shape[1],
            misfit=("penalty repetition", misfit),
            weight=("connection", drawn[0]),
            inputs=("point", data.x[0]),
            targets=("point", data.t[0]),
            curve=("x", predict(drawn, sizes, data.grid[:, None])[0, :, 0]),
        )
