"""Restarts of a network, and averages of their weights or of their predictions (MLAPP 16.5.5)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.networks.neural_network import (
    error_and_gradient,
    fit_networks,
    predict,
    random_start,
)

FLAT = 1e-5  # no entry of a gradient at a minimum is larger


@dataclass
class NetworkRestarts(Study):
    """Minima that restarts reach on sets of noisy points of sin(pi x), and their averages."""

    headline = {"error_spread": "max(error_spread)"}
    quantities = {
        "error_spread": quantity(
            "difference of the errors of a set's minima, as a share of the targets' variance",
            "repetition",
        ),
        "averaged_weights_loss": quantity(
            "mean squared distance from the true curve of the network of mean weights",
            "repetition",
        ),
        "averaged_outputs_loss": quantity(
            "mean squared distance from the true curve of the mean prediction", "repetition"
        ),
        "truth": quantity("true curve", "x"),
        "fit": quantity("output of each restart on the first set", "restart x"),
        "of_mean_weights": quantity("output of the network of mean weights", "x"),
    }
    axes = {
        "repetition": axis_of("data set"),
        "restart": axis_of("restart"),
        "x": axis_of("input"),
    }

    hidden: int = knob(3, "tanh units", at_least=1, at_most=20)
    points: int = knob(25, "in a data set", at_least=5)
    noise: float = knob(0.2, "standard deviation", at_least=0)
    decay: float = knob(1e-3, "of the weights; without it minima are flat valleys", above=0)
    repetitions: int = knob(20, "data sets", at_least=1, at_most=200)
    restarts: int = knob(20, "on each data set", at_least=2, at_most=200)

    def run(self, rng: Generator) -> Outcome:
        sizes, S, R = (1, self.hidden, 1), self.repetitions, self.restarts
        x = rng.uniform(-1, 1, (S, self.points))
        t = np.sin(np.pi * x) + self.noise * rng.standard_normal(x.shape)
        many = np.repeat(3 * x, R, axis=0)[..., None], np.repeat(t, R, axis=0)
        start = random_start(sizes, S * R, rng)
        theta = fit_networks(start, sizes, *many, decay=self.decay, max_iter=400).theta
        error, gradient = error_and_gradient(theta, sizes, many[0], many[1][..., None])
        flat = (np.abs(gradient + self.decay * theta).max(1) <= FLAT).reshape(S, R)
        error = error.reshape(S, R)
        high = np.where(flat, error, -np.inf).max(1)
        low = np.where(flat, error, np.inf).min(1)
        spread = np.where(flat.sum(1) > 1, high - low, 0.0) / (0.5 * self.points * t.var(1))
        grid = np.linspace(-1, 1, 101)
        truth = np.sin(np.pi * grid)
        f = predict(theta, sizes, 3 * grid[:, None])[..., 0].reshape(S, R, -1)
        averaged = predict(theta.reshape(S, R, -1).mean(1), sizes, 3 * grid[:, None])[..., 0]
        return outcome(
            {"repetition": S, "restart": R, "x": grid},
            error_spread=("repetition", spread),
            averaged_weights_loss=("repetition", ((averaged - truth) ** 2).mean(1)),
            averaged_outputs_loss=("repetition", ((f.mean(1) - truth) ** 2).mean(1)),
            truth=("x", truth),
            fit=("restart x", f[0]),
            of_mean_weights=("x", averaged[0]),
        )
