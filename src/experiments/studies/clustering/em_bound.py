"""The bound that EM climbs: ln p(X) = L(q, theta) + KL(q || p).

PRML 9.4, Ghahramani 3, Notes 3.3.4.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.clustering.cluster_data import Clusters
from models.clustering.gaussian_mixture import GaussianMixture, fit, log_joint
from models.clustering.gaussian_mixture_starts import start_at_points
from models.clustering.mixture import free_energy, kl_to_posterior, posterior
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


class BoundPath(NamedTuple):
    """The bound along T iterations, theta_0 to theta_T; q_t is the posterior at theta_{t-1}."""

    log_likelihood: Floats  # (T + 1,) ln p(X | theta_t)
    after_e: Floats  # (T,) L(q_t, theta_{t-1})
    after_m: Floats  # (T,) L(q_t, theta_t)
    kl_after_e: Floats  # (T,) KL(q_t || p(Z | X, theta_{t-1}))
    kl_after_m: Floats  # (T,) KL(q_t || p(Z | X, theta_t))


def bound_path(log_joint: Floats) -> BoundPath:
    """From ln p(x_n, z_n = k | theta_t), shape (T + 1, N, K): iterations are a batch axis."""
    q, log_evidence = posterior(log_joint[:-1])
    last = posterior(log_joint[-1:])[1]
    before, after = log_joint[:-1], log_joint[1:]
    return BoundPath(
        np.concatenate([log_evidence, last]).sum(axis=1),
        free_energy(before, q),
        free_energy(after, q),
        kl_to_posterior(before, q),
        kl_to_posterior(after, q),
    )


def bound_statements(path: BoundPath) -> dict[str, Scalar]:
    """What the books say about the bound, each to the rounding of the log likelihood."""
    L, tol = path.log_likelihood, 1e-10 * np.abs(path.log_likelihood).max()
    moving = np.diff(L) > 1e-6  # not yet converged
    return {
        "bound_touches_after_e_step": bool(np.abs(path.after_e - L[:-1]).max() <= tol),
        "bound_rises_in_m_step": bool((path.after_m - path.after_e >= -tol).all()),
        "bound_below_log_likelihood": bool((path.after_m <= L[1:] + tol).all()),
        "kl_zero_after_e_step": bool(np.abs(path.kl_after_e).max() <= tol),
        "kl_reopens_in_m_step": bool((path.kl_after_m[moving] > 0).all()),
        "log_likelihood_gains_more_than_bound": bool(
            (np.diff(L) >= path.after_m - path.after_e - tol).all()
        ),
        "log_likelihood_never_falls": bool((np.diff(L) >= -tol).all()),
        "bound_never_falls": bool((np.diff(path.after_m) >= -tol).all()),
    }


def log_joints(X: Floats, path: list[GaussianMixture]) -> Floats:
    """The log joint after each iteration of one restart, shape (T + 1, N, K)."""
    stacked = GaussianMixture(*(np.concatenate(parts) for parts in zip(*path, strict=True)))
    return log_joint(X, stacked)


@dataclass
class EmBound(Clusters, Study):
    """The bound after each half step of EM for a Gaussian mixture, and for any q at all."""

    k: int = knob(2, "components", at_least=1, at_most=20)
    iterations: int = knob(40, "iterations of EM", at_least=1, at_most=1000)
    random_q: int = knob(200, "arbitrary distributions q to try the bound on", at_least=1)

    def rules(self) -> "Iterator[str]":
        if self.k > self.size[0]:
            yield f"study.k={self.k}: there are {self.size[0]} points; allowed: no more components"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        start = start_at_points(X, self.k, rng)
        em = fit(X, start, tol=0, max_iter=self.iterations, snapshots=range(self.iterations + 1))
        T = int(em.iterations[0])
        joints = log_joints(X, [em.snapshots[t] for t in range(T + 1)])
        path = bound_path(joints)

        # Any q whatever: from nearly certain labels to nearly uniform ones, at the start's theta.
        sharpness = 10.0 ** rng.uniform(-1, 2, size=(self.random_q, 1, 1))
        weights = rng.gamma(np.broadcast_to(sharpness, (self.random_q, *joints.shape[1:]))) + 1e-300
        q = weights / weights.sum(axis=-1, keepdims=True)
        bounds, gaps = free_energy(joints[:1], q), kl_to_posterior(joints[:1], q)
        L0 = path.log_likelihood[0]
        errors = np.concatenate(
            [L0 - bounds - gaps, path.log_likelihood[1:] - path.after_m - path.kl_after_m]
        )
        metrics: dict[str, Scalar] = {
            "iterations": T,
            "final_log_likelihood": float(path.log_likelihood[-1]),
            "bound_holds_for_any_q": bool((bounds <= L0).all()),
            "decomposition_error": float(np.abs(errors).max()),
            "decomposition_holds": bool(np.abs(errors).max() <= 1e-10 * np.abs(L0)),
            "touching_error": float(np.abs(path.after_e - path.log_likelihood[:-1]).max()),
            **bound_statements(path),
        }
        steps = list(range(1, T + 1))
        series = {name: Series(steps, values.tolist()) for name, values in _named(path).items()}
        arrays = {"random_bounds": bounds, "random_gaps": gaps, **_named(path)}
        series["log_likelihood"] = Series([0, *steps], path.log_likelihood.tolist())
        return Outcome(metrics, series, arrays=arrays | {"log_likelihood": path.log_likelihood})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        shown = min(len(arrays["after_e"]), 12)  # later steps are too small to see
        figure, axes = panels(1, 2)
        steps = np.repeat(np.arange(1, shown + 1), 2) + np.tile([-0.5, 0.0], shown)
        zigzag = np.column_stack([arrays["after_e"], arrays["after_m"]]).ravel()[: 2 * shown]
        axes[0].plot(steps, zigzag, color="0.6", linewidth=1.2)
        likelihood = arrays["log_likelihood"][: shown + 1]
        axes[0].plot(range(shown + 1), likelihood, "D", color="C2", label="log likelihood")
        axes[0].plot(steps[::2], zigzag[::2], "o", color="C0", label="bound after the E step")
        axes[0].plot(steps[1::2], zigzag[1::2], "s", color="C1", label="bound after the M step")
        axes[0].set(xlabel="Iteration", ylabel="Natural log units", title="The bound climbs")
        axes[0].legend(loc="lower right")
        x = range(1, len(arrays["kl_after_m"]) + 1)
        axes[1].plot(
            x, np.maximum(arrays["kl_after_m"], 1e-16), color="C1", marker="s", markersize=3
        )
        axes[1].set(
            xlabel="Iteration",
            ylabel="KL after the M step",
            yscale="log",
            title="The gap it leaves",
        )
        return {"bound": figure, "any_q": self._draw_any(outcome)}

    def _draw_any(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        gaps = outcome.arrays["random_gaps"]
        ends = np.array([0.0, gaps.max()])
        level = outcome.arrays["log_likelihood"][0]
        ax.plot(ends, level - ends, color="C1", label="log likelihood less the divergence")
        ax.plot(gaps, outcome.arrays["random_bounds"], "o", markersize=3, label="an arbitrary q")
        ax.set(xlabel="KL(q || posterior)", ylabel="Bound L(q, θ)")
        ax.legend()
        return figure


def _named(path: BoundPath) -> dict[str, Floats]:
    return {name: values for name, values in path._asdict().items() if name != "log_likelihood"}
