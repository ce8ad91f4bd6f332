"""EM one data point at a time against EM over the whole set (PRML 9.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.clustering.cluster_data import Clusters, place_problems
from experiments.studies.clustering.mixture_path import never_falls
from models.clustering.gaussian_mixture import fit, log_density, responsibilities
from models.clustering.gaussian_mixture_starts import start_at
from models.clustering.gaussian_mixture_variants import fit_incremental
from models.em import take
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class IncrementalEm(Clusters, Study):
    """Passes until EM is close to the maximum, over all points or one by one (PRML 9.4)."""

    start: list[list[float]] = knob([[-1.5, 1.0], [1.5, -1.0]], "the means to begin with")
    variance: float = knob(1.0, "the covariances begin as this times the unit matrix", above=0)
    orders: int = knob(20, "random orders of the points", at_least=1, at_most=1000)
    passes: int = knob(60, "passes over the data at most", at_least=1, at_most=1000)
    close: float = knob(1e-3, "log units below the maximum that count as close", above=0)

    def rules(self) -> "Iterator[str]":
        yield from place_problems("start", self.start, self.size[1])

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        theta = start_at(np.array(self.start)[None], self.variance * np.eye(X.shape[1]))
        limit = {"tol": 0.0, "max_iter": self.passes}
        batch = fit(X, theta, **limit)  # type: ignore[arg-type]
        maximum = float(fit(X, theta, tol=0, max_iter=10_000).final[0])
        # The order of the file first, then random ones.
        R = self.orders + 1
        orders = np.stack(
            [np.arange(len(X)), *(rng.permutation(len(X)) for _ in range(self.orders))]
        )
        many = take(theta, np.zeros(R, dtype=np.int64))
        every = range(self.passes + 1)
        point = fit_incremental(X, many, orders, **limit, snapshots=every)  # type: ignore[arg-type]
        steps = sorted(point.snapshots)
        L = np.stack([log_density(X, point.snapshots[t].theta).sum(axis=1) for t in steps], axis=1)
        needed = _passes(L, maximum - self.close)
        alone = int(_passes(batch.objective, maximum - self.close)[0])
        error = _update_error(X, theta.mu, rng)
        metrics: dict[str, Scalar] = {
            "batch_passes": alone,
            "incremental_passes_file_order": int(needed[0]),
            "incremental_passes_median": float(np.median(needed)),
            "incremental_faster": bool(np.median(needed) < alone),
            "share_faster": float(np.mean(needed < alone)),
            "bound_never_falls": never_falls(point.objective),
            "same_maximum": bool(np.allclose(L[:, -1], maximum, atol=1e-6)),
            "maximum": maximum,
            "update_error": error,
            "update_equals_recomputation": error < 1e-10,
        }
        curve = batch.objective[0][: int(batch.iterations[0]) + 1]
        return Outcome(
            metrics,
            series={
                "batch": Series(list(range(len(curve))), curve.tolist()),
                "incremental_file_order": Series(steps, L[0].tolist()),
            },
            arrays={"batch": curve, "incremental": L, "incremental_passes": needed},
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        maximum = float(outcome.metrics["maximum"])
        shown = 1 + max(
            int(outcome.metrics["batch_passes"]), int(outcome.arrays["incremental_passes"].max())
        )
        below = [
            np.maximum(maximum - outcome.arrays[name], 1e-12) for name in ("incremental", "batch")
        ]
        ax.plot(below[0].T[: shown + 2], color="C1", alpha=0.35, linewidth=1)
        ax.plot([], [], color="C1", label="point by point, each order")
        ax.plot(below[1][: shown + 2], color="C0", marker="o", label="batch")
        ax.axhline(self.close, color="0.4", linestyle="--", linewidth=1, label="close")
        ax.set(xlabel="Passes over the data", ylabel="Log likelihood below the maximum")
        ax.set(yscale="log", ylim=(self.close / 1000, None))
        ax.legend(loc="lower left")
        return {"passes": figure}


def _passes(L: Floats, level: float) -> Ints:
    """The first pass after which each row has reached the level; one more than all if none has."""
    reached = L - level >= 0
    return np.asarray(np.where(reached.any(axis=1), reached.argmax(axis=1), L.shape[1]))


def _update_error(X: Floats, mu: Floats, rng: Generator) -> float:
    """Renew one point's responsibilities: (9.78) and (9.79) against the mean from scratch."""
    theta = start_at(mu, np.eye(X.shape[1]))
    gamma = responsibilities(X, theta)[0]
    N = gamma.sum(axis=0)
    mean = gamma.T @ X / N[:, None]
    m = int(rng.integers(len(X)))
    renewed = gamma.copy()
    renewed[m] = rng.dirichlet(np.ones(len(N)))
    d = renewed[m] - gamma[m]
    updated = mean + (d / (N + d))[:, None] * (X[m] - mean)  # (9.78), (9.79)
    scratch = renewed.T @ X / renewed.sum(axis=0)[:, None]
    return float(np.abs(updated - scratch).max())
