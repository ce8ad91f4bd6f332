"""A network's posterior: Laplace, evidence for precisions, Hamiltonian chains (MLAPP 16.5.7)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.networks import network_evidence as laplace
from bythebook.models.networks import neural_network as networks
from bythebook.models.sampling.kernels import leapfrog
from bythebook.models.types import Floats, Ints

PROBLEMS = ("sine", "redundant")
NARROW = 10.0


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
    quantities = {
        "alpha": quantity("precision of a group of weights", "repetition group"),
        "weighted_error": quantity(
            "negative log posterior at the mode, up to a constant",
            "repetition",
            equation="MLAPP 16.83",
        ),
        "at_rest": quantity("whether the precisions have converged", "repetition"),
        "predicted": quantity("output of the most probable weights", "repetition x"),
        "deviation": quantity(
            "standard deviation of a prediction", "repetition x", equation="MLAPP 16.95"
        ),
        "diagonal_ratio": quantity(
            "predictive variance by the diagonal of the Hessian, relative to that by all of it",
            "repetition",
        ),
        "inputs": quantity("inputs of the data", "repetition point"),
        "targets": quantity("targets of the data", "repetition point"),
        "truth": quantity("true curve", "x"),
        "sampled_mean": quantity("mean of the sampled functions", "repetition x"),
        "sampled_deviation": quantity(
            "standard deviation of the sampled functions", "repetition x"
        ),
        "acceptance": quantity("share of accepted proposals", "repetition"),
        "energy_factor": quantity("mean of exp of minus the change of the energy", "repetition"),
        "sample": quantity("sampled functions of the first data set", "sampled x"),
    }
    axes = {
        "repetition": axis_of("data set"),
        "group": axis_of("group of weights"),
        "x": axis_of("input"),
        "point": axis_of("point of the data"),
        "sampled": axis_of("sample"),
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
        coords: dict[str, Any] = {"repetition": self.repetitions, "group": names}
        curves: dict[str, Any] = {}
        if self.problem == "sine":
            grid = np.linspace(0, 1, 101)
            coords |= {"x": grid, "point": self.points}
            fit = _Fitted(found, which, sizes, x, t)
            curves = self._curves(fit, grid[:, None])
            if self.samples:
                curves |= self._chains(fit, grid[:, None], rng)
                coords["sampled"] = len(curves["sample"][1])
        return outcome(
            coords,
            alpha=("repetition group", found.alpha),
            weighted_error=("repetition", laplace.weighted_error(found, sizes, x, t, which)),
            at_rest=("repetition", found.moved <= 1e-3),
            **curves,
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

    def _curves(self, fit: _Fitted, grid: Floats) -> dict[str, Any]:
        found, which, sizes, x, t = fit
        mean, variance = laplace.predictive(found, which, sizes, grid)
        centre = np.array([[0.25]])
        diagonal, whole = (
            laplace.predictive(found, which, sizes, centre, diagonal=way)[1][:, 0] - 1 / found.beta
            for way in (True, False)
        )
        return {
            "predicted": ("repetition x", mean),
            "deviation": ("repetition x", np.sqrt(variance)),
            "diagonal_ratio": ("repetition", diagonal / whole),
            "inputs": ("repetition point", x[..., 0]),
            "targets": ("repetition point", t),
            "truth": ("x", np.sin(2 * np.pi * grid[:, 0])),
        }

    def _chains(self, fit: _Fitted, grid: Floats, rng: Generator) -> dict[str, Any]:
        """A chain for each data set from its mode, in coordinates as wide as the posterior is.

        No coordinate is wider than NARROW^-1/2, beyond which tanh bends. The first half sets the
        size of the steps, and is not kept.
        """
        found, which, sizes, x, t = fit
        beta, alpha = found.beta, found.alpha[:, which]
        wide = found._replace(alpha=found.alpha + NARROW)
        root = np.linalg.cholesky(laplace.covariance(wide, which))

        def weights(u: Floats) -> Floats:
            return np.asarray(found.theta + np.matvec(root, u))

        def energy(u: Floats) -> tuple[Floats, Floats]:
            """E and its gradient in u (16.83), for each data set."""
            theta = weights(u)
            error, gradient = networks.error_and_gradient(theta, sizes, x, t[..., None])
            total = beta * error + 0.5 * (alpha * theta**2).sum(1)
            return total, np.vecmat(beta[:, None] * gradient + alpha * theta, root)

        u = np.zeros_like(found.theta)
        level = energy(u)[0]
        kept, accepted, factors = [], np.zeros(len(u)), np.zeros(len(u))
        leap = np.full(len(u), self.leap_size)
        for k in range(2 * self.samples):
            r = rng.standard_normal(u.shape)
            size = leap[:, None] * rng.uniform(0.8, 1.2, (len(u), 1))
            end, left = leapfrog(lambda u: -energy(u)[1], u, r, size, self.leaps)
            new = energy(end)[0]
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
        return {
            "sampled_mean": ("repetition x", f.mean(0)),
            "sampled_deviation": ("repetition x", f.std(0)),
            "acceptance": ("repetition", accepted),
            "energy_factor": ("repetition", factors),
            "sample": ("sampled x", f[:: max(1, len(f) // 20), 0]),
        }
