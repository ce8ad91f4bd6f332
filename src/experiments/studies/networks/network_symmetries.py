"""Symmetries of network weights, and other minima (MLAPP 16.5.5)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.networks import symmetries
from bythebook.models.networks.neural_network import (
    error_and_gradient,
    fit_networks,
    predict,
    random_start,
)

WAYS = {"flips": (True, False), "orders": (False, True), "all": (True, True)}
FLAT = 1e-5  # no entry of a gradient at a minimum is larger
DECAY = 1e-3  # without it valleys are too flat for convergence


@dataclass
class NetworkSymmetries(Study):
    """Images of weight vectors under sign flips and permutations; restarts (MLAPP 16.5.5)."""

    headline = {"equal_settings": "max(equal_all)"}
    more_quantities = True
    quantities = {
        "equal_all": quantity("number of weight vectors with the same outputs", "hidden draw"),
    }

    hidden: list[int] = knob([1, 2, 3], "tanh units", at_least=1, at_most=5, distinct=True)
    draws: int = knob(20, "random networks of each size", at_least=1, at_most=1000)
    fits: int = knob(20, "data sets that are fitted", at_least=1, at_most=200)
    restarts: int = knob(20, "starts on each", at_least=2, at_most=200)
    fitted: int = knob(3, "tanh units of a fitted network", at_least=1, at_most=20)
    points: int = knob(25, "in a data set", at_least=5)

    def run(self, rng: Generator) -> Outcome:
        return Outcome(**self._images(rng), **self._restarts(rng))

    def _images(self, rng: Generator) -> dict[str, Quantity]:
        hidden, draw = axis("hidden", sorted(self.hidden)), axis("draw", self.draws)
        counts = np.empty((3, len(hidden), self.draws), dtype=np.int64)
        flipped, mean = np.empty((2, len(hidden), self.draws))
        x = rng.standard_normal((10, 2))
        for h, units in enumerate(hidden.values.tolist()):
            sizes = (2, units, 2)
            thetas = random_start(sizes, self.draws, rng)
            for d, theta in enumerate(thetas):
                right = predict(theta, sizes, x)
                for w, (flips, orders) in enumerate(WAYS.values()):
                    found = symmetries.images(theta, sizes, flips=flips, orders=orders)
                    counts[w, h, d] = symmetries.count_equal(theta, found, sizes, x)
                ones = np.array(
                    [
                        symmetries.image(theta, sizes, np.arange(units), sign)
                        for sign in 1 - 2 * np.eye(units)
                    ]
                )
                flipped[h, d] = np.abs(predict(ones, sizes, x) - right).max()
                half = predict((theta + ones[0]) / 2, sizes, x)
                mean[h, d] = np.abs(half - right).max()
        return {
            **{f"equal_{way}": over(counts[w], hidden, draw) for w, way in enumerate(WAYS)},
            "flip_gap": over(flipped, hidden, draw),
            "mean_of_equals_gap": over(mean, hidden, draw),
        }

    def _restarts(self, rng: Generator) -> dict[str, Quantity]:
        """Minima of restarts, and averages of their weights or of their outputs."""
        sizes, S, R = (1, self.fitted, 1), self.fits, self.restarts
        x = rng.uniform(-1, 1, (S, self.points))
        t = np.sin(np.pi * x) + 0.2 * rng.standard_normal(x.shape)
        many = np.repeat(3 * x, R, axis=0)[..., None], np.repeat(t, R, axis=0)
        start = random_start(sizes, S * R, rng)
        theta = fit_networks(start, sizes, *many, decay=DECAY, max_iter=400).theta
        error, gradient = error_and_gradient(theta, sizes, many[0], many[1][..., None])
        gradient = gradient + DECAY * theta
        flat = (np.abs(gradient).max(1) <= FLAT).reshape(S, R)
        error = error.reshape(S, R)
        high = np.where(flat, error, -np.inf).max(1)
        low = np.where(flat, error, np.inf).min(1)
        spread = np.where(flat.sum(1) > 1, high - low, 0.0) / (0.5 * self.points * t.var(1))
        grid = np.linspace(-1, 1, 101)
        truth = np.sin(np.pi * grid)
        f = predict(theta, sizes, 3 * grid[:, None])[..., 0].reshape(S, R, -1)
        averaged = predict(theta.reshape(S, R, -1).mean(1), sizes, 3 * grid[:, None])[..., 0]
        data_set, place = axis("data_set", S), axis("x", grid)
        return {
            "restart_spread": data_set.of(spread),
            "flat_ends": data_set.of(flat.sum(1)),
            "averaged_weights_loss": data_set.of(((averaged - truth) ** 2).mean(1)),
            "averaged_outputs_loss": data_set.of(((f.mean(1) - truth) ** 2).mean(1)),
            "fit": over(f[0], axis("restart", R), place),
            "of_mean_weights": place.of(averaged[0]),
        }
