"""Regularised least squares along a path of penalties (FCML 1.6, 3.7.4, notes 2.1.3 and 2.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Axis, Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies._curves import CurveOrData
from models.regression import ridge
from models.regression.bayesian_regression import map_weights
from models.regression.bias_variance import gaussian_basis
from models.regression.curves import likeness, powers
from models.regression.polynomials import random_folds
from models.types import Floats, Ints

BASES = ("polynomial", "gaussian")
PENALTIES = ("total", "mean")


@dataclass
class RidgePath(CurveOrData, Study):
    """Errors, weights and degrees of freedom along a path of penalties (FCML 1.6, notes 2.1.3)."""

    headline = {
        "loo_best_penalty": "argmin(mean(first(loo_loss), over='repetition'))",
        "test_best_penalty": "argmin(mean(first(test_loss), over='repetition'))",
        "least_loo_loss": "min(mean(first(loo_loss), over='repetition'))",
        "least_test_loss": "min(mean(first(test_loss), over='repetition'))",
    }

    basis: str = knob("polynomial", "powers of x, or a constant and Gaussian bumps", choices=BASES)
    shift: float = knob(0.0, "inputs enter the model as (x - shift) / scale")
    scale: float = knob(1.0, "inputs enter the model as (x - shift) / scale", above=0)
    penalty: str = knob("total", "which squared error lambda |w|^2 joins", choices=PENALTIES)
    orders: list[int] = knob([9], "orders, or bumps", at_least=1, at_most=40, distinct=True)
    lambdas: list[float] = knob([0.0], "penalties to show", at_least=0, distinct=True)
    ln_low: float = knob(-40.0, "the path's least ln lambda", at_least=-100, at_most=100)
    ln_high: float = knob(2.0, "the path's largest ln lambda", at_least=-100, at_most=100)
    ln_count: int = knob(43, "further penalties, on the path", at_least=0, at_most=1000)
    penalise_bias: bool = knob(True, "the first weight is penalised like the others")
    folds: int = knob(0, "folds of a cross-validation besides leave-one-out; 0: none", at_least=0)
    noise_variance: float | None = knob(None, "of a model with a prior; none: no prior", above=0)
    repetitions: int = knob(1, "draws of the noise on one design", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.ln_low >= self.ln_high:
            yield f"study.ln_low={self.ln_low:g}, ln_high={self.ln_high:g}; allowed: low < high"
        if self.folds == 1 or self.folds > self.size:
            yield f"study.folds={self.folds}: {self.size} points; allowed: 0, or 2 to {self.size}"
        if self.noise_variance is not None and min(self.lambdas) == 0:
            yield f"study.lambdas={self.lambdas}: no prior has a penalty of 0; allowed: > 0"

    def run(self, rng: Generator) -> Outcome:
        path = np.exp(np.linspace(self.ln_low, self.ln_high, self.ln_count))
        penalty = axis("penalty", np.unique([*self.lambdas, *path]))
        x, t = self.sets(rng, self.repetitions)
        if self.data is None:  # all draws share the first one's inputs, and so one decomposition
            t = self.truth(x[0]) + (t - self.truth(x))
        x = x[0]
        folds = random_folds(len(x), self.folds, rng) if self.folds else []
        order, term = axis("order", self.orders), axis("term", max(self.orders) + 1)
        repetition, point = axis("repetition", len(t)), axis("point", len(x))
        axes: dict[str, tuple[Axis, ...]] = {
            "dof": (penalty,),
            "weight": (penalty, term),
            "map_weight": (penalty, term),
            "curve": (axis("shown_penalty", sorted(self.lambdas)), axis("x", _grid(x))),
            "gradient": (),
            "origin_effect": (axis("first_weight", ["penalised", "free"]),),
            "difference_summed_to_order": (),
        }
        found = [self._order(k, penalty.values, x, t, folds) for k in self.orders]
        quantities: dict[str, Quantity] = {
            name: over([one[name] for one in found], order, *axes.get(name, (penalty, repetition)))
            for name in found[0]
        }
        if self.noise_variance is not None:
            # s in |t - Phi w|^2 / sigma^2 + w^T w / s, which sigma^2 makes the penalised error.
            variances = self.noise_variance / self._total(penalty.values, len(x))
            quantities["prior_variance"] = penalty.of(variances)
        return Outcome(inputs=point.of(x), targets=over(t, repetition, point), **quantities)

    def _order(
        self, order: int, lambdas: Floats, x: Floats, t: Floats, folds: list[Ints]
    ) -> dict[str, Any]:
        """What is recorded of one order; `weight` and `curve` of the first draw."""
        Phi, n, bias = self.design_matrix(x, order), len(x), self.penalise_bias
        total, left = self._total(lambdas, n), self._total(lambdas, n - 1)
        fit = self._path(Phi, t, lambdas)
        curves = fit.weights @ self.design_matrix(_grid(x), order).T
        few = min(order, n)  # notes (2.2) sums the error over as many points as the order
        short = self._path(Phi[:few], t[:, :few], lambdas).weights
        slope = ridge.gradient(fit, Phi, t, total, penalise_bias=bias)
        found = {
            "training_loss": np.mean((t - fit.fitted) ** 2, axis=-1),
            # The penalty on the mean error belongs to the points that are left.
            "loo_loss": ridge.loo_by_penalty(Phi, t, left, penalise_bias=bias),
            "dof": fit.dof,
            "weights_squared": np.sum(fit.weights[..., 1 - bias :] ** 2, axis=-1),
            "weight": self._padded(fit.weights[:, 0]),
            "curve": curves[np.searchsorted(lambdas, sorted(self.lambdas)), 0],
            "curve_range": np.ptp(curves, axis=-1),
            "likeness": likeness(curves, curves[:1]),  # to the curve of the least penalty
            "gradient": np.abs(slope).max() / np.abs(t @ Phi).max(),
            "difference_summed_to_order": np.ptp([short, fit.weights], axis=0).max()
            / np.abs(fit.weights).max(),
        }
        both = np.stack([t[0], t[0] + 1])  # targets, and the same moved by one
        moved = [
            np.diff(ridge.ridge_path(Phi, both, total, penalise_bias=held).fitted, axis=1)
            for held in (True, False)
        ]
        found["origin_effect"] = [np.abs(by - 1).max() for by in moved]
        if folds:
            totals = [self._total(lambdas, n - len(fold)) for fold in folds]
            found["kfold_loss"] = ridge.kfold_by_penalty(Phi, t, totals, folds, penalise_bias=bias)
        if self.curve != "unknown":
            f = fit.weights @ self.design_matrix(self.quadrature.x, order).T
            found["test_loss"] = self.expected_loss(f)
        if self.noise_variance is not None:
            likely = map_weights(Phi, t[0], self.noise_variance, self.noise_variance / total)
            found["map_weight"] = self._padded(likely)
        return found

    def _path(self, Phi: Floats, t: Floats, lambdas: Floats) -> ridge.RidgePath:
        total = self._total(lambdas, len(Phi))
        return ridge.ridge_path(Phi, t, total, penalise_bias=self.penalise_bias)

    def _total(self, lambdas: Floats, n: int) -> Floats:
        """What multiplies |w|^2 beside the sum of n squared errors."""
        return n * lambdas if self.penalty == "mean" else lambdas  # FCML 1.21; notes 2.2

    def _padded(self, weights: Floats) -> Floats:
        """Weights (penalties, terms) with zeros for the terms that only higher orders have."""
        return np.pad(weights, ((0, 0), (0, max(self.orders) + 1 - weights.shape[-1])))

    def design_matrix(self, x: Floats, order: int) -> Floats:
        """Columns 1, x, ..., x^order; or 1 and as many bumps, their centres one width apart."""
        if self.basis == "polynomial":
            return powers((x - self.shift) / self.scale, order)
        unit = (x - self.low) / (self.high - self.low)
        return gaussian_basis(unit, order, 1 / max(order - 1, 1))


def _grid(x: Floats) -> Floats:
    return np.linspace(x.min(), x.max(), 300)
