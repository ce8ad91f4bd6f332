"""Two mixtures the reader is asked to derive: means with a prior, and counts (FCML 6.5, 6.6)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.clustering.cluster_data import Clusters
from experiments.studies.clustering.mixture_path import never_falls
from models.clustering import gaussian_mixture, gaussian_mixture_map, poisson_mixture
from models.clustering.gaussian_mixture_map import MeanPrior
from models.clustering.gaussian_mixture_starts import start_at_points
from models.em import take

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class MeanPriors(Clusters, Study):
    """A diagonal Gaussian mixture whose means have a Gaussian prior, from tight to loose."""

    k: int = knob(3, "components", at_least=1, at_most=8)
    centre: float = knob(0.0, "mean m of the prior, in every variable")
    variances: list[float] = knob([1e-8, 0.01, 1.0, 100.0, 1e8], "variances of the prior", above=0)
    restarts: int = knob(20, "starts; the best is kept", at_least=1, at_most=1000)

    def rules(self) -> "Iterator[str]":
        if self.size[1] != 2:
            yield f"the data have {self.size[1]} variables; allowed: 2, to be drawn in the plane"
        if sorted(set(self.variances)) != self.variances:
            yield f"study.variances={self.variances}; allowed: rising numbers"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        start = start_at_points(X, self.k, rng, self.restarts)
        ml = gaussian_mixture.fit(X, start, covariance="diagonal", min_eigenvalue=1e-3)
        best = take(ml.theta, [ml.best])
        means, distance, falls = [], [], False
        for s2 in self.variances:
            em = gaussian_mixture_map.fit(X, start, MeanPrior(self.centre, s2))
            falls |= not never_falls(em.objective)
            mu = em.theta.mu[em.best]
            means.append(mu[np.argsort(mu[:, 1])])
            distance.append(float(np.sqrt(np.square(mu - self.centre).sum(axis=1).mean())))
        target = best.mu[0][np.argsort(best.mu[0][:, 1])]
        # One more step from the maximum of the likelihood: a loose prior leaves it where it is.
        q, _ = gaussian_mixture.e_step(X, best)
        loose = gaussian_mixture_map.m_step(best, q, MeanPrior(self.centre, self.variances[-1]))
        metrics: dict[str, Scalar] = {
            "objective_never_falls": not falls,
            "largest_prior_step": float(np.abs(loose.mu - best.mu).max()),
            "loose_prior_keeps_ml": bool(np.abs(loose.mu - best.mu).max() < 1e-4),
            "tight_prior_pins_means": bool(distance[0] < 1e-3),
            "tightest_distance": distance[0],
            "means_leave_the_prior_steadily": bool((np.diff(distance) > 0).all()),
        }
        table = {"variance": self.variances, "distance": distance}
        arrays = {"X": X, "means": np.stack(means), "ml": target}
        return Outcome(metrics, tables={"priors": table}, arrays=arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import SYMBOLS

        figure, ax = panels()
        ax.plot(*outcome.arrays["X"].T, "o", color="0.75", markersize=3)
        for i, (s2, mu) in enumerate(zip(self.variances, outcome.arrays["means"], strict=True)):
            mark = {"color": f"C{i % 8}", "label": f"$s^2$ = {s2:g}", "markersize": 8}
            ax.plot(*mu.T, SYMBOLS[i % 8], linestyle="none", markeredgecolor="black", **mark)
        ax.plot(*outcome.arrays["ml"].T, "k+", markersize=16, label="no prior")
        ax.set(xlabel=self.labels()[0], ylabel=self.labels()[1])
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), title="Means with prior")
        return {"means": figure}


@dataclass
class PoissonClusters(Study):
    """EM for a mixture of Poisson distributions on counts drawn from one."""

    weights: list[float] = knob([0.4, 0.6], "probabilities of the components", above=0, below=1)
    rates: list[float] = knob([2.0, 10.0], "rates of the components", above=0)
    n: int = knob(300, "counts", at_least=2, at_most=1_000_000)
    k: list[int] = knob([1, 2, 3], "components of the fits", at_least=1, at_most=8, distinct=True)
    restarts: int = knob(20, "starts of each fit", at_least=1, at_most=1000)

    def problems(self) -> "Iterator[str]":
        if len(self.weights) != len(self.rates) or abs(sum(self.weights) - 1) > 1e-9:
            yield "study.weights and study.rates; allowed: as many of one as of the other, sum 1"
        if len(self.weights) not in self.k:
            yield f"study.k={self.k} lacks the {len(self.weights)} components of the data"

    def run(self, rng: Generator) -> Outcome:
        x, _ = poisson_mixture.sample(np.array(self.weights), np.array(self.rates), self.n, rng)
        metrics: dict[str, Scalar] = {}
        falls, curves = False, {}
        for k in sorted(self.k):
            em = poisson_mixture.fit(x, poisson_mixture.start_at_counts(x, k, rng, self.restarts))
            falls |= not never_falls(em.objective)
            metrics[f"log_likelihood_k{k}"] = float(em.final[em.best])
            path = em.objective[em.best, : em.iterations[em.best] + 1]
            curves[f"log_likelihood_k{k}"] = path.tolist()
            if k == len(self.rates):
                order = np.argsort(em.theta.rate[em.best])
                pi, rate = em.theta.pi[em.best][order], em.theta.rate[em.best][order]
        for i, (p, r) in enumerate(zip(pi, rate, strict=True), start=1):
            metrics |= {f"weight_{i}": float(p), f"rate_{i}": float(r)}
        metrics["never_falls"] = not falls
        metrics["mean_is_matched"] = bool(np.isclose(pi @ rate, x.mean(), rtol=1e-8))
        counts = np.arange(int(x.max()) + 2.0)
        joint = poisson_mixture.log_joint(
            counts, poisson_mixture.PoissonMixture(pi[None], rate[None])
        )
        return Outcome(
            metrics,
            series={name: Series(list(range(len(v))), v) for name, v in curves.items()},
            arrays={"x": x, "parts": np.exp(joint[0])},
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        x, parts = outcome.arrays["x"], outcome.arrays["parts"]
        figure, ax = panels()
        places = np.arange(len(parts))
        share = np.bincount(x.astype(int), minlength=len(parts)) / len(x)
        ax.bar(places, share, color="0.8", label="observed")
        for k, part in enumerate(parts.T):
            rate = outcome.metrics[f"rate_{k + 1}"]
            ax.plot(places, part, "o-", markersize=4, color=f"C{k}", label=f"rate {rate:.2f}")
        ax.plot(places, parts.sum(axis=1), "k--", label="mixture")
        ax.set(xlabel="Count", ylabel="Probability")
        ax.legend()
        return {"counts": figure}
