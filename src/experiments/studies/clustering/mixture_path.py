"""EM for a Gaussian mixture from one start, with snapshots on the way (PRML 9.2.2, FCML 6.3.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from scipy.optimize import linear_sum_assignment

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.clustering.cluster_data import Clusters, place_problems
from experiments.studies.clustering.em_bound import bound_path, bound_statements, log_joints
from models.clustering.gaussian_mixture import GaussianMixture, fit, log_density, responsibilities
from models.clustering.gaussian_mixture_score import mean_terms_as_printed, score
from models.clustering.gaussian_mixture_starts import start_at, start_of_gaussians
from models.clustering.kmeans import kmeans, random_points
from models.em import EMFit, take
from models.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

CLOSE = 1e-3  # log units below the end that count as close to convergence
SETTLED = 0.95  # share of the points that have to be where they end


@dataclass
class MixturePath(Clusters, Study):
    """EM after 1, 2, 5, 20 ... iterations, with the bound, and the same from many other starts."""

    start: list[list[float]] = knob(
        [[-1.5, 1.0], [1.5, -1.0]], "the means to begin with; at random if empty", may_be_empty=True
    )
    k: int = knob(2, "components", at_least=2, at_most=8)
    variance: float = knob(1.0, "the covariances begin as this times the unit matrix", above=0)
    jitter: float = knob(0.5, "how well the start is known: sd of its coordinates", at_least=0)
    repetitions: int = knob(200, "starts, about `start` or at random", at_least=2, at_most=10_000)
    snapshots: list[int] = knob([1, 2, 5, 20], "iterations to show", at_least=1, distinct=True)
    tol: float = knob(1e-8, "stop when the log likelihood gains no more", above=0)
    iterations: int = knob(500, "iterations at most", at_least=1, at_most=10_000)
    collapsed_below: float = knob(1e-3, "a start ends when a variance falls below this", at_least=0)

    def rules(self) -> "Iterator[str]":
        if self.size[1] != 2:
            yield f"the data have {self.size[1]} variables; allowed: 2, to be drawn in the plane"
        if self.start:
            yield from place_problems("start", self.start, self.size[1])
            if len(self.start) != self.k:
                yield f"study.start has {len(self.start)} means; study.k={self.k}"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        starts = self._starts(rng)
        em = self._fit(X, starts, snapshots=101)
        reached = em.final > np.max(em.final[~np.isnan(em.final)], initial=-np.inf) - 0.1
        # A stated start is shown; of random ones the first that finds the best optimum.
        shown = take(starts, [0 if self.start else int(np.argmax(reached))])
        one = self._fit(X, shown, snapshots=self.iterations + 1)
        T = int(one.iterations[0]) - int(np.isnan(one.final[0]))  # short of a collapse
        if T < 1:
            raise BadInput("a component collapses in the first iteration; try another study.start")
        thetas = [one.snapshots[t] for t in range(T + 1)]
        path = bound_path(log_joints(X, thetas))
        L = path.log_likelihood
        keep = [min(step, T) for step in (0, *sorted(self.snapshots))]
        gammas = np.stack([responsibilities(X, thetas[t])[0] for t in keep])
        ends = responsibilities(X, thetas[T])[0].argmax(axis=1)
        metrics: dict[str, Scalar] = {
            "iterations": T,
            "final_log_likelihood": float(L[T]),
            **bound_statements(path),
            "never_falls_from_any_start": never_falls(em.objective),
            "share_best": float(reached.mean()),
            "iterations_until_close": int(np.argmax(L[T] - L < CLOSE)),
            "kmeans_agreement": agreement(ends, _kmeans_labels(X, self.k, rng), self.k),
            "first_m_step_is_weighted_moments": _is_weighted_moments(X, gammas[0], thetas[1]),
            **gradient_statements(X, thetas[1], thetas[T]),
            **_parameters(thetas[T]),
        }
        for step in self.snapshots:
            metrics[f"log_likelihood_{step}"] = float(L[min(step, T)])
            metrics[f"shortfall_{step}"] = float(L[T] - L[min(step, T)])
        steps = list(range(1, T + 1))
        return Outcome(
            metrics,
            series={
                "log_likelihood": Series([0, *steps], L.tolist()),
                "bound": Series(steps, path.after_m.tolist()),
            },
            arrays={
                "X": X,
                "gamma": gammas,
                "mu": np.stack([thetas[t].mu[0] for t in keep]),
                "Sigma": np.stack([thetas[t].Sigma[0] for t in keep]),
                "iterations": em.iterations[reached],
                "iterations_to_settle": _iterations_to_settle(X, em, reached),
                "shortfall_last_snapshot": _shortfall(em, max(self.snapshots))[reached],
            },
        )

    def _fit(self, X: Floats, start: GaussianMixture, snapshots: int) -> EMFit[GaussianMixture]:
        return fit(
            X,
            start,
            min_eigenvalue=self.collapsed_below,
            tol=self.tol,
            max_iter=self.iterations,
            snapshots=range(snapshots),
        )

    def _starts(self, rng: Generator) -> GaussianMixture:
        if not self.start:
            return start_of_gaussians(self.k, self.size[1], rng, self.repetitions)
        moved = self.jitter * rng.standard_normal((self.repetitions, self.k, self.size[1]))
        moved[0] = 0.0
        return start_at(np.array(self.start) + moved, self.variance * np.eye(self.size[1]))

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        return {"path": self._draw_path(outcome), "objective": self._draw_objective(outcome)}

    def _draw_path(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.clusters import grid, mixture_panel, spare

        X, gamma, mu, Sigma = (outcome.arrays[name] for name in ("X", "gamma", "mu", "Sigma"))
        T = int(outcome.metrics["iterations"])
        places = [0, 0, *range(1, len(mu))]  # the start without and with its responsibilities
        titles = ["start", "first E step"]
        for step in sorted(self.snapshots):
            titles.append(f"converged, L = {T}" if step >= T else f"L = {step}")
        rows = -(-len(places) // 3)
        reach = np.sqrt(np.diagonal(Sigma, axis1=2, axis2=3))
        ranges = np.ptp(np.concatenate([X, *(mu - reach), *(mu + reach)]), axis=0)
        ratio = min(float(ranges[1] / ranges[0]) + 0.1, 1.4)
        figure, axes = grid(rows, 3, ratio, sharex=True, sharey=True)
        cells = axes.ravel()
        for i, (place, title) in enumerate(zip(places, titles, strict=True)):
            ink = None if i == 0 else gamma[place]
            mixture_panel(cells[i], X, ink, mu[place], Sigma[place])
            cells[i].set_title(f"({'abcdefghijkl'[i]}) {title}")
        spare(cells[len(places) :])
        figure.supxlabel(self.labels()[0])
        figure.supylabel(self.labels()[1])
        return figure

    def _draw_objective(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import whole_steps

        figure, ax = panels()
        steps, L = outcome.series["log_likelihood"]
        # From the first iteration on: the start is so low that nothing else would be seen.
        ax.plot(
            steps[1:], L[1:], "--", marker="o", markersize=4, color="C1", label="log likelihood"
        )
        ax.plot(*outcome.series["bound"], color="C0", label="bound after the M step")
        ax.set(
            xlabel="Iteration", ylabel="Natural log units", title=f"From {L[0]:.1f} at the start"
        )
        whole_steps(ax)
        ax.legend(loc="lower right")
        return figure


def never_falls(objective: Floats) -> bool:
    """Whether no restart's objective falls, but for rounding; NaN is after the end."""
    size = np.abs(objective[np.isfinite(objective)]).max(initial=0.0)
    return not bool((np.diff(objective) < -1e-10 * size).any())


def agreement(a: Ints, b: Ints, k: int) -> float:
    """The share of points on which two clusterings agree, under the best renaming of clusters."""
    table = np.zeros((k, k))
    np.add.at(table, (a, b), 1)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / len(a))


def gradient_statements(
    X: Floats, passing: GaussianMixture, end: GaussianMixture
) -> dict[str, Scalar]:
    """The derivative for the means on the way, as printed and corrected; all of them at the end.

    The truth is a central difference of the log likelihood, one mean coordinate after another.
    """
    step = 1e-5 * np.eye(passing.mu.size).reshape(-1, *passing.mu.shape[1:])
    up, down = (
        log_density(X, _repeat(passing, len(step))._replace(mu=passing.mu + sign * step)).sum(
            axis=1
        )
        for sign in (1, -1)
    )
    truth = (up - down).reshape(passing.mu.shape) / 2e-5
    scale = np.abs(truth).max()
    printed, corrected = mean_terms_as_printed(X, passing), score(X, passing).mu
    return {
        "mean_derivative_as_printed": bool(np.abs(printed - truth).max() < 1e-4 * scale),
        "mean_derivative_with_inverse": bool(np.abs(corrected - truth).max() < 1e-4 * scale),
        "largest_derivative_at_end": float(score(X, end).largest.max()),
        "stationary_at_end": bool(score(X, end).largest.max() < 1e-4 * len(X)),
    }


def _repeat(theta: GaussianMixture, times: int) -> GaussianMixture:
    return take(theta, np.zeros(times, dtype=np.int64))


def _is_weighted_moments(X: Floats, gamma: Floats, theta: GaussianMixture) -> bool:
    """Whether mean and covariance are those of the ink that each component had on the points."""
    for k, weights in enumerate(gamma.T):
        mean = np.average(X, axis=0, weights=weights)
        covariance = np.cov(X.T, aweights=weights, ddof=0)
        if not np.allclose(theta.mu[0, k], mean, rtol=1e-9, atol=1e-12):
            return False
        if not np.allclose(theta.Sigma[0, k], covariance, rtol=1e-9, atol=1e-12):
            return False
    return True


def _parameters(theta: GaussianMixture) -> dict[str, Scalar]:
    """The components in the order of their first coordinate."""
    found: dict[str, Scalar] = {}
    for i, k in enumerate(np.argsort(theta.mu[0, :, 0]), start=1):
        found[f"weight_{i}"] = float(theta.pi[0, k])
        found |= {f"mean_{i}_{d}": float(m) for d, m in enumerate(theta.mu[0, k], start=1)}
    return found


def _kmeans_labels(X: Floats, k: int, rng: Generator) -> Ints:
    clusters = kmeans(X, random_points(X, k, rng, 50))
    return np.asarray(clusters.labels[clusters.best])


def _shortfall(em: EMFit[GaussianMixture], step: int) -> Floats:
    """How far below its end each restart is after `step` iterations, shape (R,)."""
    rows = np.arange(len(em.iterations))
    return np.asarray(em.final - em.objective[rows, np.minimum(step, em.iterations)])


def _iterations_to_settle(X: Floats, em: EMFit[GaussianMixture], which: Bools) -> Ints:
    """From which iteration on 95 % of the points are assigned as at the end, for some restarts."""
    ends = responsibilities(X, take(em.theta, which)).argmax(axis=2)
    away = np.stack(
        [
            np.mean(responsibilities(X, take(theta, which)).argmax(axis=2) == ends, axis=1)
            < SETTLED
            for _, theta in sorted(em.snapshots.items())
        ]
    )  # (snapshots, R)
    last = len(away) - np.argmax(away[::-1], axis=0)  # after the last one that is away
    return np.where(away.any(axis=0), last, 0)
