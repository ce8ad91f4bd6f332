"""Pseudo-likelihood against maximum likelihood for fully observed fields (MLAPP 19.5.4)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import log_softmax

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs import field_estimates as estimates
from bythebook.models.graphs.boltzmann import all_states, features, log_likelihood, probabilities
from bythebook.models.graphs.pairwise import SHAPES, grid, shaped
from bythebook.models.graphs.proportional_fitting import gaussian_fit, graph_cliques, newton
from bythebook.models.types import Floats, Ints

ESTIMATORS = ("likelihood", "pseudo")
SIDES = (2, 3, 4)  # of lattices whose terms are counted
GAUSSIAN = 4  # variables of a Gaussian
GAUSSIAN_DRAWS = 5
SWEEPS = 500  # of proportional fitting, to its limit
EVIDENCE = 100  # cases with a neighbour that is always equal
RIDGE = 1e-3  # precision of the prior, per case, where there is no finite optimum
STEP = 1e-4  # of a central difference


@dataclass
class FieldLearning(Study):
    """Pseudo-likelihood and maximum likelihood estimates of a lattice of spins (MLAPP 19.5.4).

    Weights and fields are Gaussian; cases are drawn exactly. Also Gaussians of four variables, and
    two spins that determine each other. Divergences are from the true to the fitted distribution.
    """

    headline = {"divergence": "mean(divergence['pseudo'])"}
    more_quantities = True
    quantities = {
        "divergence": quantity(
            "divergence from the true to the fitted distribution", "estimator draw", unit="nats"
        ),
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
        parameter, draw = axis("parameter", phi.shape[1]), axis("draw", self.draws)
        way = axis("estimator", ESTIMATORS)
        truth = rng.normal(0, self.strength, (self.draws, len(parameter)))
        p = probabilities(truth, phi)
        share = rng.multinomial(self.cases, p / p.sum(-1, keepdims=True)) / self.cases
        found = np.array([newton(share, phi.T), estimates.pseudo_likelihood(share, y, links)])
        q = probabilities(found, phi)
        log_q = log_softmax(found @ phi.T, axis=-1)
        shared, biases = _slopes(share, y, links, found[1, :, None, :-N], found[1, :, -N:])
        slope = np.array([(share - np.exp(log_q[0])) @ phi, np.hstack([shared.sum(1), biases])])
        alone = estimates.separately(share, y, links)
        ends = alone[:, :-N].reshape(self.draws, 2, -1)
        link = axis("link", len(links))
        return Outcome(
            true_parameter=over(truth, draw, parameter),
            estimate=over(found, way, draw, parameter),
            divergence=over((p * (np.log(p) - np.log(q))).sum(-1), way, draw),
            log_likelihood=over(log_likelihood(found, phi, share), way, draw),
            mean_log_probability=over((share * log_q).sum(-1), way, draw),
            slope=over(slope, way, draw, parameter),
            separate_gap=over(ends[:, 0] - ends[:, 1], draw, link),
            separate_slope=over(
                _slopes(share, y, links, ends, alone[:, -N:])[0], draw, axis("end", 2), link
            ),
            terms=over(_terms(), way, axis("side", SIDES)),
            **self._gaussian(rng),
            **self._evidence(rng),
        )

    def _gaussian(self, rng: Generator) -> dict[str, Quantity]:
        """Difference of both precisions, relative to the largest entry, and their residuals.

        Residuals are covariance errors on links for the first, the slope of (19.49) for the second.
        """
        graph, draw = axis("graph", self.gaussian_graphs), axis("set", GAUSSIAN_DRAWS)
        row, column = axis("row", GAUSSIAN), axis("column", GAUSSIAN)
        gap, left = (
            np.empty((len(graph), len(draw))),
            np.zeros((2, len(graph), len(draw), GAUSSIAN, GAUSSIAN)),
        )
        for g, shape in enumerate(self.gaussian_graphs):
            links = shaped(shape, GAUSSIAN, rng)
            cliques = graph_cliques([(int(s), int(t)) for s, t in np.sort(links, 1)], GAUSSIAN)
            mix = np.eye(GAUSSIAN) + 0.4 * rng.standard_normal((len(draw), GAUSSIAN, GAUSSIAN))
            X = rng.standard_normal((len(draw), 10 * GAUSSIAN, GAUSSIAN)) @ mix
            S = np.array([np.corrcoef(points.T) for points in X])
            other = [estimates.gaussian_pseudo_likelihood(one, links) for one in S]
            best = gaussian_fit(S, cliques, SWEEPS)
            gap[g] = np.abs(np.array(other) - best).max((-1, -2)) / np.abs(best).max((-1, -2))
            free = np.eye(GAUSSIAN)
            free[links[:, 0], links[:, 1]] = free[links[:, 1], links[:, 0]] = 1
            left[0, g] = free * (np.linalg.inv(best) - S)
            Z = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
            left[1, g] = [_gaussian_slopes(L, z, free) for L, z in zip(other, Z, strict=True)]
        return {
            "gaussian_gap": over(gap, graph, draw),
            "gaussian_covariance_gap": over(left[0], graph, draw, row, column),
            "gaussian_slope": over(left[1], graph, draw, row, column),
        }

    def _evidence(self, rng: Generator) -> dict[str, Quantity]:
        """Weights of the neighbour and of the evidence, where the neighbour is always right."""
        way, draw = axis("estimator", ESTIMATORS), axis("draw", self.draws)
        weights, slope = np.empty((2, len(way), self.draws, 2))
        most = np.empty((len(way), self.draws))
        for k in range(self.draws):
            y = rng.choice(np.array([-1.0, 1.0]), EVIDENCE)
            x = y[:, None] + rng.standard_normal((EVIDENCE, 2))
            for w, name in enumerate(ESTIMATORS):
                weights[w, k] = estimates.evidence_pair(x, y, RIDGE, pseudo=name == "pseudo")
                most[w, k] = abs(weights[w, k, 1]) * np.abs(x).max()
                moved = weights[w, k] + STEP * np.array([np.eye(2), -np.eye(2)])
                level = np.array(
                    [[_objectives(a, b, y[:, None] * x)[w] for a, b in to] for to in moved]
                )
                slope[w, k] = (level[0] - level[1]) / (2 * STEP)
        return {
            "neighbour_weight": over(weights[..., 0], way, draw),
            "evidence_weight": over(weights[..., 1], way, draw),
            "most_evidence": over(most, way, draw),
            "evidence_slope": over(slope, way, draw, axis("weight", ["neighbour", "evidence"])),
        }


def _slopes(
    share: Floats, y: Floats, links: Ints, ends: Floats, bias: Floats
) -> tuple[Floats, Floats]:
    """Slopes of (19.49) along a weight for each end of a link (draw, end, link), and along biases.

    Given all others a spin has the mean tanh(field); its residual is multiplied by its neighbour.
    """
    s, t = links.T
    W = np.zeros((len(share), y.shape[1], y.shape[1]))
    W[:, s, t], W[:, t, s] = ends[:, 0], ends[:, -1]
    off = share[..., None] * (y - np.tanh(y @ W.swapaxes(1, 2) + bias[:, None]))
    pairs = off.swapaxes(1, 2) @ y
    return np.stack([pairs[:, s, t], pairs[:, t, s]], axis=1), np.asarray(off.sum(1))


def _gaussian_slopes(L: Floats, z: Floats, free: Floats) -> Floats:
    """Differences of (19.49) along each free entry of a precision, from the conditionals at z."""

    def level(K: Floats) -> float:
        own = K.diagonal()
        return float((np.log(own) - (z @ K) ** 2 / own).sum(1).mean() / 2)

    found = np.zeros_like(L)
    for i, j in zip(*np.nonzero(free), strict=True):
        step = np.zeros_like(L)
        step[i, j] = step[j, i] = STEP
        found[i, j] = (level(L + step) - level(L - step)) / (2 * STEP)
    return found


def _objectives(w: float, v: float, evidence: Floats) -> tuple[float, float]:
    """(19.50) and (19.49) of two equal spins with fields v times `evidence`, plus the log prior.

    The values come from the four entries of their table; the first entry has both spins as given.
    """
    one, two = v * evidence.T
    table = np.array([w + one + two, one - w - two, two - w - one, w - one - two])
    both = table[0] - np.logaddexp.reduce(table)
    each = 2 * table[0] - np.logaddexp(table[0], table[1]) - np.logaddexp(table[0], table[2])
    prior = RIDGE * (w * w + v * v) / 2
    return float(both.mean() - prior), float(each.mean() - prior)


def _terms() -> Floats:
    """Exponentials of one evaluation: one for each state, or two for each spin."""
    spins = np.array(SIDES) ** 2
    return np.array([2.0**spins, 2.0 * spins])
