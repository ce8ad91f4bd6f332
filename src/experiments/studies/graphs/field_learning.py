"""Pseudo-likelihood against maximum likelihood for fully observed fields (MLAPP 19.5.4)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs import field_estimates as estimates
from bythebook.models.graphs.boltzmann import all_states, features, probabilities
from bythebook.models.graphs.pairwise import SHAPES, grid, shaped
from bythebook.models.graphs.proportional_fitting import gaussian_fit, graph_cliques, newton
from bythebook.models.types import Floats

ESTIMATORS = ("likelihood", "pseudo")
GAUSSIAN = 4  # variables of a Gaussian
GAUSSIAN_DRAWS = 5
SWEEPS = 500  # of proportional fitting, to its limit
EVIDENCE = 100  # cases with a neighbour that is always equal
RIDGE = 1e-3  # precision of the prior, per case, where there is no finite optimum


@dataclass
class FieldLearning(Study):
    """Pseudo-likelihood and maximum likelihood estimates of a lattice of spins (MLAPP 19.5.4).

    Weights and fields are Gaussian; cases are drawn exactly. Also Gaussians of four variables, and
    two spins that determine each other. Divergences are from the true to the fitted distribution.
    """

    headline = {"divergence": "mean(divergence['pseudo'])"}
    quantities = {
        "estimate": quantity("estimated weights, then fields", "estimator draw parameter"),
        "divergence": quantity(
            "divergence from the true to the fitted distribution", "estimator draw", unit="nats"
        ),
        "separate_gap": quantity(
            "difference of the estimates of a weight from the conditionals of its two ends",
            "draw link",
        ),
        "gaussian_gap": quantity(
            "largest difference of the two precisions, relative to the largest entry", "graph set"
        ),
        "neighbour_weight": quantity(
            "weight of a neighbour that always equals the node", "estimator draw"
        ),
        "evidence_weight": quantity("weight of the local evidence of this node", "estimator draw"),
        "max_evidence": quantity("largest contribution of its local evidence", "estimator draw"),
    }
    axes = {
        "estimator": axis_of("objective that is maximised"),
        "draw": axis_of("field and data"),
        "parameter": axis_of("weight or field"),
        "link": axis_of("link of the lattice"),
        "graph": axis_of("graph of a Gaussian"),
        "set": axis_of("data set of a Gaussian"),
    }

    rows: int = knob(3, "of the lattice", at_least=2, at_most=3)
    columns: int = knob(3, "of the lattice", at_least=2, at_most=4)
    strength: float = knob(0.5, "standard deviation of weights and fields", at_least=0, at_most=2)
    cases: int = knob(200, "N", at_least=20, at_most=1_000_000)
    draws: int = knob(40, "fields and data drawn", at_least=1, at_most=500)
    gaussian_graphs: list[str] = knob(
        ["complete", "ring"], "of Gaussians", choices=SHAPES, distinct=True
    )

    def run(self, rng: Generator) -> Outcome:
        links, N = grid(self.rows, self.columns), self.rows * self.columns
        y = all_states(N)
        phi = features(y, links)
        truth = rng.normal(0, self.strength, (self.draws, phi.shape[1]))
        p = probabilities(truth, phi)
        share = rng.multinomial(self.cases, p / p.sum(-1, keepdims=True)) / self.cases
        found = np.array([newton(share, phi.T), estimates.pseudo_likelihood(share, y, links)])
        q = probabilities(found, phi)
        ends = estimates.separately(share, y, links)[:, :-N].reshape(self.draws, 2, -1)
        gaps = self._gaussian_gaps(rng)
        weights, strongest = self._evidence(rng)
        return outcome(
            {
                "estimator": ESTIMATORS,
                "draw": self.draws,
                "parameter": phi.shape[1],
                "link": len(links),
                "graph": self.gaussian_graphs,
                "set": GAUSSIAN_DRAWS,
            },
            estimate=("estimator draw parameter", found),
            divergence=("estimator draw", (p * (np.log(p) - np.log(q))).sum(-1)),
            separate_gap=("draw link", ends[:, 0] - ends[:, 1]),
            gaussian_gap=("graph set", gaps),
            neighbour_weight=("estimator draw", weights[..., 0]),
            evidence_weight=("estimator draw", weights[..., 1]),
            max_evidence=("estimator draw", strongest),
        )

    def _gaussian_gaps(self, rng: Generator) -> Floats:
        """Differences of both precisions for each graph and data set, relative to the largest."""
        gap = np.empty((len(self.gaussian_graphs), GAUSSIAN_DRAWS))
        for g, shape in enumerate(self.gaussian_graphs):
            links = shaped(shape, GAUSSIAN, rng)
            cliques = graph_cliques([(int(s), int(t)) for s, t in np.sort(links, 1)], GAUSSIAN)
            mix = np.eye(GAUSSIAN) + 0.4 * rng.standard_normal((GAUSSIAN_DRAWS, GAUSSIAN, GAUSSIAN))
            X = rng.standard_normal((GAUSSIAN_DRAWS, 10 * GAUSSIAN, GAUSSIAN)) @ mix
            S = np.array([np.corrcoef(points.T) for points in X])
            other = [estimates.gaussian_pseudo_likelihood(one, links) for one in S]
            best = gaussian_fit(S, cliques, SWEEPS)
            gap[g] = np.abs(np.array(other) - best).max((-1, -2)) / np.abs(best).max((-1, -2))
        return gap

    def _evidence(self, rng: Generator) -> tuple[Floats, Floats]:
        """Weights of a neighbour that is always equal and of the evidence, and its largest part."""
        weights = np.empty((len(ESTIMATORS), self.draws, 2))
        strongest = np.empty(weights.shape[:-1])
        for k in range(self.draws):
            y = rng.choice(np.array([-1.0, 1.0]), EVIDENCE)
            x = y[:, None] + rng.standard_normal((EVIDENCE, 2))
            for w, name in enumerate(ESTIMATORS):
                weights[w, k] = estimates.evidence_pair(x, y, RIDGE, pseudo=name == "pseudo")
                strongest[w, k] = abs(weights[w, k, 1]) * np.abs(x).max()
        return weights, strongest
