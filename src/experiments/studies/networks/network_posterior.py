"""A network's posterior: Laplace, evidence for precisions, Hamiltonian chains (MLAPP 16.5.7)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.networks import network_evidence as laplace
from bythebook.models.networks import neural_network as networks
from bythebook.models.probability.gaussian import log_density_1d
from bythebook.models.sampling.kernels import leapfrog
from bythebook.models.types import Floats, Ints

PROBLEMS = ("sine", "redundant")
SAMPLED = 400  # draws from the Gaussian posterior
NARROW = 10.0
MODES = 10  # data sets, and starts on each, whose minima are compared


class _Fitted(NamedTuple):
    """Fits of the data sets, with their data."""

    found: laplace.Posterior
    which: Ints  # the group of each weight
    sizes: networks.Sizes
    x: Floats
    t: Floats


@dataclass
class NetworkPosterior(Study):
    """Posterior modes, precisions and error bars of a network on drawn data sets (MLAPP 16.5.7).

    The data "sine" have inputs N(0.25, 0.07^2) and targets sin(2 pi x) with noise 0.1. In
    "redundant", x1 is uniform, x2 a copy of it with noise 0.02, x3 N(0.5, 0.2^2), and targets are
    sin(2 pi x1) with noise 0.05.
    """

    headline = {"alpha": "median(alpha)"}
    more_quantities = True
    quantities = {
        "alpha": quantity("precision of a group of weights", "repetition group"),
    }

    problem: str = knob("sine", "the data", choices=PROBLEMS)
    points: int = knob(16, "in a data set", at_least=4, at_most=1000)
    hidden: int = knob(3, "tanh units", at_least=1, at_most=20)
    groups: str = knob("one", "of weights with a precision each", choices=("one", "inputs"))
    alpha: float = knob(0.01, "first precision of the weights", above=0)
    beta: float = knob(50.0, "first precision of the noise", above=0)
    cycles: int = knob(10, "fits, each with updates after it", at_least=1, at_most=1000)
    updates: int = knob(1, "updates of the precisions in a cycle", at_least=1, at_most=100)
    repetitions: int = knob(40, "data sets", at_least=1, at_most=1000)
    samples: int = knob(0, "of a Hamiltonian chain per data set; 0: none", at_least=0)
    leaps: int = knob(10, "leapfrog steps", at_least=1, at_most=1000)
    leap_size: float = knob(0.1, "of them at first, in units of the posterior's widths", above=0)

    def run(self, rng: Generator) -> Outcome:
        x, t = self._data(rng)
        sizes = (x.shape[2], self.hidden, 1)
        names, which = laplace.groups(sizes, self.groups)
        start = networks.random_start(sizes, self.repetitions, rng)
        found = laplace.fit_posterior(
            start, sizes, x, t, which, alpha=self.alpha, beta=self.beta,
            cycles=self.cycles, updates=self.updates,
        )  # fmt: skip
        repetition, group = axis("repetition", self.repetitions), axis("group", names)
        E_D, w2 = laplace.data_error(found.theta, sizes, x, t), found.theta**2
        weighted = found.beta * E_D + 0.5 * (found.alpha[:, which] * w2).sum(1)
        return Outcome(
            alpha=over(found.alpha, repetition, group),
            beta=repetition.of(found.beta),
            weighted_error=repetition.of(weighted),
            squared_weights=over(
                laplace.squares(found.theta, which, len(names)), repetition, group
            ),
            well_determined=over(found.gamma, repetition, group),
            at_rest=repetition.of(found.moved <= 1e-3),
            well_determined_gap=repetition.of(self._determined(found, which)),
            **(
                self._curves(_Fitted(found, which, sizes, x, t), rng)
                if self.problem == "sine"
                else {}
            ),
        )

    def _data(self, rng: Generator) -> tuple[Floats, Floats]:
        """Inputs (R, N, D) and targets (R, N)."""
        shape = (self.repetitions, self.points)
        if self.problem == "sine":
            x = rng.normal(0.25, 0.07, (*shape, 1))
            return x, np.sin(2 * np.pi * x[..., 0]) + 0.1 * rng.standard_normal(shape)
        one = rng.random(shape) + 0.002 * rng.standard_normal(shape)
        two, three = one + 0.02 * rng.standard_normal(shape), rng.normal(0.5, 0.2, shape)
        t = np.sin(2 * np.pi * one) + 0.05 * rng.standard_normal(shape)
        return np.stack([one, two, three], axis=-1), t

    def _determined(self, found: laplace.Posterior, which: Ints) -> Floats:
        """Well-determined parameters by group, minus the trace of H A^-1 times beta."""
        inverse = laplace.covariance(found, which)
        whole = found.beta * np.einsum("rpq,rqp->r", found.H, inverse)
        return np.asarray(np.abs(found.gamma.sum(1) - whole))

    def _curves(self, fit: _Fitted, rng: Generator) -> dict[str, Quantity]:
        found, which, sizes, x, t = fit
        repetition, place = axis("repetition", self.repetitions), axis("x", np.linspace(0, 1, 101))
        grid = place.values[:, None]
        mean, variance = laplace.predictive(found, which, sizes, grid)
        near = (place.values >= 0.15) & (place.values <= 0.35)
        root = np.linalg.cholesky(laplace.covariance(found, which))
        drawn = found.theta[:, None] + np.einsum(
            "rpq,rsq->rsp", root, rng.standard_normal((len(x), SAMPLED, root.shape[1]))
        )
        spread = networks.predict(drawn, sizes, grid[near])[..., 0].var(1)
        linear = variance[:, near] - 1 / found.beta[:, None]
        likeness = [np.corrcoef(a, b)[0, 1] for a, b in zip(linear, spread, strict=True)]
        centre = np.array([[0.25]])
        ratio = np.divide(
            *(
                laplace.predictive(found, which, sizes, centre, diagonal=way)[1][:, 0]
                - 1 / found.beta
                for way in (True, False)
            )
        )
        return {
            "predicted": over(mean, repetition, place),
            "deviation": over(np.sqrt(variance), repetition, place),
            "linear_likeness": repetition.of(likeness),
            "diagonal_ratio": repetition.of(ratio),
            "form": over(_forms(fit, grid[::20]), repetition, axis("place", place.values[::20])),
            "fitted": over(
                networks.predict(found.theta, sizes, x)[..., 0],
                repetition,
                axis("point", self.points),
            ),
            "hessian_gap": repetition.of(self._hessian_gap(fit)),
            "posterior_modes": axis("tried", min(MODES, self.repetitions)).of(
                self._modes(fit, rng)
            ),
            **_formulas(rng),
            "inputs": over(x[..., 0], repetition, axis("point", self.points)),
            "targets": over(t, repetition, axis("point", self.points)),
            **(self._chains(fit, grid, rng) if self.samples else {}),
        }

    def _energy(self, fit: _Fitted) -> Callable[[Floats], tuple[Floats, Floats]]:
        """E and its gradient (16.83), of a weight vector for each data set."""
        found, which, sizes, x, t = fit
        beta, alpha = found.beta, found.alpha[:, which]

        def energy(theta: Floats) -> tuple[Floats, Floats]:
            error, gradient = networks.error_and_gradient(theta, sizes, x, t[..., None])
            total = beta * error + 0.5 * (alpha * theta**2).sum(1)
            return total, beta[:, None] * gradient + alpha * theta

        return energy

    def _hessian_gap(self, fit: _Fitted) -> Floats:
        """Second differences of E itself against beta H + alpha I, relative to the largest."""
        found, which, sizes, x, t = fit
        energy = self._energy(fit)
        P, step = found.theta.shape[1], 1e-3
        H = laplace.data_hessian(found.theta, sizes, x, t)
        A = found.beta[:, None, None] * H + np.eye(P) * found.alpha[:, which][:, None]
        moves, gap = step * np.eye(P), np.zeros(len(x))
        for i in range(P):
            for j in range(P):
                corners = [
                    a * b * energy(found.theta + a * moves[i] + b * moves[j])[0]
                    for a in (1, -1)
                    for b in (1, -1)
                ]
                second = sum(corners) / (4 * step**2)
                gap = np.maximum(gap, np.abs(second - A[:, i, j]))
        return np.asarray(gap / np.abs(A).max((1, 2)))

    def _modes(self, fit: _Fitted, rng: Generator) -> Ints:
        """Different weights at the minima from some starts, with the precisions found."""
        found, which, sizes, x, t = fit
        S = min(MODES, self.repetitions)
        rows = np.repeat(np.arange(S), MODES)
        decay = (found.alpha[:, which] / found.beta[:, None])[rows]
        start = 3 * networks.random_start(sizes, len(rows), rng)
        fits = networks.fit_networks(
            start, sizes, x[rows], t[rows], decay=decay, tol=1e-5, max_iter=800
        )
        flat = fits.converged.reshape(S, MODES)
        ends = np.round(fits.theta, 3).reshape(S, MODES, -1)
        return np.array([len(np.unique(e[f], axis=0)) for e, f in zip(ends, flat, strict=True)])

    def _chains(self, fit: _Fitted, grid: Floats, rng: Generator) -> dict[str, Quantity]:
        """A chain for each data set from its mode, in coordinates as wide as the posterior is.

        No coordinate is wider than NARROW^-1/2, beyond which tanh bends. The first half sets the
        size of the steps, and is not kept.
        """
        found, which, sizes = fit.found, fit.which, fit.sizes
        energy = self._energy(fit)
        wide = found._replace(alpha=found.alpha + NARROW)
        root = np.linalg.cholesky(laplace.covariance(wide, which))

        def weights(u: Floats) -> Floats:
            return np.asarray(found.theta + np.matvec(root, u))

        def force(u: Floats) -> Floats:
            return np.asarray(-np.vecmat(energy(weights(u))[1], root))

        u = np.zeros_like(found.theta)
        level = energy(weights(u))[0]
        kept, accepted, factors = [], np.zeros(len(u)), np.zeros(len(u))
        leap = np.full(len(u), self.leap_size)
        for k in range(2 * self.samples):
            r = rng.standard_normal(u.shape)
            size = leap[:, None] * rng.uniform(0.8, 1.2, (len(u), 1))
            end, left = leapfrog(force, u, r, size, self.leaps)
            new = energy(weights(end))[0]
            change = new - level + 0.5 * (left**2 - r**2).sum(1)
            take = np.log1p(-rng.random(len(u))) <= -change
            u, level = np.where(take[:, None], end, u), np.where(take, new, level)
            if k < self.samples:
                leap *= np.exp(np.where(take, 0.1, -0.9) / (1 + k / 20))  # nine of ten are taken
            else:
                kept.append(networks.predict(weights(u), sizes, grid)[..., 0])
                accepted += take / self.samples
                factors += np.exp(np.minimum(-change, 50)) / self.samples
        f = np.array(kept)
        repetition, place = axis("repetition", self.repetitions), axis("x", grid[:, 0])
        return {
            "sampled_mean": over(f.mean(0), repetition, place),
            "sampled_deviation": over(f.std(0), repetition, place),
            "acceptance": repetition.of(accepted),
            "energy_error_mean": repetition.of(factors - 1),
            "sample": over(
                f[:: max(1, len(f) // 20), 0],
                axis("sampled", len(f[:: max(1, len(f) // 20)])),
                place,
            ),
        }


def _forms(fit: _Fitted, grid: Floats, step: float = 1e-4) -> Floats:
    """g^T A^-1 g (16.95) at some inputs, with g by differences of the outputs, (R, len(grid))."""
    found, which, sizes, *_ = fit
    moves = step * np.eye(found.theta.shape[1])
    up, down = (
        networks.predict(found.theta[:, None] + sign * moves, sizes, grid)[..., 0]
        for sign in (1, -1)
    )
    g = (up - down) / (2 * step)  # (R, P, len(grid))
    A = found.beta[:, None, None] * found.H + found.alpha[:, which][:, None] * np.eye(len(moves))
    return np.asarray((g * np.linalg.solve(A, g)).sum(1))


def _formulas(rng: Generator) -> dict[str, Quantity]:
    """Statements and formulas as printed, on random weights and outputs."""
    one, two = rng.standard_normal((2, 20))
    penalty = 0.5 * 0.7 * ((one**2).sum() - (two**2).sum())
    prior = log_density_1d(one, 0.0, 1 / 0.7).sum() - log_density_1d(two, 0.0, 1 / 0.7).sum()
    y, f = rng.integers(2, size=20), rng.uniform(0.05, 0.95, 20)
    right = -(y * np.log(f) + (1 - y) * np.log(1 - f)).sum()
    printed = (y * np.log(f) + (1 - y) * np.log(f)).sum()  # 16.89
    return {
        "penalty_plus_prior": Quantity(abs(penalty + prior)),
        "printed_cross_entropy_gap": Quantity(abs(printed - right)),
    }
