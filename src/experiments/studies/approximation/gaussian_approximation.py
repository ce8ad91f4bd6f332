"""Gaussian approximations of a density: Laplace, and the smallest KL(q||p) and KL(p||q).

Densities are drawn; each approximation is compared with moments on a lattice (PRML 10.1.2;
Ghahramani 11.5).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import gaussian_fit, mixture_means
from bythebook.models.approximation.gaussian_fit import Density, Fit
from bythebook.models.classification import logistic
from bythebook.models.types import Floats

DIMENSIONS = {"skewed": 1, "mixture": 2, "labels": 2, "logistic": 2}
METHODS = ["exact", "laplace", "variational", "inclusive"]
PREDICTORS = ["variational", "inclusive", "ep"]
POINTS = 30  # that a mixture's means are inferred from
PASSES = 20  # of expectation propagation
PRIOR = 10.0  # variance of these means


@dataclass
class GaussianApproximation(Study):
    """Gaussian approximations from several starts under both divergences, and their errors.

    The density "mixture" has two Gaussians in the plane; "labels" is the posterior of the two means
    of a mixture, which is the same with the labels swapped; "logistic" is the posterior of two
    weights. The method "inclusive" has the smallest KL(p||q). For labels alone, predictions are
    recorded, also those of expectation propagation with a factor for each point.
    """

    headline = {"kl_q_p": "median(divergence[:, 'q||p', 'variational'])"}
    quantities = {
        "divergence": quantity(
            "divergence of an approximation from the density",
            "density direction method repetition",
            unit="nats",
        ),
        "fit_mean": quantity("mean of the approximation", "density method repetition variable"),
        "covariance": quantity(
            "covariance of the approximation", "density method repetition variable other"
        ),
        "rare_mass": quantity(
            "probability of q outside the region that holds 99 % of p",
            "density method repetition",
        ),
        "optima": quantity("number of different minima found", "density direction repetition"),
        "to_mode": quantity(
            "distance from the mean of q to the nearest mode", "density start repetition"
        ),
        "mean_to_mode": quantity(
            "distance from the mean of p to the nearest mode", "density repetition"
        ),
        "start_mean": quantity(
            "mean of each start's q in the first repetition", "density start variable"
        ),
        "start_covariance": quantity(
            "covariance of each start's q in the first repetition", "density start variable other"
        ),
        "log_density": quantity("log density of the first repetition", "density place"),
        "place": quantity("places of this density", "density place variable"),
        "predictive_loss": quantity(
            "divergence of the predictive density from the exact one", "predictor repetition"
        ),
        "ep_mean": quantity("mean of both means by EP", "repetition variable"),
    }
    axes = {
        "density": axis_of("density that is approximated"),
        "direction": axis_of("direction of the divergence"),
        "method": axis_of("method"),
        "repetition": axis_of("draw of the density"),
        "start": axis_of("start"),
        "variable": axis_of("variable"),
        "other": axis_of("second variable of a covariance"),
        "place": axis_of("place of the lattice"),
        "predictor": axis_of("posterior that predicts"),
    }

    densities: list[str] = knob(
        ["mixture"], "what is approximated", choices=tuple(DIMENSIONS), distinct=True
    )
    repetitions: int = knob(10, "draws of each density", at_least=1, at_most=1000)
    restarts: int = knob(8, "starts of each search", at_least=1, at_most=100)

    def problems(self) -> Iterator[str]:
        if len({DIMENSIONS[name] for name in self.densities}) > 1:
            yield f"study.densities={self.densities}; allowed: of one number of variables"

    def run(self, rng: Generator) -> Outcome:
        shape = self.repetitions, POINTS
        data = rng.uniform(1.2, 2.0, (shape[0], 1)) * rng.choice([-1.0, 1.0], shape)
        data = data + rng.standard_normal(shape)
        drawn, found = [], []
        for name in self.densities:
            for k in range(self.repetitions):
                drawn.append(_drawn(name, data[k], rng))
                found.append(self._approximated(drawn[-1], rng))
        D, R = DIMENSIONS[self.densities[0]], self.repetitions
        coords: dict[str, Any] = {
            "density": self.densities,
            "direction": ["q||p", "p||q"],
            "method": METHODS,
            "repetition": R,
            "start": self.restarts,
            "variable": np.arange(1, D + 1),
            "other": np.arange(1, D + 1),
            "place": len(drawn[0].places),
        }
        firsts = drawn[::R]
        logs = [p.log_p(p.places) - p.log_evidence for p in firsts]
        more: dict[str, Any] = {}
        if "labels" in self.densities:
            coords["predictor"] = PREDICTORS
            labels = self.densities.index("labels") * R
            more = _predictions(drawn[labels : labels + R], found[labels : labels + R], data)
        return outcome(
            coords,
            log_density=("density place", logs),
            place=("density place variable", [p.places for p in firsts]),
            **_stacked(found, R),
            **more,
        )

    def _approximated(self, p: Density, rng: Generator) -> dict[str, Any]:
        """All approximations of a density, from the same starts."""
        exact = gaussian_fit.moments(p)
        places = rng.choice(len(p.places), self.restarts, p=p.mass)
        starts = [(p.places[k], exact.covariance / 4) for k in places]
        tries = [gaussian_fit.fit_exclusive(p, *start) for start in starts]
        covers = [gaussian_fit.fit_inclusive(p, *start) for start in starts]
        peaks = [gaussian_fit.mode(p, start) for start, _ in starts]
        best = min(tries, key=lambda fit: fit.divergence)
        laplace = max(peaks, key=lambda fit: float(p.log_p(fit.mean)))
        chosen = [exact, laplace, best, min(covers, key=lambda fit: fit.divergence)]
        shapes = [(fit.mean, fit.covariance) for fit in chosen]
        return {
            "fit_mean": [mean for mean, _ in shapes],
            "covariance": [S for _, S in shapes],
            "divergence": [
                [f(p, *shape) for shape in shapes]
                for f in (gaussian_fit.exclusive, gaussian_fit.inclusive)
            ],
            "rare_mass": [gaussian_fit.rare_mass(p, *shape) for shape in shapes],
            "optima": [gaussian_fit.distinct(tries), gaussian_fit.distinct(covers)],
            "to_mode": [_nearest(fit.mean, peaks) for fit in tries],
            "mean_to_mode": _nearest(exact.mean, peaks),
            "start_mean": [fit.mean for fit in tries],
            "start_covariance": [fit.covariance for fit in tries],
        }


def _stacked(found: list[dict[str, Any]], repetitions: int) -> dict[str, Any]:
    """Arrays over densities and repetitions, with repetitions where the axes have them."""
    stacked: dict[str, Any] = {}
    for name, dims in {
        "divergence": "density direction method repetition",
        "fit_mean": "density method repetition variable",
        "covariance": "density method repetition variable other",
        "rare_mass": "density method repetition",
        "optima": "density direction repetition",
        "to_mode": "density start repetition",
        "mean_to_mode": "density repetition",
    }.items():
        values = np.array([row[name] for row in found])
        values = values.reshape(-1, repetitions, *values.shape[1:])
        stacked[name] = dims, np.moveaxis(values, 1, dims.split().index("repetition"))
    for name, last in (("start_mean", "variable"), ("start_covariance", "variable other")):
        firsts = [row[name] for row in found[::repetitions]]
        stacked[name] = f"density start {last}", firsts
    return stacked


def _predictions(
    densities: list[Density], found: list[dict[str, Any]], data: Floats
) -> dict[str, Any]:
    """Predictive losses of posteriors of two means, also of that by expectation propagation."""
    ep = mixture_means.propagate(data, 2, PRIOR, PASSES)
    shapes = [
        [
            (row["fit_mean"][METHODS.index(name)], row["covariance"][METHODS.index(name)])
            for row in found
        ]
        for name in PREDICTORS[:-1]
    ]
    shapes.append(list(zip(ep.mean, ep.covariance, strict=True)))
    loss = [
        [_predictive_loss(p, *shape) for p, shape in zip(densities, each, strict=True)]
        for each in shapes
    ]
    return {
        "predictive_loss": ("predictor repetition", loss),
        "ep_mean": ("repetition variable", ep.mean),
    }


def _drawn(name: str, data: Floats, rng: Generator) -> Density:
    """A density, drawn unless it is the skewed one."""
    if name == "skewed":
        return gaussian_fit.skewed()
    if name == "labels":
        return gaussian_fit.two_means(data, PRIOR)
    if name == "mixture":
        turn, far, share = rng.uniform(0, np.pi), rng.uniform(1.5, 3.0), rng.uniform(0.3, 0.7)
        apart = far * np.array([np.cos(turn), np.sin(turn)])
        sd, rho = rng.uniform(0.5, 1.2, (2, 2)), rng.uniform(-0.6, 0.6, 2)
        shape = np.stack([np.array([[1, r], [r, 1]]) for r in rho])
        S = shape * sd[:, :, None] * sd[:, None]
        return gaussian_fit.mixture(np.array([share, 1 - share]), np.stack([apart, -apart]), S)
    x = rng.standard_normal(15)
    t = (rng.random(15) < 1 / (1 + np.exp(-2 * x))).astype(float)
    posterior = logistic.Posterior(np.stack([np.ones(15), x], axis=-1), t, 4.0)
    return gaussian_fit.density(
        lambda w: logistic.log_g(posterior, w),
        lambda w: logistic.gradient(posterior, w),
        np.array([-9.0, -9.0]),
        np.array([9.0, 11.0]),
        gaussian_fit.SIDE,
    )


def _nearest(mean: Floats, peaks: list[Fit]) -> float:
    return float(min(np.linalg.norm(mean - peak.mean) for peak in peaks))


def _predictive_loss(p: Density, mean: Floats, covariance: Floats) -> float:
    """KL from the exact predictive density to that of N(mean, covariance)."""
    x = np.linspace(-12, 12, 241)

    def normal(m: Floats, v: Floats) -> Floats:
        return np.asarray(np.exp(-((x[:, None] - m) ** 2) / (2 * v)) / np.sqrt(2 * np.pi * v))

    exact = normal(p.places[:, 0], np.ones(len(p.places))) @ p.mass / 2
    exact = exact + normal(p.places[:, 1], np.ones(len(p.places))) @ p.mass / 2
    found = normal(mean, 1 + np.diag(covariance)).mean(-1)
    return float((exact * np.log(exact / found)).sum() * (x[1] - x[0]))
