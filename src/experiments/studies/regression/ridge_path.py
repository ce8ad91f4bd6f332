"""Regularised least squares along a path of penalties (FCML 1.6, notes 2.1.3 and 2.2)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from experiments.studies.regression.curve_data import CurveOrData, tiles
from models.regression.curves import expected_loss, powers, quadrature
from models.regression.polynomials import random_folds
from models.regression.ridge import RidgePath as Fits
from models.regression.ridge import loo_by_penalty, ridge_path
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

BASES = ("polynomial", "gaussian")
PENALTIES = ("total", "mean")
_LABELS = {"training": "training", "loo": "leave-one-out", "kfold": "folds", "test": "new data"}


@dataclass
class Penalised(CurveOrData):
    """Polynomials or bumps, and what lambda multiplies."""

    basis: str = knob("polynomial", "powers of x, or a constant and Gaussian bumps", choices=BASES)
    shift: float = knob(0.0, "inputs enter the model as (x - shift) / scale")
    scale: float = knob(1.0, "inputs enter the model as (x - shift) / scale", above=0)
    penalty: str = knob(
        "total", "lambda |w|^2 joins the total or the mean squared error", choices=PENALTIES
    )

    def design_matrix(self, x: Floats, order: int) -> Floats:
        """Columns 1, x, ..., x^order; or 1 and as many bumps, their centres one width apart."""
        if self.basis == "polynomial":
            return powers((x - self.shift) / self.scale, order)
        width = (self.high - self.low) / max(order - 1, 1)
        centres = self.low + width * np.arange(order)
        bumps = np.exp(-0.5 * ((x[:, None] - centres) / width) ** 2)
        return np.column_stack([np.ones_like(x), bumps])

    def total(self, lambdas: Floats, n: int) -> Floats:
        """What multiplies |w|^2 beside the sum of n squared errors."""
        return n * lambdas if self.penalty == "mean" else lambdas  # FCML 1.21; notes 2.2


@dataclass
class RidgePath(Penalised, Study):
    """Errors, weights and degrees of freedom along a path of penalties (FCML 1.6, notes 2.1.3)."""

    orders: list[int] = knob(
        [9], "orders (or numbers of bumps)", at_least=1, at_most=40, distinct=True
    )
    lambdas: list[float] = knob([0.0], "penalties to show", at_least=0, distinct=True)
    ln_low: float = knob(-40.0, "the path's least ln lambda", at_least=-100, at_most=100)
    ln_high: float = knob(2.0, "the path's largest ln lambda", at_least=-100, at_most=100)
    ln_count: int = knob(
        43, "penalties on the path, besides those to show", at_least=0, at_most=1000
    )
    penalise_bias: bool = knob(True, "the first weight is penalised like the others")
    folds: int = knob(0, "folds of a cross-validation besides leave-one-out; 0: none", at_least=0)
    repetitions: int = knob(
        1, "draws of the noise, on one set of inputs", at_least=1, at_most=10_000
    )

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if self.ln_low >= self.ln_high:
            yield f"study.ln_low={self.ln_low:g}, ln_high={self.ln_high:g}; allowed: low < high"
        if self.folds == 1 or self.folds > self.size:
            yield f"study.folds={self.folds}: {self.size} points; allowed: 0, or 2 to {self.size}"

    def run(self, rng: Generator) -> Outcome:
        path = np.exp(np.linspace(self.ln_low, self.ln_high, self.ln_count))
        lambdas = np.unique([*self.lambdas, *path])
        x, t = self.sets(rng, self.repetitions)
        if self.data is None:  # all draws share the first one's inputs, and so one decomposition
            t = self.truth(x[0]) + (t - self.truth(x))
        x = x[0]
        folds = random_folds(len(x), self.folds, rng) if self.folds else []
        metrics: dict[str, Any] = {}
        series: dict[str, Any] = {}
        tables = {}
        arrays = {"x": x, "t": t[0], "grid": np.linspace(x.min(), x.max(), 300)}
        for order in self.orders:
            Phi = self.design_matrix(x, order)
            fit = ridge_path(Phi, t, self.total(lambdas, len(x)), penalise_bias=self.penalise_bias)
            losses = {"training": np.mean((t - fit.fitted) ** 2, axis=-1)}
            losses |= self._losses(order, lambdas, x, t, folds, fit)
            curves = fit.weights @ self.design_matrix(arrays["grid"], order).T
            shown = np.searchsorted(lambdas, sorted(self.lambdas))
            arrays[f"curves_{order}"] = curves[shown, 0]
            found = self._statements(lambdas, Phi, t, fit, losses)
            ranges = np.median(np.ptp(curves, axis=-1), axis=-1)
            found["ranges_always_fall"] = bool(np.all(np.diff(ranges) < 0))
            found["sum_to_order_agrees"] = self._sum_to_order_agrees(order, lambdas, Phi, t, fit)
            for k, value in zip(shown, sorted(self.lambdas), strict=True):
                exact = bool(losses["training"][k].max() < 1e-12 * t.var())
                alike = np.median(_correlation(curves[k], curves[shown[0]]))
                here = {"interpolates": exact, "curve_range": ranges[k], "likeness": alike}
                here |= {f"{name}_loss": np.median(loss[k]) for name, loss in losses.items()}
                here |= {f"weight_{j}": w for j, w in enumerate(fit.weights[k, 0])}
                found |= {f"{name}_lambda_{value:g}": v for name, v in here.items()}
            metrics |= {f"{name}_order_{order}": value for name, value in found.items()}
            rms = {f"{k}_rms": np.median(np.sqrt(loss), axis=-1) for k, loss in losses.items()}
            size2 = np.median(self._size2(fit), axis=-1)
            table = {"lambda": lambdas, "dof": fit.dof, "weights_squared": size2, **rms}
            tables[f"order_{order}"] = table
            series |= {f"{name}_order_{order}": values for name, values in rms.items()}
        return Outcome(metrics, series, tables, arrays)

    def _losses(
        self, order: int, lambdas: Floats, x: Floats, t: Floats, folds: list[Ints], fit: Fits
    ) -> dict[str, Floats]:
        """Mean squared errors on points not fitted to, each (penalties, draws)."""
        n, free = len(x), {"penalise_bias": self.penalise_bias}
        Phi = self.design_matrix(x, order)
        # The penalty on the mean error belongs to the points that are left.
        losses = {"loo": loo_by_penalty(Phi, t, self.total(lambdas, n - 1), **free)}
        if folds:
            errors = np.empty((len(lambdas), *t.shape))
            for fold in folds:
                rest = np.setdiff1d(np.arange(n), fold)
                trained = ridge_path(Phi[rest], t[:, rest], self.total(lambdas, len(rest)), **free)
                errors[..., fold] = t[:, fold] - trained.weights @ Phi[fold].T
            losses["kfold"] = np.mean(errors**2, axis=-1)
        if self.curve != "unknown":
            nodes = quadrature(self.low, self.high)
            f = fit.weights @ self.design_matrix(nodes.x, order).T
            losses["test"] = expected_loss(f, self.truth(nodes.x), nodes.weight, self.noise)
        return losses

    def _size2(self, fit: Fits) -> Floats:
        """w^T w over the penalised weights, (penalties, draws)."""
        return np.asarray(np.sum(fit.weights[..., 0 if self.penalise_bias else 1 :] ** 2, axis=-1))

    def _statements(
        self, lambdas: Floats, Phi: Floats, t: Floats, fit: Fits, losses: dict[str, Floats]
    ) -> dict[str, Any]:
        """What the books say of the path, in every draw."""
        found: dict[str, Any] = {}
        for name, loss in losses.items():
            best = int(np.argmin(np.mean(loss, axis=-1)))
            found |= {
                f"{name}_best_lambda": lambdas[best],
                f"{name}_best_loss": np.mean(loss[best]),
            }
        size2 = self._size2(fit)
        found["training_never_falls"] = bool(
            np.all(np.diff(losses["training"], axis=0) > -1e-12 * t.var())
        )
        found["weights_always_shrink"] = bool(np.all(np.diff(size2, axis=0) <= 1e-9 * size2[:-1]))
        found["dof_always_falls"] = bool(np.all(np.diff(fit.dof) < 0))
        found |= {"largest_dof": fit.dof[0], "smallest_dof": fit.dof[-1]}
        if "test" in losses:
            mean = np.mean(losses["test"], axis=-1)
            found["penalty_helps"] = bool(mean.min() < mean[0])
        pull = self.total(lambdas, len(Phi))[:, None, None] * fit.weights
        pull[..., 0] *= self.penalise_bias
        gradient = pull + (fit.fitted - t) @ Phi  # of half the penalised squared error
        found["gradient_vanishes"] = bool(np.abs(gradient).max() < 1e-8 * np.abs(t @ Phi).max())
        return found

    def _sum_to_order_agrees(
        self, order: int, lambdas: Floats, Phi: Floats, t: Floats, fit: Fits
    ) -> bool:
        """Notes (2.2) sums the error over as many points as the order: are the weights the same?"""
        few = min(order, len(Phi))
        penalties = self.total(lambdas, few)
        short = ridge_path(Phi[:few], t[:, :few], penalties, penalise_bias=self.penalise_bias)
        return bool(np.allclose(short.weights, fit.weights, rtol=1e-6))

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        figures = {"curves": self._draw_curves(outcome)}
        if self.ln_count:
            figures = {"path": self._draw_path(outcome), **figures}
        return figures

    def _name(self, order: int) -> str:
        return f"order {order}" if self.basis == "polynomial" else f"{order} bumps"

    def _draw_path(self, outcome: Outcome) -> "Figure":
        figure, axes = tiles(len(self.orders) + 1, "ln λ", "root mean square error")
        for i, order in enumerate(self.orders):
            table = outcome.tables[f"order_{order}"]
            on_path = [k for k, value in enumerate(table["lambda"]) if value > 0]
            ln = [math.log(table["lambda"][k]) for k in on_path]
            for j, (name, label) in enumerate(_LABELS.items()):
                if f"{name}_rms" in table:
                    values = [table[f"{name}_rms"][k] for k in on_path]
                    axes[i].plot(ln, values, color=f"C{j}", label=label)
            axes[i].set(title=self._name(order), ylim=_limits(table))
            axes[-1].plot(
                ln, [table["dof"][k] for k in on_path], color=f"C{i}", label=self._name(order)
            )
        axes[-1].set(ylabel="effective degrees of freedom", title="flexibility")
        if len(self.orders) > 1:
            axes[-1].legend()
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return figure

    def _draw_curves(self, outcome: Outcome) -> "Figure":
        arrays, shown = outcome.arrays, sorted(self.lambdas)
        figure, axes = tiles(len(shown), *self.labels(), sharex=True, sharey=True)
        spread = np.ptp(arrays["t"])
        for k, (ax, value) in enumerate(zip(axes, shown, strict=True)):
            ax.plot(arrays["x"], arrays["t"], "o", color="black", markersize=4, label="data")
            for order in self.orders:
                ax.plot(arrays["grid"], arrays[f"curves_{order}"][k], label=self._name(order))
            ax.set(
                title=f"λ = {value:.4g}",
                ylim=(arrays["t"].min() - spread / 3, arrays["t"].max() + spread / 3),
            )
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return figure


def _limits(table: Mapping[str, list[float]]) -> tuple[float, float]:
    """Room for the error on new data; where it is unknown, for what is worth choosing from."""
    left_out = [v for name in ("loo", "kfold") for v in table.get(f"{name}_rms", [])]
    high = 1.1 * max(table["test_rms"]) if "test_rms" in table else 2 * min(left_out)
    low = min(table["training_rms"])
    return (0.8 * low if low > high / 4 else 0.0), high


def _correlation(f: Floats, g: Floats) -> Floats:
    """How alike the shapes of curves along the last axis are, whatever their level and height."""
    f, g = f - f.mean(axis=-1, keepdims=True), g - g.mean(axis=-1, keepdims=True)
    size = np.sqrt(np.sum(f**2, axis=-1) * np.sum(g**2, axis=-1))
    return np.asarray(np.sum(f * g, axis=-1) / np.maximum(size, np.finfo(np.float64).tiny))
