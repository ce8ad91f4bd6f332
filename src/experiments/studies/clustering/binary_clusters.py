"""Clusters of binary data: mixtures of Bernoulli products by EM, with and without a prior.

FCML 6.3.7 and 6.3.8.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.clustering.agreement import agreement
from models.clustering.bernoulli_mixture import (
    Prior,
    e_step,
    extreme_updates,
    fit,
    m_step,
    responsibilities,
    start_at_random,
)
from models.em import smallest_gain
from models.types import Floats, Ints


@dataclass
class BinaryClusters(Study):
    """Draw binary data from some clusters and find them again, with and without beta priors."""

    headline = {
        "mean_agreement": "mean(first(agreement, over='prior'))",
        "mean_pinned": "mean(first(pinned, over='prior'))",
    }

    n: int = knob(100, "objects", at_least=2, at_most=100_000)
    dimensions: int = knob(10, "binary variables", at_least=1, at_most=1000)
    k: int = knob(5, "clusters, of the data and of the mixture", at_least=2, at_most=8)
    priors: list[float] = knob([1.0], "alpha = beta of the prior; 1 is none", at_least=1)
    draws: int = knob(20, "data sets", at_least=1, at_most=1000)
    restarts: int = knob(5, "starts for each; the best is kept", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        if sorted(set(self.priors)) != self.priors:
            yield f"study.priors={self.priors}; allowed: rising numbers"

    def run(self, rng: Generator) -> Outcome:
        rows = np.empty((3, len(self.priors), self.draws))
        seen: list[tuple[Floats, Ints]] = []  # data and labels, under the first prior
        for i in range(self.draws):
            p = rng.random((self.k, self.dimensions))
            truth = rng.integers(self.k, size=self.n)
            X = (rng.random((self.n, self.dimensions)) < p[truth]).astype(float)
            start = start_at_random(self.dimensions, self.k, rng, self.restarts, low=0, high=1)
            for j, alpha in enumerate(self.priors):
                beta = None if alpha == 1 else Prior(alpha, alpha)
                em = fit(X, start, prior=beta, tol=1e-6, max_iter=2000)
                labels = responsibilities(X, em.theta)[em.best].argmax(axis=1)
                mu = em.theta.mu[em.best]
                rows[:, j, i] = (
                    np.mean((mu < 1e-6) | (mu > 1 - 1e-6)),
                    agreement(labels, truth, self.k),
                    smallest_gain(em.objective),
                )
                if j == 0:
                    seen.append((X, labels))
        X, labels = seen[0]
        start = start_at_random(self.dimensions, self.k, rng)
        q, _ = e_step(X, start)
        flat = m_step(start, q, Prior(1.0, 1.0)).mu - m_step(start, q).mu
        extreme = extreme_updates(self.n, Prior(max(self.priors), max(self.priors)))
        prior, draw = axis("prior", self.priors), axis("draw", self.draws)
        thing, variable = axis("object", self.n), axis("variable", self.dimensions)
        return Outcome(
            points=over(X, thing, variable),
            labels=thing.of(labels),
            pinned=over(rows[0], prior, draw),  # share of the probabilities at 0 or 1
            agreement=over(rows[1], prior, draw),
            smallest_gain=over(rows[2], prior, draw),
            most_constant=draw.of([_most_constant(*pair, self.k) for pair in seen]),
            flat_prior_change=float(np.abs(flat).max()),
            extreme_update=axis("observed", ["zeros", "ones"]).of(extreme),
        )


def _most_constant(X: Floats, labels: Ints, k: int) -> int:
    """The most variables that have one value throughout a cluster of five objects or more."""
    clusters = [X[labels == j] for j in range(k)]
    sizes = [int((own == own[0]).all(axis=0).sum()) for own in clusters if len(own) >= 5]
    return max(sizes, default=0)
