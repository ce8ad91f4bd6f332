"""Pseudo-likelihood against maximum likelihood for fully observed fields (MLAPP 19.5.4)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.graphs import field_estimates as estimates
from models.graphs.boltzmann import all_states, features, log_likelihood, probabilities
from models.graphs.pairwise import SHAPES, grid, shaped
from models.graphs.proportional_fitting import gaussian_fit, graph_cliques, newton
from models.types import Floats

ESTIMATORS = ("likelihood", "pseudo")
SIDES = (2, 3, 4)  # of lattices whose terms are counted
GAUSSIAN = 4  # variables of a Gaussian
GAUSSIAN_DRAWS = 5
SWEEPS = 500  # of proportional fitting, to its limit
EVIDENCE = 100  # cases with a neighbour that is always equal
RIDGE = 1e-3  # precision of the prior, a case, where there is no finite optimum


@dataclass
class FieldLearning(Study):
    """A lattice of spins with Gaussian weights and fields, learned from cases drawn exactly.

    Also Gaussians of four variables, and two spins of which each tells the other. Divergences are
    those of the true distribution from the fitted one.
    """

    headline = {"divergence": "mean(divergence['pseudo'])"}

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
        parameter, draw = axis("parameter", phi.shape[1]), axis("draw", self.draws)
        way = axis("estimator", ESTIMATORS)
        truth = rng.normal(0, self.strength, (self.draws, len(parameter)))
        p = probabilities(truth, phi)
        share = rng.multinomial(self.cases, p / p.sum(-1, keepdims=True)) / self.cases
        found = np.array([newton(share, phi.T), estimates.pseudo_likelihood(share, y, links)])
        q = probabilities(found, phi)
        alone = estimates.separately(share, y, links)[:, : 2 * len(links)]
        ends = np.split(alone, 2, axis=-1)
        return Outcome(
            true_parameter=over(truth, draw, parameter),
            estimate=over(found, way, draw, parameter),
            divergence=over((p * (np.log(p) - np.log(q))).sum(-1), way, draw),
            log_likelihood=over(log_likelihood(found, phi, share), way, draw),
            separate_gap=over(ends[0] - ends[1], draw, axis("link", len(links))),
            terms=over(_terms(), way, axis("side", SIDES)),
            **self._gaussian(rng),
            **self._evidence(rng),
        )

    def _gaussian(self, rng: Generator) -> dict[str, Quantity]:
        """How far both precisions are from each other, relative to the largest entry."""
        graph, draw = axis("graph", self.gaussian_graphs), axis("set", GAUSSIAN_DRAWS)
        gap = np.empty((len(graph), len(draw)))
        for g, shape in enumerate(self.gaussian_graphs):
            links = shaped(shape, GAUSSIAN, rng)
            cliques = graph_cliques([(int(s), int(t)) for s, t in np.sort(links, 1)], GAUSSIAN)
            mix = np.eye(GAUSSIAN) + 0.4 * rng.standard_normal((len(draw), GAUSSIAN, GAUSSIAN))
            X = rng.standard_normal((len(draw), 10 * GAUSSIAN, GAUSSIAN)) @ mix
            S = np.array([np.corrcoef(points.T) for points in X])
            other = [estimates.gaussian_pseudo_likelihood(one, links) for one in S]
            best = gaussian_fit(S, cliques, SWEEPS)
            gap[g] = np.abs(np.array(other) - best).max((-1, -2)) / np.abs(best).max((-1, -2))
        return {"gaussian_gap": over(gap, graph, draw)}

    def _evidence(self, rng: Generator) -> dict[str, Quantity]:
        """Weights of the neighbour and of the evidence, where the neighbour is always right."""
        way, draw = axis("estimator", ESTIMATORS), axis("draw", self.draws)
        weights, most = np.empty((len(way), self.draws, 2)), np.empty((len(way), self.draws))
        for k in range(self.draws):
            y = rng.choice(np.array([-1.0, 1.0]), EVIDENCE)
            x = y[:, None] + rng.standard_normal((EVIDENCE, 2))
            for w, name in enumerate(ESTIMATORS):
                weights[w, k] = estimates.evidence_pair(x, y, RIDGE, pseudo=name == "pseudo")
                most[w, k] = abs(weights[w, k, 1]) * np.abs(x).max()
        return {
            "neighbour_weight": over(weights[..., 0], way, draw),
            "evidence_weight": over(weights[..., 1], way, draw),
            "most_evidence": over(most, way, draw),
        }


def _terms() -> Floats:
    """Exponentials of one evaluation: one for each state, or two for each spin."""
    spins = np.array(SIDES) ** 2
    return np.array([2.0**spins, 2.0 * spins])
