"""The climb to the most probable weights by Newton-Raphson (FCML 4.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from experiments.drawing.clusters import grid, legend_below, whole_steps
from experiments.studies.regression.regression_posterior import (
    RegressionPosterior,
    derivatives_agree,
    draw_classes,
    draw_lines,
    draw_probability,
    plane,
)
from models.classification.logistic import gradient, hessian, log_g, newton_raphson, predict
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_SHOWN = ("data", "path", "boundary")


@dataclass
class NewtonMap(RegressionPosterior, Study):
    """The most probable weights by Newton-Raphson, and the boundary they draw (FCML 4.3)."""

    start: list[float] = knob([0.0, 0.0], "where the climb begins")
    tol: float = knob(1e-6, "converged when the squared change of w is smaller", above=0)
    max_steps: int = knob(100, "updates at most", at_least=1, at_most=10_000)
    starts_reach: float = knob(5.0, "further starts on a grid from -reach to reach", above=0)
    new: list[float] = knob([-3.0, 5.0], "attributes of a new object")
    show: list[str] = knob(["path"], "what to draw", choices=_SHOWN, distinct=True)

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        for name, values in (("start", self.start), ("new", self.new)):
            if len(values) != self.dimension or not np.isfinite(values).all():
                yield f"study.{name}={values}; allowed: {self.dimension} finite numbers"
        if self.dimension != 2:
            yield f"the model has {self.dimension} weights; allowed: 2"
        if self.response != "binary" and {"data", "boundary"} & set(self.show):
            yield f"study.show={self.show} needs study.response=binary; allowed else: path"

    def run(self, rng: Generator) -> Outcome:
        posterior = self.posterior(rng)
        X, t = posterior.X, posterior.t
        climb = newton_raphson(posterior, np.array([self.start]), self.tol, self.max_steps)
        path, w = climb.path[:, 0], climb.path[-1, 0]
        axis = np.linspace(-self.starts_reach, self.starts_reach, 21)
        starts = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        others = newton_raphson(posterior, starts, self.tol, self.max_steps)
        tops = np.linalg.eigvalsh(hessian(posterior, np.concatenate([path, starts])))[:, -1]
        square, points = plane()
        P = predict(w[None], points, self.response)
        metrics: dict[str, Any] = {
            "converged": climb.converged[0],
            "iterations": int(climb.steps[0]),
            "w_1": w[0],
            "w_2": w[1],
            "log_g": float(log_g(posterior, w)),
            "gradient_vanishes": bool(np.abs(gradient(posterior, w)).max() < 1e-3),
            "hessian_negative_definite": bool(tops.max() < 0),
            "share_of_starts_that_converge": others.converged.mean(),
            "same_maximum_from_every_start": bool(
                others.converged.all() and np.abs(others.path[-1] - w).max() < 1e-3
            ),
            "derivatives_agree": derivatives_agree(posterior, path),
            "expected_at_new": float(predict(w[None], np.array([self.new]), self.response)[0]),
            "n_points": len(t),
        }
        if self.response == "binary":
            fitted = predict(w[None], X)
            along = np.stack([-w[1], w[0]]) / np.linalg.norm(w)
            shifted = predict(w[None], points + along)  # contours are lines along this direction
            metrics |= {
                "n_class_1": int(t.sum()),
                "training_errors": int(((fitted > 0.5) != t).sum()),
                "mean_probability_at_class_1": float(fitted[t == 1].mean()),
                "mean_probability_at_class_0": float(fitted[t == 0].mean()),
                "probability_between_classes": self._between(X, t, w),
                "contours_are_straight_and_parallel": bool(np.allclose(P, shifted, atol=1e-9)),
            }
        return Outcome(
            metrics,
            tables={"path": {"iteration": range(len(path)), "w_1": path[:, 0], "w_2": path[:, 1]}},
            arrays={"X": X, "t": t, "w": w, "axis": square, "P": P},
        )

    def _between(self, X: Floats, t: Floats, w: Floats) -> float:
        """P(T = 1) half-way between the centres of the classes."""
        half_way = (X[t == 0].mean(0) + X[t == 1].mean(0)) / 2
        return float(predict(w[None], half_way[None])[0])

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        draws = {"data": self._data, "path": self._path, "boundary": self._boundary}
        return {name: draws[name](outcome) for name in self.show}

    def _data(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        draw_classes(ax, outcome.arrays["X"], outcome.arrays["t"])
        ax.legend(loc="upper left")
        return figure

    def _path(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        table = outcome.tables["path"]
        figure, ax = panels()
        for name, mark in (("w_1", "o-"), ("w_2", "s--")):
            ax.plot(table["iteration"], table[name], mark, label=f"${name}$")
        ax.set(xlabel="iteration", ylabel="weight")
        whole_steps(ax)
        ax.legend(loc="lower right")
        return figure

    def _boundary(self, outcome: Outcome) -> "Figure":
        arrays = outcome.arrays
        figure, axes = grid(1, 2, 1.02)
        draw_lines(axes[0, 0], arrays["w"][None], color="black", label="P(T = 1) = 0.5")
        draw_probability(axes[0, 1], arrays["axis"], arrays["P"])
        for ax in axes[0]:
            draw_classes(ax, arrays["X"], arrays["t"])
        axes[0, 1].set_title("P(T = 1 | x, ŵ)")
        legend_below(axes[0, 0])
        return figure
