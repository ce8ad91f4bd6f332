"""Gaussian approximations of a density: Laplace, and the smallest KL(q||p) and KL(p||q).

Densities are drawn; each approximation is compared with moments on a lattice (PRML 10.1.2;
Ghahramani 11.5).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import log_expit
from scipy.stats import multivariate_normal

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import gaussian_fit, mixture_means
from bythebook.models.approximation.gaussian_fit import Density, Fit, Function
from bythebook.models.classification import logistic
from bythebook.models.types import Floats

DIMENSIONS = {"skewed": 1, "mixture": 2, "labels": 2, "logistic": 2}
WAYS = ["exact", "laplace", "variational", "inclusive", "mean alone"]
POINTS = 30  # that a mixture's means are inferred from
PASSES = 20  # of expectation propagation
PRIOR = 10.0  # variance of these means


@dataclass
class GaussianApproximation(Study):
    """Gaussian approximations from several starts under both divergences, and their errors.

    The density "mixture" has two Gaussians in the plane; "labels" is the posterior of the two means
    of a mixture, which is the same with the labels swapped; "logistic" is the posterior of two
    weights. The way "ep" is expectation propagation with a factor for each point, for labels;
    "mean alone" has the width of Laplace.
    """

    headline = {"kl_q_p": "median(divergence[:, 'q||p', 'variational'])"}
    more_quantities = True
    quantities = {
        "divergence": quantity(
            "divergence of an approximation from the density",
            "density direction way draw",
            unit="nats",
        ),
    }

    densities: list[str] = knob(
        ["mixture"], "what is approximated", choices=tuple(DIMENSIONS), distinct=True
    )
    draws: int = knob(10, "of each density", at_least=1, at_most=1000)
    starts: int = knob(8, "of each search", at_least=1, at_most=100)

    def problems(self) -> Iterator[str]:
        if len({DIMENSIONS[name] for name in self.densities}) > 1:
            yield f"study.densities={self.densities}; allowed: of one number of variables"

    def run(self, rng: Generator) -> Outcome:
        kind, draw = axis("density", self.densities), axis("draw", self.draws)
        data = rng.uniform(1.2, 2.0, (self.draws, 1)) * rng.choice(
            [-1.0, 1.0], (self.draws, POINTS)
        )
        data = data + rng.standard_normal((self.draws, POINTS))
        found = [
            [self._approximated(*_drawn(name, data[k], rng), rng) for k in range(self.draws)]
            for name in self.densities
        ]
        D = DIMENSIONS[self.densities[0]]
        i, j = axis("variable", range(1, D + 1)), axis("other", range(1, D + 1))
        start, way = axis("start", self.starts), axis("way", WAYS)
        direction = axis("direction", ["q||p", "p||q"])
        axes: dict[str, tuple[Axis, ...]] = {
            "divergence": (direction, way),
            "by_lattice": (direction, way),
            "slope_at": (axis("stationary", ["laplace", "variational"]), i),
            "bend_at": (axis("stationary", ["laplace", "variational"]), i, j),
            "rare_mass": (way,),
            "optima": (direction,),
            "to_mode": (start,),
            "mean_to_mode": (),
            "centre": (way, i),
            "covariance": (way, i, j),
            "start_centre": (start, i),
            "start_covariance": (start, i, j),
        }
        made = {
            name: _stacked([[of[name] for of in row] for row in found], kind, draw, more)
            for name, more in axes.items()
        }
        shown = axis("place", len(found[0][0]["place"]))
        made["log_density"] = over([row[0]["log_density"] for row in found], kind, shown)
        plain = [row[0]["plain"](row[0]["place"]) for row in found]
        made["plain_density"] = over(plain, kind, shown)
        made["place"] = over([row[0]["place"] for row in found], kind, shown, i)
        if "labels" in self.densities:
            made |= self._labels(made, found[self.densities.index("labels")], data)
        return Outcome(**made)

    def _approximated(self, p: Density, plain: Function, rng: Generator) -> dict[str, Any]:
        exact = gaussian_fit.moments(p)
        places = rng.choice(len(p.places), self.starts, p=p.mass)
        starts = [(p.places[k], exact.covariance / 4) for k in places]
        tries = [gaussian_fit.fit_exclusive(p, *start) for start in starts]
        covers = [gaussian_fit.fit_inclusive(p, *start) for start in starts]
        peaks = [gaussian_fit.mode(p, start) for start, _ in starts]
        best = min(tries, key=lambda fit: fit.divergence)
        laplace = max(peaks, key=lambda fit: float(p.log_p(fit.mean)))
        narrow = gaussian_fit.fit_exclusive(p, laplace.mean, laplace.covariance, width=False)
        ways = [exact, laplace, best, min(covers, key=lambda fit: fit.divergence), narrow]
        shapes = [(fit.mean, fit.covariance) for fit in ways]
        away = [_nearest(fit.mean, peaks) for fit in tries]
        return {
            "centre": [mean for mean, _ in shapes],
            "covariance": [S for _, S in shapes],
            "divergence": [
                [f(p, *shape) for shape in shapes]
                for f in (gaussian_fit.exclusive, gaussian_fit.inclusive)
            ],
            "by_lattice": np.array([_by_lattice(p, exact, *shape) for shape in shapes]).T,
            "slope_at": [_differences(p, laplace)[0], _expected(p, best)[0]],
            "bend_at": [_differences(p, laplace)[1], _expected(p, best)[1]],
            "rare_mass": [gaussian_fit.rare_mass(p, *shape) for shape in shapes],
            "optima": [gaussian_fit.distinct(tries), gaussian_fit.distinct(covers)],
            "to_mode": away,
            "mean_to_mode": _nearest(exact.mean, peaks),
            "log_density": p.log_p(p.places) - p.log_evidence,
            "place": p.places,
            "start_centre": [fit.mean for fit in tries],
            "start_covariance": [fit.covariance for fit in tries],
            "density": p,
            "plain": plain,
        }

    def _labels(
        self, made: dict[str, Quantity], found: list[dict[str, Any]], data: Floats
    ) -> dict[str, Quantity]:
        """Predictions of a mixture's posterior by each method, by EP and by averaged modes."""
        ep = mixture_means.propagate(data, 2, PRIOR, PASSES)
        draw, way = axis("draw", self.draws), axis("predictor", ["variational", "inclusive", "ep"])
        one = {name: made[name].sel(density="labels") for name in ("centre", "covariance")}
        shapes = {
            name: (one["centre"].sel(way=name).values, one["covariance"].sel(way=name).values)
            for name in ("variational", "inclusive")
        }
        shapes["ep"] = ep.mean, ep.covariance
        loss = [
            [_predictive_loss(found[k]["density"], m[k], S[k]) for k in range(self.draws)]
            for m, S in shapes.values()
        ]
        modes = one["centre"].sel(way="laplace").values
        middle = np.repeat(modes.mean(-1, keepdims=True), 2, axis=-1)
        ends = axis("parameters", ["mode", "average"])
        height = [
            [float(_log_likelihood(x, m)) for x, m in zip(data, at, strict=True)]
            for at in (modes, middle)
        ]
        variable, other = made["covariance"].axes[-2:]
        one_point = mixture_means.propagate(data[:, :1], 2, PRIOR, 60)  # a step is a half
        return {
            "predictive_loss": over(loss, way, draw),
            "log_likelihood": over(height, ends, draw),
            "ep_centre": over(ep.mean, draw, variable),
            "ep_covariance": over(ep.covariance, draw, variable, other),
            "first_point": draw.of(data[:, 0]),
            "one_point_centre": over(one_point.mean, draw, variable),
            "one_point_covariance": over(one_point.covariance, draw, variable, other),
        }


def _by_lattice(p: Density, exact: Fit, mean: Floats, S: Floats) -> tuple[float, float]:
    """KL(q||p) over the lattice of p; KL(p||q) from the entropy of p and its moments."""
    q = multivariate_normal(mean, S)
    log_q, log_p = q.logpdf(p.places), p.log_p(p.places) - p.log_evidence
    off = exact.mean - mean
    square = np.trace(np.linalg.solve(S, exact.covariance + np.outer(off, off)))
    cross = (len(mean) * np.log(2 * np.pi) + np.linalg.slogdet(S)[1] + square) / 2
    own = float(p.mass @ np.log(np.maximum(p.mass, 1e-300) / p.room))
    return float((np.exp(log_q) * (log_q - log_p)).sum() * p.room), float(own + cross)


def _differences(p: Density, at: Fit, h: float = 1e-3) -> tuple[Floats, Floats]:
    """Slope, and covariance times bend, of the log density at a place, by differences."""
    step = h * np.eye(len(at.mean))
    slope = [(p.log_p(at.mean + e) - p.log_p(at.mean - e)) / (2 * h) for e in step]
    corners = np.array([[(a + b, a - b, b - a, -a - b) for b in step] for a in step])
    bend = p.log_p(at.mean + corners) @ np.array([1, -1, -1, 1])
    return np.array(slope), at.covariance @ bend / (4 * h**2)


def _expected(p: Density, q: Fit) -> tuple[Floats, Floats]:
    """Expected slope and bend under a Gaussian, over the lattice of p."""
    weight = multivariate_normal(q.mean, q.covariance).pdf(p.places) * p.room
    slope = p.slope(p.places)
    off = np.linalg.solve(q.covariance, (p.places - q.mean).T)  # Stein: E{bend} = E{slope off^T}
    return weight @ slope, q.covariance @ ((off * weight) @ slope)


def _stacked(rows: list[list[Any]], kind: Axis, draw: Axis, more: tuple[Axis, ...]) -> Quantity:
    """Axes in the order of a claim: density, way or start, draw, variables."""
    lead = sum(a.name not in ("variable", "other") for a in more)
    values = np.moveaxis(np.array(rows), 1, 1 + lead)
    return over(values, kind, *more[:lead], draw, *more[lead:])


def _drawn(name: str, data: Floats, rng: Generator) -> tuple[Density, Function]:
    """A density, and its log up to a constant by a direct formula, at places (G, D)."""
    if name == "skewed":
        return gaussian_fit.skewed(), lambda z: -(z[:, 0] ** 2) / 2 + log_expit(20 * z[:, 0] + 4)
    if name == "labels":
        return gaussian_fit.two_means(data, PRIOR), lambda z: np.array(
            [_log_likelihood(data, m) - m @ m / (2 * PRIOR) for m in z]
        )
    if name == "mixture":
        turn, far, share = rng.uniform(0, np.pi), rng.uniform(1.5, 3.0), rng.uniform(0.3, 0.7)
        apart = far * np.array([np.cos(turn), np.sin(turn)])
        sd, rho = rng.uniform(0.5, 1.2, (2, 2)), rng.uniform(-0.6, 0.6, 2)
        shape = np.stack([np.array([[1, r], [r, 1]]) for r in rho])
        S = shape * sd[:, :, None] * sd[:, None]
        one, other = multivariate_normal(apart, S[0]), multivariate_normal(-apart, S[1])
        weights = np.array([share, 1 - share])
        return gaussian_fit.mixture(weights, np.stack([apart, -apart]), S), lambda z: np.logaddexp(
            np.log(share) + one.logpdf(z), np.log(1 - share) + other.logpdf(z)
        )
    x = rng.standard_normal(15)
    t = (rng.random(15) < 1 / (1 + np.exp(-2 * x))).astype(float)
    posterior = logistic.Posterior(np.stack([np.ones(15), x], axis=-1), t, 4.0)
    p = gaussian_fit.density(
        lambda w: logistic.log_g(posterior, w),
        lambda w: logistic.gradient(posterior, w),
        np.array([-9.0, -9.0]),
        np.array([9.0, 11.0]),
        gaussian_fit.SIDE,
    )
    sign = 2 * t - 1
    return (
        p,
        lambda z: log_expit(sign * (z[:, :1] + z[:, 1:] * x)).sum(1) - (z**2).sum(1) / (2 * 4.0),
    )


def _nearest(mean: Floats, peaks: list[Fit]) -> float:
    return float(min(np.linalg.norm(mean - peak.mean) for peak in peaks))


def _log_likelihood(x: Floats, means: Floats) -> float:
    log = -((x - means[:, None]) ** 2) / 2 - np.log(2 * np.sqrt(2 * np.pi))
    return float(np.logaddexp(*log).sum())


def _predictive_loss(p: Density, mean: Floats, covariance: Floats) -> float:
    """KL from the exact predictive density to that of N(mean, covariance)."""
    x = np.linspace(-12, 12, 241)

    def normal(m: Floats, v: Floats) -> Floats:
        return np.asarray(np.exp(-((x[:, None] - m) ** 2) / (2 * v)) / np.sqrt(2 * np.pi * v))

    exact = normal(p.places[:, 0], np.ones(len(p.places))) @ p.mass / 2
    exact = exact + normal(p.places[:, 1], np.ones(len(p.places))) @ p.mass / 2
    found = normal(mean, 1 + np.diag(covariance)).mean(-1)
    return float((exact * np.log(exact / found)).sum() * (x[1] - x[0]))
