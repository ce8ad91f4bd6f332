"""Pruning of the connections of a deep network by an l1 penalty (MLAPP 16.5.6.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.networks.neural_network import (
    error_and_gradient,
    fit_network,
    n_parameters,
    predict,
)
from bythebook.models.regression.random_curves import random_curves
from bythebook.models.types import Floats


@dataclass
class NetworkPruning(Study):
    """Remaining connections and fit against the weight of an l1 penalty (MLAPP Figure 16.18)."""

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
        sizes, penalty = self.layer_sizes, axis("penalty", sorted(self.penalties))
        data = random_curves(self.repetitions, self.n, rng)
        start = rng.standard_normal((self.repetitions, n_parameters(sizes)))
        repetition, point = axis("repetition", self.repetitions), axis("point", self.n)
        theta = np.repeat(start[None], len(penalty), axis=0)
        misfit = np.empty(theta.shape[:2])
        for i, l1 in enumerate(penalty.values):
            for s in range(self.repetitions):
                x, t, here = data.x[s, :, None], data.t[s, :, None], theta[i, s : s + 1]
                for _ in range(self.rounds):
                    here[:] = fit_network(
                        here, sizes, x, t, decay=self.decay, l1=l1, max_iter=self.max_iter
                    ).theta
                misfit[i, s] = np.std(predict(here, sizes, x) - t) / np.std(t)
        drawn = theta[penalty.index_of(self.penalties[0]), :1]
        return Outcome(
            connections=over(np.sum(np.abs(theta) > self.threshold, axis=-1), penalty, repetition),
            connections_at_start=start.shape[1],
            misfit=over(misfit, penalty, repetition),  # of the data, in their standard deviations
            weight=axis("connection", start.shape[1]).of(drawn[0]),
            slope=axis("connection", start.shape[1]).of(self._slope(drawn, data.x[0], data.t[0])),
            inputs=point.of(data.x[0]),
            targets=point.of(data.t[0]),
            curve=axis("x", data.grid).of(predict(drawn, sizes, data.grid[:, None])[0, :, 0]),
        )

    def _slope(self, theta: Floats, x: Floats, t: Floats) -> Floats:
        """Slope of error and decay, without the l1 penalty, at the drawn network, (P,)."""
        _, gradient = error_and_gradient(theta, self.layer_sizes, x[:, None], t[:, None])
        return np.asarray(gradient[0] + self.decay * theta[0])
