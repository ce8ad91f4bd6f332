"""The likelihood of a Gaussian mixture has no maximum: collapse, and its remedies (PRML 9.2.1).

Also PRML 9.3 and 10.2 (priors), Notes 3.3.2, Ghahramani 3 (MAP).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series, Table
from experiments.contract.study import Study, knob
from experiments.studies.clustering.cluster_data import Clusters
from experiments.studies.clustering.mixture_path import never_falls
from models.approximation import variational_mixture
from models.clustering import bernoulli_mixture
from models.clustering.gaussian_mixture import (
    GaussianMixture,
    Prior,
    fit,
    log_density,
    log_prior,
    smallest_eigenvalue,
)
from models.clustering.gaussian_mixture_starts import (
    sample_covariance,
    start_at_points,
    start_from_labels,
)
from models.clustering.gaussian_mixture_variants import fit_with_resets
from models.clustering.kmeans import assign, kmeans, kmeans_plus_plus
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

METHODS = {
    "ml": "maximum likelihood",
    "reset": "reset what collapses",
    "map": "MAP with a prior",
    "vb": "variational Bayes",
}


def weak_prior(X: Floats, k: int) -> Prior:
    """MLAPP 11.4.2.8: scale the pooled variances over K^(1/D), D + 2 degrees of freedom."""
    D = X.shape[1]
    return Prior(1.0, np.diag(X.var(axis=0)) / k ** (1 / D), D + 2.0)


@dataclass
class MixtureSingularity(Clusters, Study):
    """The log likelihood while one of two components shrinks onto a data point (PRML 9.2.1)."""

    decades: int = knob(16, "shrink from width 1 by so many powers of ten", at_least=4, at_most=140)
    weight: float = knob(0.5, "weight of the component that shrinks", above=0, below=1)
    point: int = knob(0, "the data point it shrinks onto", at_least=0)

    def rules(self) -> "Iterator[str]":
        if self.point >= self.size[0]:
            yield f"study.point={self.point}: there are {self.size[0]} points, counted from 0"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        D = X.shape[1]
        exponents = np.arange(0, self.decades + 1)
        widths: Floats = np.power(10.0, -exponents)
        where = X[self.point]
        # Component 1 is the Gaussian of all the data; the widths are a batch axis.
        unit = np.broadcast_to(np.eye(D), (len(widths), 1, D, D))
        small = unit * widths[:, None, None, None] ** 2
        whole = np.broadcast_to(sample_covariance(X), small.shape)
        mixture = GaussianMixture(
            np.tile([1 - self.weight, self.weight], (len(widths), 1)),
            np.tile(np.stack([X.mean(axis=0), where]), (len(widths), 1, 1)),
            np.concatenate([whole, small], axis=1),
        )
        single = GaussianMixture(np.ones((len(widths), 1)), mixture.mu[:, 1:], small)
        L, alone = (log_density(X, theta).sum(axis=1) for theta in (mixture, single))
        posterior = L + log_prior(mixture, weak_prior(X, 2))
        height = log_density(where[None], single)[:, 0]  # ln N(x | x, sigma^2 I)
        regular = fit(X, start_from_labels(X, kmeans(X, kmeans_plus_plus(X, 2, rng, 20)).labels, 2))
        best = float(np.max(regular.final[~np.isnan(regular.final)], initial=-np.inf))
        rise = np.diff(L)[-2:]  # per decade, at the end
        as_printed = -0.5 * np.log(2 * np.pi) - np.log(widths)  # ln of (9.15)
        corrected = D * as_printed
        metrics: dict[str, Scalar] = {
            "rise_per_decade": float(rise[-1]),
            "log_likelihood_unbounded": bool(np.allclose(rise, D * np.log(10), rtol=1e-6)),
            "single_likelihood_vanishes": bool(
                (np.diff(alone) < 0).all() and np.isclose(alone[-1] / alone[-2], 100, rtol=0.01)
            ),
            "height_as_printed": bool(np.allclose(height, as_printed, rtol=1e-9, atol=1e-9)),
            "height_corrected": bool(np.allclose(height, corrected, rtol=1e-9, atol=1e-9)),
            "log_posterior_falls": bool((np.diff(posterior)[-3:] < 0).all()),
            "regular_maximum": best,
            "log10_width_that_beats_it": -float(exponents[-1] + (best - L[-1]) / rise[-1]),
            "bernoulli_never_above_one": _bernoulli_bounded(X, widths, self.point),
        }
        for exponent, value, one in zip(exponents, L, alone, strict=True):
            metrics |= {f"mixture_1e-{exponent}": float(value), f"single_1e-{exponent}": float(one)}
        values = {"mixture": L, "single": alone, "log_posterior": posterior}
        return Outcome(
            metrics,
            series={name: Series(exponents.tolist(), v.tolist()) for name, v in values.items()},
            arrays={"widths": widths, **values},
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import legend_below

        widths = outcome.arrays["widths"]
        figure, axes = panels(1, 2)
        for name, colour, label in (
            ("mixture", "C0", "log likelihood"),
            ("log_posterior", "C2", "log posterior with a prior"),
        ):
            axes[0].plot(widths, outcome.arrays[name], marker="o", color=colour, label=label)
        low = outcome.arrays["mixture"].min()
        height = np.ptp(outcome.arrays["mixture"])
        axes[0].set(title="Two components, one of them shrinking", ylabel="Natural log units")
        axes[0].set_ylim(low - height, low + 2 * height)
        legend_below(axes[0], 2)
        axes[1].plot(widths, -outcome.arrays["single"], marker="o", color="C1")
        axes[1].set(
            title="A single Gaussian shrinking", yscale="log", ylabel="Minus log likelihood"
        )
        for ax in axes:
            ax.set(xlabel="Width σ", xscale="log")
            ax.invert_xaxis()
        return {"collapse": figure}


def _bernoulli_bounded(X: Floats, widths: Floats, point: int) -> bool:
    """The same collapse for binary data (above the median or not): the likelihood stays below 1."""
    binary = (X - np.median(X, axis=0) > 0).astype(float)
    mean = np.broadcast_to(binary.mean(axis=0), (len(widths), X.shape[1]))
    target, doubt = binary[point], np.minimum(widths, 0.5)[:, None]
    shrinking = target * (1 - doubt) + (1 - target) * doubt
    theta = bernoulli_mixture.BernoulliMixture(
        np.full((len(widths), 2), 0.5), np.stack([mean, shrinking], axis=1)
    )
    return bool((bernoulli_mixture.log_density(binary, theta) <= 0).all())


@dataclass
class SingularityRemedies(Clusters, Study):
    """How often a component collapses: plain EM, resets, MAP and variational Bayes (PRML 9.2.1)."""

    k: list[int] = knob([2, 4, 6, 10, 15], "numbers of components", at_least=1, distinct=True)
    methods: list[str] = knob(
        list(METHODS), "what to compare", choices=tuple(METHODS), distinct=True
    )
    restarts: int = knob(60, "starts for each K, the same for all methods", at_least=1)
    collapsed_below: float = knob(1e-3, "smallest variance of a sound component", above=0)
    tol: float = knob(1e-5, "stop when the objective gains no more", above=0)
    iterations: int = knob(300, "iterations at most", at_least=1, at_most=100_000)

    def rules(self) -> "Iterator[str]":
        if max(self.k) > self.size[0]:
            yield f"study.k={self.k}: there are {self.size[0]} points; allowed: no more components"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        ks = sorted(self.k)
        table: Table = {"k": ks, **{f"collapsed_{method}": [] for method in self.methods}}
        smallest = dict.fromkeys(self.methods, np.inf)
        objectives: dict[str, bool] = {}
        for k in ks:
            start = start_at_points(X, k, rng, self.restarts)
            for method in self.methods:
                covariances, rising = self._fit(X, start, method, k, rng)
                lost = ~(smallest_eigenvalue(covariances) >= self.collapsed_below).all(axis=1)
                table[f"collapsed_{method}"].append(int(lost.sum()))
                values = smallest_eigenvalue(covariances)
                smallest[method] = min(smallest[method], float(np.nanmin(values)))
                objectives[method] = objectives.get(method, True) and rising
        metrics: dict[str, Scalar] = {}
        for method in self.methods:
            counts = table[f"collapsed_{method}"]
            metrics |= {f"collapsed_{method}_k{k}": n for k, n in zip(ks, counts, strict=True)}
            metrics[f"collapsed_{method}"] = sum(counts)
            metrics[f"{method}_never_collapses"] = sum(counts) == 0
            metrics[f"{method}_smallest_variance"] = smallest[method]
            metrics[f"{method}_objective_never_falls"] = objectives[method]
        if {"ml", "reset"} <= set(self.methods):
            totals = [sum(table[f"collapsed_{method}"]) for method in ("ml", "reset")]
            metrics["resets_collapse_less_often"] = totals[1] < totals[0]
        return Outcome(metrics, tables={"collapsed": table})

    def _fit(
        self, X: Floats, start: GaussianMixture, method: str, k: int, rng: Generator
    ) -> tuple[Floats, bool]:
        """The covariances at the end, shape (R, K, D, D), and whether the objective ever fell."""
        stop = self.tol, self.iterations
        if method == "vb":
            prior = variational_mixture.Prior(
                1.0, 1.0, X.mean(axis=0), weak_prior(X, k).S0, X.shape[1] + 2.0
            )
            nearest = assign(X, start.mu)[..., None] == np.arange(k)
            vb = variational_mixture.fit(
                X, nearest.astype(float), prior, tol=stop[0], max_iter=stop[1]
            )
            return variational_mixture.expected_covariance(vb.theta), never_falls(vb.objective)
        if method == "reset":
            resets = fit_with_resets(
                X, start, rng, min_eigenvalue=self.collapsed_below, tol=stop[0], max_iter=stop[1]
            )
            return resets.fit.theta.Sigma, False  # a reset lowers the likelihood
        em = fit(
            X,
            start,
            prior=weak_prior(X, k) if method == "map" else None,
            min_eigenvalue=self.collapsed_below if method == "ml" else 0.0,
            tol=stop[0],
            max_iter=stop[1],
        )
        return em.theta.Sigma, never_falls(em.objective)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import SYMBOLS

        table = outcome.tables["collapsed"]
        figure, ax = panels()
        for i, method in enumerate(self.methods):
            share = np.array(table[f"collapsed_{method}"]) / self.restarts
            mark = {"marker": SYMBOLS[i], "linestyle": ("-", "--", "-.", ":")[i]}
            ax.plot(table["k"], share, color=f"C{i}", label=METHODS[method], **mark)
        ax.set(xlabel="Number of components K", ylabel="Share of starts that collapse")
        ax.set(xticks=table["k"], ylim=(-0.02, 1.02))
        ax.legend(loc="upper left")
        return {"collapsed": figure}
