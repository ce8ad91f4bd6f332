"""Probabilistic PCA by variational Bayes: the bound and the latent clusters (FCML 7.5)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.latent._hidden_clusters import HiddenClusters
from bythebook.models.em import held
from bythebook.models.latent.groups import astray
from bythebook.models.latent.variational_ppca import fit


@dataclass
class VariationalPca(HiddenClusters, Study):
    """Bound by iteration, noise precision and posterior means of variational PCA."""

    headline = {
        "mean_precision": "mean(precision)",
        "median_iterations": "median(iterations_made)",
        "neighbours_of_another_cluster": "mean(neighbours_of_another_cluster)",
    }
    quantities = {
        "bound": quantity(
            "variational lower bound on the log evidence", "repetition iteration", unit="nats"
        ),
        "iterations_made": quantity("iterations until the bound converges", "repetition"),
        "precision": quantity("mean of the noise precision", "repetition"),
        "points": quantity("values of the first data set", "object variable"),
        "cluster": quantity("cluster of an object", "object"),
        "latent_means": quantity("posterior mean of the latent variables", "object latent"),
        "neighbours_of_another_cluster": quantity(
            "share of the points whose nearest neighbour is of another cluster", "repetition"
        ),
        "neighbours_in_the_data": quantity(
            "share of the points whose nearest data neighbour is of another cluster", "repetition"
        ),
    }
    axes = {
        "repetition": axis_of("data set"),
        "iteration": axis_of("iteration"),
        "object": axis_of("object"),
        "variable": axis_of("variable"),
        "latent": axis_of("latent dimension"),
    }

    latent: int = knob(2, "latent dimensions D", at_least=1, at_most=20)
    tol: float = knob(1e-3, "stop when the bound gains no more", above=0)
    iterations: int = knob(2000, "iterations at most", at_least=2, at_most=100_000)

    def run(self, rng: Generator) -> Outcome:
        Y = self.objects(rng)
        Y = Y - Y.mean(axis=1, keepdims=True)
        done = fit(Y, np.ones_like(Y), self.latent, rng, tol=self.tol, max_iter=self.iterations)
        history = held(done.bound, done.bound.shape[1])
        return outcome(
            {
                "repetition": len(Y),
                "iteration": np.arange(1, history.shape[1] + 1),
                "object": Y.shape[1],
                "variable": np.arange(Y.shape[2]),
                "latent": np.arange(self.latent),
            },
            bound=("repetition iteration", history),
            iterations_made=("repetition", done.iterations),
            precision=("repetition", done.q.tau),
            points=("object variable", Y[0]),
            cluster=("object", self.labels),
            latent_means=("object latent", done.q.mu_x[0]),
            neighbours_of_another_cluster=("repetition", astray(done.q.mu_x, self.labels)),
            neighbours_in_the_data=("repetition", astray(Y, self.labels)),
        )
