"""Clusters of binary data: mixtures of Bernoulli products by EM (FCML 6.3.7 and 6.3.8)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.clustering import bernoulli_mixture as bernoulli
from bythebook.models.clustering.agreement import agreement
from bythebook.models.clustering.bernoulli_mixture import Prior


@dataclass
class BinaryClusters(Study):
    """Clusters of drawn binary data found by EM, with and without beta priors (FCML 6.3.7)."""

    headline = {
        "mean_agreement": "mean(first(agreement, over='prior'))",
        "mean_share_at_bounds": "mean(first(share_at_bounds, over='prior'))",
    }
    quantities = {
        "points": quantity("variables of the first data set", "object variable"),
        "labels": quantity("cluster of each object of the first data set", "object"),
        "agreement": quantity(
            "share of the objects in the right cluster, after matching the labels", "prior draw"
        ),
        "share_at_bounds": quantity(
            "share of the estimated probabilities at zero or one", "prior draw"
        ),
        "constant_variables": quantity(
            "variables that are the same in all objects of a cluster of five or more",
            "draw cluster",
        ),
    }
    axes = {
        "object": axis_of("object"),
        "variable": axis_of("binary variable"),
        "prior": axis_of("parameters of the beta prior"),
        "draw": axis_of("data set"),
        "cluster": axis_of("cluster"),
    }

    n: int = knob(100, "objects", at_least=2, at_most=100_000)
    dimensions: int = knob(10, "binary variables", at_least=1, at_most=1000)
    k: int = knob(5, "clusters, of the data and of the mixture", at_least=2, at_most=8)
    priors: list[float] = knob([1.0], "alpha = beta, from 1 for none", at_least=1, distinct=True)
    draws: int = knob(20, "data sets", at_least=1, at_most=1000)
    restarts: int = knob(5, "random starts for each; the best is kept", at_least=1, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        D, K = self.dimensions, self.k
        bounds, agree = np.empty((2, len(self.priors), self.draws))
        seen = []  # data and labels, under the first prior
        for i in range(self.draws):
            X, truth = bernoulli.sample_clusters(self.n, D, K, rng)
            start = bernoulli.start_at_random(D, K, rng, self.restarts, low=0, high=1)
            for j, alpha in enumerate(self.priors):
                beta = None if alpha == 1 else Prior(alpha, alpha)
                em = bernoulli.fit(X, start, prior=beta, tol=1e-6, max_iter=2000)
                labels = bernoulli.responsibilities(X, em.theta)[em.best].argmax(axis=1)
                mu = em.theta.mu[em.best]
                bounds[j, i] = np.mean((mu < 1e-6) | (mu > 1 - 1e-6))
                agree[j, i] = agreement(labels, truth, K)
                if j == 0:
                    seen.append((X, labels))
        constant = [bernoulli.constant_variables(*pair, K) for pair in seen]
        coords = {"object": self.n, "variable": D, "prior": self.priors, "draw": self.draws}
        return outcome(
            coords | {"cluster": np.arange(1, K + 1)},
            points=("object variable", seen[0][0]),
            labels=("object", seen[0][1]),
            share_at_bounds=("prior draw", bounds),
            agreement=("prior draw", agree),
            constant_variables=("draw cluster", constant),
        )
