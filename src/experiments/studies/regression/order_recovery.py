"""Can the order of a polynomial be recovered from data? Draws about a known curve (FCML 1.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.regression._curves import NoisyCubic
from models.regression.curves import inputs, noisy, powers
from models.regression.polynomials import (
    OrderFits,
    fit_orders,
    kfold_loss,
    loo_loss,
    predict_orders,
    training_loss,
)
from models.types import Floats

METHODS = ("loo", "kfold", "holdout")


@dataclass
class OrderRecovery(NoisyCubic, Study):
    """How often cross-validation finds the order of the true polynomial (FCML 1.5.2)."""

    headline = {
        f"share_{name}_recovers": f"share(argmin({name}_loss, over='order') == true_order)"
        for name in (*METHODS, "test")
    }

    orders: list[int] = knob(list(range(8)), "to compare", at_least=0, at_most=20, distinct=True)
    methods: list[str] = knob(["loo"], "how the order is chosen", choices=METHODS, distinct=True)
    folds: int = knob(10, "folds for the method kfold", at_least=2)
    held_out: int = knob(3, "points kept aside for the method holdout", at_least=1)
    test_points: int = knob(0, "to test on; 0: the expectation", at_least=0, at_most=10_000)
    repetitions: int = knob(500, "data sets to draw", at_least=1, at_most=100_000)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if "kfold" in self.methods and self.folds > self.n:
            yield f"study.folds={self.folds}: {self.n} points; allowed: <= {self.n}"
        left = {
            "loo": self.n - 1,
            "kfold": self.n - -(-self.n // self.folds),
            "holdout": self.n - self.held_out,
        }
        points = min([self.n, *(left[method] for method in self.methods)])
        if "holdout" in self.methods and self.n - self.held_out < 2:
            yield f"study.held_out={self.held_out}: {self.n} points; allowed: <= {self.n - 2}"
        elif max(self.orders) >= points:
            yield f"study.orders={self.orders}: fits to {points} points; allowed: orders < {points}"

    def run(self, rng: Generator) -> Outcome:
        order, repetition = axis("order", sorted(self.orders)), axis("repetition", self.repetitions)
        x, t = self.sample(rng, self.repetitions)
        # In random order the first points are a random hold-out set, and blocks are random folds.
        mixed = rng.permuted(np.tile(np.arange(self.n), (self.repetitions, 1)), axis=-1)
        x, t = np.take_along_axis(x, mixed, axis=-1), np.take_along_axis(t, mixed, axis=-1)
        fits = fit_orders(x, t, max(self.orders))
        # Of an exact fit rounding is left, and the least of that would choose an order.
        losses = {
            name: np.maximum(values[:, order.values], 1e-20 * t.var())
            for name, values in self._losses(fits, x, t, rng).items()
        }
        test = losses["test_loss"]
        chosen = [np.argmin(losses[f"{name}_loss"], axis=-1) for name in self.methods]
        picked = [np.take_along_axis(test, place[:, None], axis=-1)[:, 0] for place in chosen]
        found = self.drawn(x[0], t[0])
        found |= {name: over(values, repetition, order) for name, values in losses.items()}
        # The loss on new data of the order that each method chooses.
        found["chosen_test_loss"] = over(picked, axis("method", self.methods), repetition)
        weights = _weights(fits, self.low, self.high)
        found["weight"] = over(weights, repetition, axis("term", weights.shape[-1]))
        grid = axis("x", self.grid())
        found["curve"] = over(predict_orders(fits, grid.values)[0, order.values], order, grid)
        if self.true_order is not None:
            found["true_order"] = Quantity(self.true_order)
        return Outcome(**found)

    def _losses(self, fits: OrderFits, x: Floats, t: Floats, rng: Generator) -> dict[str, Floats]:
        """Mean squared losses, each (repetitions, orders from 0)."""
        losses = {"training_loss": training_loss(fits)}
        if "loo" in self.methods:
            losses["loo_loss"] = loo_loss(fits)
        if "kfold" in self.methods:
            losses["kfold_loss"] = kfold_loss(fits, np.array_split(np.arange(self.n), self.folds))
        if "holdout" in self.methods:
            held, rest = slice(self.held_out), slice(self.held_out, None)
            trained = fit_orders(x[:, rest], t[:, rest], fits.c.shape[-1] - 1)
            errors = t[:, None, held] - predict_orders(trained, x[:, held])
            losses["holdout_loss"] = np.mean(errors**2, axis=-1)
        if self.test_points:
            x_new = inputs(self.test_points, self.low, self.high, "uniform", self.repetitions, rng)
            t_new = noisy(self.truth(x_new), self.noise, rng)
            errors = t_new[:, None] - predict_orders(fits, x_new)
            losses["test_loss"] = np.mean(errors**2, axis=-1)
        else:
            losses["test_loss"] = self.expected_loss(predict_orders(fits, self.quadrature.x))
        return losses


def _weights(fits: OrderFits, low: float, high: float) -> Floats:
    """Weights of 1, x, ..., x^K, (repetitions, K + 1), from the K-th order fit at K + 1 points."""
    K = fits.c.shape[-1] - 1
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(K + 1) + 0.5) / (K + 1))
    values = predict_orders(fits, nodes)[:, -1]
    return np.asarray(np.linalg.solve(powers(nodes, K), values.T).T, dtype=np.float64)
