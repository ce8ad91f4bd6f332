"""A mixture of straight lines by EM (PRML 14.5.1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.clustering.cluster_data import place_problems
from experiments.studies.clustering.mixture_path import CLOSE, never_falls
from models.clustering.linear_mixture import (
    fit,
    fit_each,
    responsibilities,
    start_at,
    start_at_random,
)
from models.regression.linear import maximum_log_likelihood
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


LIMIT = 2000  # iterations of EM at most
NEAR = 0.3  # a line follows an arm if its slope is that near


@dataclass
class LineMixture(Study):
    """Lines fitted by EM to points along the two arms of a V (PRML 14.5.1, Figure 14.8)."""

    n: int = knob(50, "points", at_least=5, at_most=100_000)
    slope: float = knob(1.4, "slope of the right arm; the left has its negative")
    vertex: float = knob(-0.7, "the target where the arms meet, at x = 0")
    noise: float = knob(0.15, "standard deviation of the noise", above=0)
    start: list[list[float]] = knob(
        [[0.0, 0.5], [0.0, -0.5]], "intercept and slope of each line to begin with"
    )
    snapshots: list[int] = knob([30, 50], "iterations to show", at_least=1, distinct=True)
    restarts: int = knob(200, "further starts, from random lines", at_least=1, at_most=10_000)
    repetitions: int = knob(
        200, "data sets, of which the first is drawn", at_least=1, at_most=10_000
    )

    def problems(self) -> "Iterator[str]":
        yield from place_problems("start", self.start, 2)

    def run(self, rng: Generator) -> Outcome:
        shape = self.repetitions, self.n
        x = np.sort(rng.uniform(-1, 1, shape), axis=1)
        t = self.slope * np.abs(x) + self.vertex + self.noise * rng.standard_normal(shape)
        start = np.array([self.start])
        Phi = np.stack([np.ones_like(x), x], axis=-1)  # (S, N, 2): one batch for all data sets
        every = fit_each(
            Phi, t, start_at(np.repeat(start, len(x), axis=0), t), tol=0, max_iter=LIMIT
        )
        until = np.argmax(every.final[:, None] - every.objective < CLOSE, axis=1)
        slopes = np.sort(every.theta.w[..., 1], axis=1)
        follows = np.abs(slopes[:, [0, -1]] - [-self.slope, self.slope]).max(axis=1) < NEAR
        alone = _single_line(x, t)

        # The first data set, which is drawn: snapshots on the way, and random lines to start from.
        Phi, x, t = Phi[0], x[0], t[0]
        steps = [0, *sorted(self.snapshots)]
        one = fit(Phi, t, start_at(start, t), tol=0, max_iter=LIMIT, snapshots=steps)
        many = fit(
            Phi, t, start_at_random(Phi, t, len(self.start), rng, self.restarts), max_iter=LIMIT
        )
        L = one.objective[0][: int(one.iterations[0]) + 1]
        best = max(float(L[-1]), float(np.nanmax(many.final)))
        shown = [one.snapshots[step] for step in steps]
        metrics: dict[str, Scalar] = {
            "final_log_likelihood": float(L[-1]),
            "single_line_log_likelihood": float(alone[0]),
            "smallest_slope": float(slopes[0, 0]),
            "largest_slope": float(slopes[0, -1]),
            "start_finds_best": bool(L[-1] > best - CLOSE),
            "share_best": float(np.mean(many.final > best - CLOSE)),
            "mixture_beats_single_line": bool((every.final > alone).all()),
            "log_likelihood_never_falls": never_falls(every.objective)
            and never_falls(many.objective),
            "share_following_the_arms": float(follows.mean()),
            "median_iterations_until_close": float(np.median(until)),
        }
        for step in self.snapshots:
            metrics[f"shortfall_{step}"] = float(L[-1] - L[min(step, len(L) - 1)])
            metrics[f"share_converged_{step}"] = float(np.mean(until <= step))
        return Outcome(
            metrics,
            series={"log_likelihood": Series(list(range(len(L))), L.tolist())},
            arrays={
                "x": x,
                "t": t,
                "w": np.stack([theta.w[0] for theta in shown]),
                "gamma": np.stack([responsibilities(Phi, t, theta)[0] for theta in shown]),
                "climbs": many.objective[:, :101],
                "iterations_until_close": until,
            },
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid, inks

        x, t, w, gamma = (outcome.arrays[name] for name in ("x", "t", "w", "gamma"))
        ends = np.array([x.min(), x.max()])
        figure, axes = grid(2, len(w), 0.75, sharex=True, sharey="row")
        for i, step in enumerate([0, *sorted(self.snapshots)]):
            top, bottom = axes[:, i]
            top.scatter(x, t, c="0.6" if step == 0 else inks(gamma[i]), s=14, linewidths=0)
            base = np.zeros_like(x)
            for k, (intercept, slope) in enumerate(w[i]):
                top.plot(ends, intercept + slope * ends, "-" if k == 0 else "--", color=f"C{k}")
                bottom.vlines(x, base, base + gamma[i, :, k], color=f"C{k}", linewidth=2)
                base = base + gamma[i, :, k]
            top.set_title(f"{step} iterations" if step else "start")
            bottom.set_xlabel("x")
        axes[0, 0].set_ylabel("t")
        axes[1, 0].set_ylabel("Responsibilities")
        return {"lines": figure, "climb": _draw_climb(outcome)}


def _single_line(x: Floats, t: Floats) -> Floats:
    """The maximised log likelihood of one line for each data set, shape (S,)."""
    dx, dt = x - x.mean(axis=1, keepdims=True), t - t.mean(axis=1, keepdims=True)
    explained = (dx * dt).mean(axis=1) ** 2 / (dx**2).mean(axis=1)
    return maximum_log_likelihood((dt**2).mean(axis=1) - explained, x.shape[1])


def _draw_climb(outcome: Outcome) -> "Figure":
    from experiments.drawing.canvas import panels

    figure, ax = panels()
    ax.plot(outcome.arrays["climbs"].T, color="C0", alpha=0.2, linewidth=1)
    ax.plot([], [], color="C0", label="from random lines")
    ax.plot(*outcome.series["log_likelihood"], color="C1", label="from the lines that are drawn")
    single = float(outcome.metrics["single_line_log_likelihood"])
    ax.axhline(single, color="C2", linestyle="--", label="a single line, at its best")
    ax.set(xlabel="Iteration", ylabel="Log likelihood", ylim=(2.2 * single, None), xlim=(0, 100))
    ax.legend(loc="lower right")
    return figure
