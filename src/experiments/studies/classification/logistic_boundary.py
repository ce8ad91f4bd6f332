"""Logistic regression with squared inputs draws a curved line (FCML 5.2.2.2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from experiments.drawing.classes import mesh, probability_lines, scatter
from models.classification.logistic import Posterior, newton_raphson, predict
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class LogisticBoundary(Study):
    """MAP logistic regression on linear and on quadratic features of two inputs (FCML 5.10)."""

    centres: list[list[float]] = knob(
        [[5.0, 1.0], [0.0, 0.0], [2.0, 3.0]], "centres of round clouds of unit variance"
    )
    sizes: list[int] = knob([50, 50, 100], "points in each cloud", at_least=1, at_most=10_000)
    classes: list[int] = knob([0, 0, 1], "the class of each cloud", choices=(0, 1))
    prior_variance: float = knob(10.0, "variance of the prior of each weight", above=0)
    low: list[float] = knob([-3.0, -3.0], "least coordinates of the map")
    high: list[float] = knob([8.0, 6.0], "largest coordinates of the map")
    repetitions: int = knob(40, "sets of points; the first is drawn", at_least=1, at_most=1000)

    def problems(self) -> "Iterator[str]":
        if not len(self.centres) == len(self.sizes) == len(self.classes):
            yield "study.centres, sizes and classes need an entry for each cloud"
        elif any(len(c) != 2 for c in (*self.centres, self.low, self.high)):
            yield f"study.centres={self.centres}, low and high: allowed: places in the plane"

    def run(self, rng: Generator) -> Outcome:
        where = np.repeat(np.array(self.centres), self.sizes, axis=0)
        t = np.repeat(np.array(self.classes, dtype=float), self.sizes)
        X = where + rng.standard_normal((self.repetitions, *where.shape))
        x, y, grid = mesh(self.low, self.high, 0.1)
        accuracy = np.empty((2, self.repetitions))
        steps = np.empty((2, self.repetitions), dtype=int)
        bends = np.empty(self.repetitions)
        arrays: dict[str, Any] = {"X": X[0], "t": t, "x": x, "y": y}
        for i, quadratic in enumerate((False, True)):
            for r, points in enumerate(X):
                design = features(points, quadratic)
                fit = newton_raphson(
                    Posterior(design, t, self.prior_variance), np.zeros((1, design.shape[1]))
                )
                w = fit.path[-1]
                accuracy[i, r] = ((predict(w, design) > 0.5) == (t == 1)).mean()
                steps[i, r] = fit.steps[0]
                if quadratic:
                    bends[r] = np.abs(w[0, 3:]).max()
                if r == 0:
                    p = predict(w, features(grid.reshape(-1, 2), quadratic))
                    name = "quadratic" if quadratic else "linear"
                    arrays[f"probability_{name}"] = p.reshape(len(y), len(x)).astype(np.float32)
                    arrays[f"w_{name}"] = w[0]
        metrics = {
            "accuracy_linear": float(accuracy[0].mean()),
            "accuracy_quadratic": float(accuracy[1].mean()),
            "share_quadratic_better": float((accuracy[1] > accuracy[0]).mean()),
            "boundary_is_nonlinear": bool(bends.min() > 0.01),
            "linear_boundary_is_straight": straight(arrays["probability_linear"]),
            "quadratic_boundary_is_straight": straight(arrays["probability_quadratic"]),
            "most_newton_steps": int(steps.max()),
        }
        return Outcome(metrics, arrays=arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        a = outcome.arrays
        figure, axes = panels(1, 2, sharey=True)
        for ax, name in zip(axes, ("linear", "quadratic"), strict=True):
            scatter(ax, a["X"], a["t"], ["class 0", "class 1"])
            probability_lines(ax, a["x"], a["y"], a[f"probability_{name}"], [0.1, 0.5, 0.9])
            ax.set_title(f"P(class 1), {name} log odds")
            ax.label_outer()
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2)
        return {"probability": figure}


def features(X: Floats, quadratic: bool) -> Floats:
    """1, x_1, x_2 and, if `quadratic`, their squares, for points (N, 2)."""
    return np.column_stack([np.ones(len(X)), X, *([X**2] if quadratic else [])])  # FCML 5.10


def straight(p: Floats) -> bool:
    """Whether the log odds on a grid have no second differences beyond rounding."""
    q = np.clip(p.astype(float), 1e-4, 1 - 1e-4)
    odds = np.log(q / (1 - q))
    inside = (np.abs(odds[1:-1, 1:-1]) < 5) & (np.abs(odds[:-2, 1:-1]) < 5)
    inside &= (np.abs(odds[2:, 1:-1]) < 5) & (np.abs(odds[1:-1, 2:]) < 5)
    inside &= np.abs(odds[1:-1, :-2]) < 5
    across = np.abs(np.diff(odds, 2, axis=1)[1:-1][inside]).max()
    along = np.abs(np.diff(odds, 2, axis=0)[:, 1:-1][inside]).max()
    return bool(max(across, along) < 1e-3)
