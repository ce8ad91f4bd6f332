"""Clusters of binary data: mixtures of Bernoulli products by EM, from random and equal starts.

FCML 6.3.7 and, with a prior, 6.3.8; PRML Exercise 9.13.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import numbered
from bythebook.models.clustering import bernoulli_mixture as bernoulli
from bythebook.models.clustering.agreement import agreement
from bythebook.models.clustering.bernoulli_mixture import BernoulliMixture, Prior
from bythebook.models.em import smallest_gain
from bythebook.models.types import Floats, Ints

EXTREMES = ["zeros", "ones"]
SHOWN = 50  # iterations from equal components


@dataclass
class BinaryClusters(Study):
    """Clusters of drawn binary data found by EM, with and without beta priors (FCML 6.3.7).

    With `equal` starts: EM from components that are all equal, on the first data set alone.
    """

    headline = {
        "mean_agreement": "mean(first(agreement, over='prior'))",
        "mean_pinned": "mean(first(pinned, over='prior'))",
        "best_log_likelihood": "max(random_final_log_likelihood)",
    }
    more_quantities = True
    quantities = {
        "agreement": quantity(
            "share of the points in the right cluster, after matching the labels", "prior draw"
        ),
        "pinned": quantity("share of the estimated probabilities at zero or one", "prior draw"),
        "random_final_log_likelihood": quantity(
            "log likelihood at the end of EM from a random start", "restart", unit="nats"
        ),
    }

    n: int = knob(100, "objects", at_least=2, at_most=100_000)
    dimensions: int = knob(10, "binary variables", at_least=1, at_most=1000)
    k: int = knob(5, "clusters, of the data and of the mixture", at_least=2, at_most=8)
    priors: list[float] = knob([1.0], "alpha = beta, from 1 for none", at_least=1, distinct=True)
    draws: int = knob(20, "data sets", at_least=1, at_most=1000)
    restarts: int = knob(5, "random starts for each; the best is kept", at_least=1, at_most=10_000)
    equal: list[list[float]] = knob(
        [], "mixing weights of equal components, one list per start", may_be_empty=True
    )

    def problems(self) -> Iterator[str]:
        for weights in self.equal:
            if len(weights) != self.k or min(weights) < 0 or abs(sum(weights) - 1) > 1e-9:
                yield f"study.equal: {weights}; allowed: {self.k} numbers >= 0 that sum to one"

    def run(self, rng: Generator) -> Outcome:
        return self._from_equal(rng) if self.equal else self._found_again(rng)

    def _found_again(self, rng: Generator) -> Outcome:
        D, K = self.dimensions, self.k
        rows = np.empty((3, len(self.priors), self.draws))
        seen: list[tuple[Floats, Ints]] = []  # data and labels, under the first prior
        for i in range(self.draws):
            X, truth = bernoulli.sample_clusters(self.n, D, K, rng)
            start = bernoulli.start_at_random(D, K, rng, self.restarts, low=0, high=1)
            for j, alpha in enumerate(self.priors):
                beta = None if alpha == 1 else Prior(alpha, alpha)
                em = bernoulli.fit(X, start, prior=beta, tol=1e-6, max_iter=2000)
                labels = bernoulli.responsibilities(X, em.theta)[em.best].argmax(axis=1)
                mu = em.theta.mu[em.best]
                pinned = np.mean((mu < 1e-6) | (mu > 1 - 1e-6))
                rows[:, j, i] = pinned, agreement(labels, truth, K), smallest_gain(em.objective)
                if j == 0:
                    seen.append((X, labels))
        start = bernoulli.start_at_random(D, K, rng, low=0, high=1)
        q, begins_at = bernoulli.e_step(seen[0][0], start)
        flat = bernoulli.m_step(start, q, Prior(1.0, 1.0)).mu - bernoulli.m_step(start, q).mu
        tightest, observed = Prior(max(self.priors), max(self.priors)), axis("observed", EXTREMES)
        prior, draw = axis("prior", self.priors), axis("draw", self.draws)
        thing, variable = axis("object", self.n), axis("variable", D)
        cluster = numbered("cluster", K)
        ends = np.array([0.0, self.n])  # ones, when all objects have none, and when all have one
        return Outcome(
            points=over(seen[0][0], thing, variable),
            labels=thing.of(seen[0][1]),
            pinned=over(rows[0], prior, draw),  # share of the probabilities at 0 or 1
            agreement=over(rows[1], prior, draw),
            smallest_gain=over(rows[2], prior, draw),
            constant_variables=over(
                [bernoulli.constant_variables(*pair, K) for pair in seen], draw, cluster
            ),
            flat_prior_change=float(np.abs(flat).max()),
            # With the largest prior: the first data set, and those with the fewest and most ones.
            update=over(bernoulli.m_step(start, q, tightest).mu[0], cluster, variable),
            update_by_search=over(
                bernoulli.update_by_search(q.ones[0], q.zeros[0], tightest), cluster, variable
            ),
            extreme_by_search=observed.of(
                bernoulli.update_by_search(ends, self.n - ends, tightest)
            ),
            # At the start of that update.
            start_mean=over(start.mu[0], cluster, variable),
            start_responsibilities=over(
                bernoulli.responsibilities(seen[0][0], start)[0], thing, cluster
            ),
            start_log_likelihood=float(begins_at[0]),
            start_log_prior=axis("alpha", [1.0, 3.0]).of(  # of Beta(2, 3) and Dir(alpha)
                [bernoulli.log_prior(start, Prior(2.0, 3.0, alpha))[0] for alpha in (1.0, 3.0)]
            ),
            weights_after=cluster.of(bernoulli.m_step(start, q).pi[0]),
        )

    def _from_equal(self, rng: Generator) -> Outcome:
        D, pi, steps = self.dimensions, np.array(self.equal), range(SHOWN + 1)
        X, _ = bernoulli.sample_clusters(self.n, D, self.k, rng, low=0.05, high=0.95)
        average = X.mean(axis=0)
        same = BernoulliMixture(pi, np.tile(rng.uniform(0.25, 0.75, D), (len(pi), self.k, 1)))
        em = bernoulli.fit(X, same, tol=-np.inf, max_iter=SHOWN, snapshots=steps)
        away = [np.abs(em.snapshots[t].mu - average).max(axis=(1, 2)) for t in steps]
        moved = [np.abs(em.snapshots[t].pi - pi).max(axis=1) for t in steps]
        begins = bernoulli.start_at_random(D, self.k, rng, self.restarts)
        random = bernoulli.fit(X, begins, tol=1e-12, max_iter=5000)
        model_mean = np.einsum("rk,rkd->rd", random.theta.pi, random.theta.mu)  # (9.83)
        ways = np.pad(random.objective, ((0, 0), (0, SHOWN)), constant_values=np.nan)
        iteration, run = axis("iteration", list(steps)), numbered("run", len(pi))
        restart = axis("restart", self.restarts)
        return Outcome(
            average=numbered("variable", D).of(average),
            distance_to_average=over(away, iteration, run),
            change_of_weights=over(moved, iteration, run),
            log_likelihood=over(em.objective, run, iteration),
            random_log_likelihood=over(ways[:, : SHOWN + 1], restart, iteration),
            random_final_log_likelihood=restart.of(random.final),
            model_mean_error=restart.of(np.abs(model_mean - average).max(axis=1)),
        )
