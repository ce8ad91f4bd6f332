"""Factorised approximations of a correlated Gaussian, by either divergence (PRML 10.1.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import factorised
from bythebook.models.types import Floats

CYCLES = 400  # through free-form factors


@dataclass
class FactorisedGaussian(Study):
    """Free-form factors of drawn Gaussians: means, variances and divergences (PRML 10.1.2).

    The first Gaussian has unit variances and a correlation of 0.9; correlations and standard
    deviations of the others are drawn.
    """

    headline = {"too_compact": "share(entropy['q||p'] < entropy['p'])"}
    more_quantities = True
    quantities = {
        "entropy": quantity(
            "entropy of a Gaussian and of its factorised approximations", "of draw", unit="nats"
        ),
    }

    draws: int = knob(12, "Gaussians", at_least=1, at_most=200)
    starts: int = knob(10, "of the means", at_least=1, at_most=1000)
    correlation: float = knob(0.99, "the largest that is drawn", above=0, at_most=0.99)

    def run(self, rng: Generator) -> Outcome:
        draw, variable = axis("draw", self.draws), axis("variable", [1, 2])
        mean = rng.normal(0, 2, (self.draws, 2))
        rho = rng.uniform(-self.correlation, self.correlation, self.draws)
        sd = rng.uniform(0.5, 2, (self.draws, 2))
        rho[0], sd[0] = min(0.9, self.correlation), 1.0
        S = sd[:, :, None] * sd[:, None] * (np.eye(2) + rho[:, None, None] * (1 - np.eye(2)))
        on = factorised.grid(mean, S)
        found = {"q||p": factorised.exclusive(on, CYCLES), "p||q": factorised.inclusive(on)}
        shapes = {way: factorised.moments(on, q) for way, q in found.items()}
        way = axis("way", list(found))
        variance = np.array([v for _, v in shapes.values()])
        size, turn = np.linalg.eigh(S)
        along = np.array(
            [size[:, ::-1]] + [np.einsum("sij,si->sj", turn**2, v)[:, ::-1] for v in variance]
        )
        three, ends = axis("of", ["p", *found]), axis("along", ["long", "short"])
        entropy = (
            1
            + np.log(2 * np.pi)
            + np.array([np.linalg.slogdet(S)[1], *np.log(variance).sum(-1)]) / 2
        )
        cycled = factorised.cycle_means(
            mean, S, mean[:, None] + rng.normal(0, 5, (self.draws, self.starts, 2))
        )
        start = axis("start", self.starts)
        constant = np.array(
            [_constant(on, mean[k], S[k], variance[1, k], k) for k in range(self.draws)]
        )
        rare = [[_rare_mass(*of) for of in zip(S, v, strict=True)] for v in variance]
        return Outcome(
            true_mean=over(mean, draw, variable),
            true_covariance=over(S, draw, variable, axis("other", [1, 2])),
            precision=over(np.diagonal(np.linalg.inv(S), axis1=1, axis2=2), draw, variable),
            marginal_variance=over(np.diagonal(S, axis1=1, axis2=2), draw, variable),
            freeform_variance=over(variance, way, draw, variable),
            freeform_mean_gap=over(
                [np.abs(m - mean).max(-1) for m, _ in shapes.values()], way, draw
            ),
            freeform_distance=over(
                [factorised.gaussian_distance(on, q) for q in found.values()], way, draw, variable
            ),
            variance_along=over(np.moveaxis(along, -1, 1), three, ends, draw),
            mean_variance=over(np.sqrt(variance.prod(-1)), way, draw),
            entropy=over(entropy, three, draw),
            rare_mass=over(rare, way, draw),
            iterated_gap=over(np.abs(cycled.mean - mean[:, None]).max(-1), draw, start),
            cycles=over(cycled.cycles, draw, start),
            constant_gap=over(
                [constant - entropy[0], constant + entropy[0]],
                axis("constant", ["entropy", "minus the entropy"]),
                draw,
            ),
            bound_at_rest=draw.of(factorised.bound(on, found["q||p"].q)),
            grid_mass=draw.of(np.exp(on.log_p).sum((1, 2)) * on.step.prod(-1)),
            first_cycle=over(
                factorised.cycle_means(mean, S, mean[:, None] + 1.0, most=2).mean[:, 0],
                draw, variable,
            ),
            bound_above_chord=draw.of(_above_chord(on, found["q||p"].q, rng)),
        )  # fmt: skip


def _rare_mass(S: Floats, variance: Floats) -> float:
    """The part of independent Gaussians beyond three standard deviations of N(0, S)."""
    side = np.linspace(-7, 7, 281)
    z = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1) * np.sqrt(variance)
    weight = np.exp(-(side**2) / 2)
    weight = np.multiply.outer(weight, weight)
    square = np.einsum("...i,ij,...j->...", z, np.linalg.inv(S), z)
    return float((weight * (square > 9)).sum() / weight.sum())


def _constant(on: factorised.Grid, mean: Floats, S: Floats, variance: Floats, k: int) -> float:
    """KL(p||q) of (10.16) in closed form plus the expected ln q by quadrature."""
    logs = np.log(variance).sum() - np.linalg.slogdet(S)[1]
    divergence = (np.diag(S) / variance).sum() / 2 - 1 + logs / 2
    p = np.exp(on.log_p[k])
    p /= p.sum()
    off = (on.z[k] - mean[:, None]) ** 2 / variance[:, None]
    each = -(off + np.log(2 * np.pi * variance)[:, None]) / 2
    return float(divergence + (p * (each[0][:, None] + each[1])).sum())


def _above_chord(on: factorised.Grid, q: Floats, rng: Generator) -> Floats:
    """The bound with two first factors mixed half and half, less the mean of both bounds."""
    shift = rng.integers(4, 15)
    other = q.copy()
    other[:, 0] = np.roll(q[:, 0], shift, axis=-1)
    middle = q.copy()
    middle[:, 0] = (q[:, 0] + other[:, 0]) / 2
    ends = factorised.bound(on, q) + factorised.bound(on, other)
    return np.asarray(factorised.bound(on, middle) - ends / 2)
