"""Likelihood and gradient of log-linear models, hidden variables or none (MLAPP 19.5.1)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs import boltzmann as bm
from bythebook.models.types import Floats, Ints

STEP = 1e-5  # of differences
STARTS = 5
FITS = 10  # starts of each machine that is fitted to the parity
FORMS = ("log Z", "as printed")


@dataclass
class FieldGradient(Study):
    """Likelihood and gradient of small Boltzmann machines by enumeration (MLAPP 19.5.1).

    Gradients are compared with differences; maxima are found from several starts and from values
    alone. A parity, in which each pair of variables is independent, is fitted with an increasing
    number of hidden units, which are linked to the visible ones.
    """

    headline = {"gap": "max(moment_gap)"}
    more_quantities = True
    quantities = {
        "moment_gap": quantity(
            "difference of the mean features at a maximum found from values alone", "draw"
        ),
    }

    visible: int = knob(4, "variables seen", at_least=3, at_most=6)
    hidden: int = knob(2, "variables not seen", at_least=1, at_most=4)
    cases: int = knob(60, "N", at_least=10, at_most=100_000)
    draws: int = knob(10, "machines and data drawn", at_least=1, at_most=200)
    hidden_units: list[int] = knob(
        [0, 1, 2, 3], "of machines fitted to a parity", at_least=0, at_most=4, distinct=True
    )

    def problems(self) -> Iterator[str]:
        if sorted(self.hidden_units) != self.hidden_units:
            yield "study.hidden_units: not in their order; allowed: from few to many"

    def run(self, rng: Generator) -> Outcome:
        draw = axis("draw", self.draws)
        phi = bm.features(bm.all_states(self.visible), _pairs(self.visible))
        feature = axis("feature", phi.shape[1])
        theta = rng.normal(0, 0.5, (self.draws, phi.shape[1]))
        p = bm.probabilities(theta, phi)
        share = rng.multinomial(self.cases, p / p.sum(-1, keepdims=True)) / self.cases
        at = rng.normal(0, 0.5, theta.shape)  # where derivatives are taken

        def level(t: Floats) -> Floats:
            return bm.log_likelihood(t, phi, share)

        slopes = _differences(lambda t: bm.log_partition(t, phi), at)
        off = np.abs(_differences(level, at) - bm.gradient(at, phi, share)).max(-1)
        hidden, clamped = self._hidden(share, rng)
        log_Z = bm.log_partition(theta, phi)
        totals = [p.sum(-1), np.exp(theta @ phi.T - np.exp(log_Z)[:, None]).sum(-1)]
        third = _third(p, phi[:, -self.visible :])
        return Outcome(
            slope_of_log_Z=over(slopes, draw, feature),
            expected_feature=over(bm.probabilities(at, phi) @ phi, draw, feature),
            gradient_error=over([off, hidden], axis("machine", ["observed", "hidden"]), draw),
            clamped_error=draw.of(clamped),
            curvature=over(_curvatures(level, at), draw, feature),
            moment_gap=draw.of([_from_values(phi, one) for one in share]),
            total_probability=over(totals, axis("form", FORMS), draw),
            third_moment=over(third, draw, axis("triple", third.shape[1])),
            **self._maxima(share, phi, rng),
            **self._parity(rng),
        )

    def _hidden(self, share: Floats, rng: Generator) -> tuple[Floats, Floats]:
        """Errors of (19.48) and of (19.47), for machines with some variables not seen."""
        N = self.visible + self.hidden
        phi = bm.features(bm.all_states(N), _pairs(N))
        theta = rng.normal(0, 0.5, (self.draws, phi.shape[1]))
        seen = 2**self.visible

        def clamped(t: Floats) -> Floats:  # ln of the sum over h, for each visible state
            score = (t @ phi.T).reshape(len(t), seen, -1)
            return np.asarray(np.log(np.exp(score).sum(-1)))

        def level(t: Floats) -> Floats:
            return np.asarray((share * clamped(t)).sum(-1) - bm.log_partition(t, phi))

        p = bm.probabilities(theta, phi).reshape(self.draws, seen, -1)
        given = p / p.sum(-1, keepdims=True)  # p(h | y)
        parts = np.einsum("dyh,yhf->dyf", given, phi.reshape(seen, -1, phi.shape[1]))
        free = p.reshape(self.draws, -1) @ phi
        gradient = np.einsum("dy,dyf->df", share, parts) - free  # (19.48)
        off = np.abs(_differences(level, theta) - gradient).max(-1)
        slopes = np.moveaxis(_differences(clamped, theta), -1, 2)
        return off, np.abs(slopes - parts).max((1, 2))

    def _maxima(self, share: Floats, phi: Floats, rng: Generator) -> dict[str, Quantity]:
        """Differences between values and between places of maxima from several starts."""
        kind, draw = axis("features", ["independent", "tables"]), axis("draw", self.draws)
        values, places = np.empty((2, len(kind), self.draws))
        for k, one in enumerate((phi, _tables(self.visible))):
            for d, own in enumerate(share):
                starts = rng.standard_normal((STARTS, one.shape[1]))
                ends = np.array([_climb(one, own, start) for start in starts])
                values[k, d] = np.ptp(bm.log_likelihood(ends, one, own))
                places[k, d] = np.ptp(ends, axis=0).max()
        return {
            "log_likelihood_range": over(values, kind, draw),
            "parameter_range": over(places, kind, draw),
        }

    def _parity(self, rng: Generator) -> dict[str, Quantity]:
        """Divergence of a soft parity from the best machine, for each number of hidden units."""
        units = axis("hidden_units", self.hidden_units)
        y = bm.all_states(self.visible)
        target = np.exp(1.5 * y.prod(1))
        target /= target.sum()
        found = [_bipartite_fit(target, y, H, rng) for H in self.hidden_units]
        return {
            "divergence": units.of([best for best, _ in found]),
            "numbers": units.of([count for _, count in found]),
        }


def _pairs(N: int) -> Ints:
    return np.array(list(combinations(range(N), 2)))


def _differences(value: Callable[[Floats], Floats], theta: Floats) -> Floats:
    """Central differences along each parameter; theta (draw, parameter)."""
    steps = STEP * np.eye(theta.shape[1])
    return np.stack([(value(theta + s) - value(theta - s)) / (2 * STEP) for s in steps], -1)


def _curvatures(value: Callable[[Floats], Floats], theta: Floats) -> Floats:
    """Eigenvalues of the matrix of second differences, taken at a wider step."""
    F, wide = theta.shape[1], 1e-3
    H = np.empty((len(theta), F, F))
    for i, j in product(range(F), repeat=2):
        a, b = wide * np.eye(F)[i], wide * np.eye(F)[j]
        both = value(theta + a + b) - value(theta + a - b)
        H[:, i, j] = (both - value(theta - a + b) + value(theta - a - b)) / (4 * wide**2)
    return np.asarray(np.linalg.eigvalsh(H), dtype=np.float64)


def _climb(phi: Floats, share: Floats, start: Floats) -> Floats:
    """A maximum of the likelihood, along its gradient."""
    found = minimize(
        lambda t: (-float(bm.log_likelihood(t, phi, share)), -bm.gradient(t, phi, share)),
        start,
        jac=True,
        method="BFGS",
        options={"gtol": 1e-8},
    )
    return np.asarray(found.x)


def _from_values(phi: Floats, share: Floats) -> float:
    """Difference of mean features at a maximum that was found without our gradient."""
    found = minimize(
        lambda t: -float(bm.log_likelihood(t, phi, share)), np.zeros(phi.shape[1]), method="BFGS"
    )
    return float(np.abs(bm.gradient(found.x, phi, share)).max())


def _tables(N: int) -> Floats:
    """A feature for each pair of states of each link, as in (19.13)."""
    y = ((bm.all_states(N) + 1) // 2).astype(int)
    kinds = [2 * y[:, s] + y[:, t] for s, t in _pairs(N)]
    return np.concatenate([np.eye(4)[kind] for kind in kinds], axis=1)


def _third(p: Floats, y: Floats) -> Floats:
    """Central third moments of all triples of variables."""
    off = y - (p @ y)[:, None, :]
    return np.stack(
        [(p * off[..., list(t)].prod(-1)).sum(-1) for t in combinations(range(y.shape[1]), 3)], -1
    )


def _bipartite_fit(target: Floats, y: Floats, H: int, rng: Generator) -> tuple[float, int]:
    """The best of some fits of a machine with H hidden units, and its number of parameters.

    p(y) ~ exp(theta' phi(y)) prod_h 2 cosh(c_h + u_h' y): hidden units are summed out.
    """
    N = y.shape[1]
    phi = bm.features(y, _pairs(N))
    F = phi.shape[1]
    inputs = np.column_stack([np.ones(len(y)), y])

    def loss(free: Floats) -> tuple[float, Floats]:
        field = inputs @ free[F:].reshape(H, N + 1).T
        score = phi @ free[:F] + np.logaddexp(field, -field).sum(1)
        log_p = score - score.max()
        log_p -= np.log(np.exp(log_p).sum())
        gap = np.exp(log_p) - target
        slope = np.concatenate([gap @ phi, (np.tanh(field).T @ (gap[:, None] * inputs)).ravel()])
        return float(target @ (np.log(target) - log_p)), slope

    count = F + H * (N + 1)
    starts = rng.standard_normal((FITS, count))
    fits = [minimize(loss, s, jac=True, method="BFGS").fun for s in starts]
    return float(min(fits)), count
