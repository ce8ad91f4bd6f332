"""Logistic regression online: one update against exact moments, one pass against a grid."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import expit, ndtr
from scipy.stats import norm

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import online_logistic as model
from bythebook.models.approximation.online_logistic import Belief
from bythebook.models.approximation.variational_logistic import tilted
from bythebook.models.classification import logistic
from bythebook.models.types import Floats

PRIOR = 4.0  # variance of the weights, before the first point


@dataclass
class OnlineLogistic(Study):
    """Assumed density filtering with independent weights (MLAPP 18.5.3.2).

    A case is a drawn belief of two weights, inputs and a label.
    """

    headline = {"gap": "max(update_gap['corrected'])"}
    more_quantities = True
    quantities = {
        "update_gap": quantity(
            "largest difference between an update and the exact moments", "form case"
        ),
    }

    cases: int = knob(40, "updates that are checked", at_least=1, at_most=1000)
    sets: int = knob(20, "data sets of one pass", at_least=1, at_most=1000)
    points: int = knob(100, "points of a data set", at_least=2, at_most=2000)
    dimensions: list[int] = knob([2, 4, 8], "numbers of weights, for operations", at_least=1)

    def run(self, rng: Generator) -> Outcome:
        case, place, size = (
            axis("case", self.cases),
            axis("set", self.sets),
            axis("D", self.dimensions),
        )
        results = [_checked(rng) for _ in range(self.cases)]
        form, moment = axis("form", ["printed", "corrected"]), axis("moment", ["mean", "variance"])

        side = axis("side", ["model", "by hand"])
        of = axis("of", ["log z", "mean", "variance"])

        def gathered(name: str) -> Any:
            return np.moveaxis(np.array([row[name] for row in results]), 0, -1)

        online, before = self._one_pass(rng)
        return Outcome(
            update_gap=over(gathered("update_gap"), form, case),
            search_gap=case.of(gathered("search_gap")),
            change_larger_input=over(gathered("larger_input"), moment, case),
            change_smaller_input=over(gathered("smaller_input"), moment, case),
            change_larger_variance=over(gathered("larger_variance"), moment, case),
            change_smaller_variance=over(gathered("smaller_variance"), moment, case),
            unscented_gap=case.of(gathered("unscented_gap")),
            unscented=over(gathered("unscented"), side, of, case),
            probit=over(gathered("probit"), side, of, case),
            activation=over(gathered("activation"), side, of, case),
            updated=over(gathered("updated"), side, moment, axis("weight", 2), case),
            largest_curvature=case.of(gathered("curvature")),
            operations=size.of([model.operations(D) for D in self.dimensions]),
            online_error=place.of(online),
            prior_error=place.of(before),
        )

    def _one_pass(self, rng: Generator) -> tuple[Floats, Floats]:
        """Distances of the mean after one pass, and of the prior's, from the exact mean."""
        x = rng.standard_normal((self.sets, self.points))
        X = np.stack([np.ones_like(x), x], axis=-1)
        t = (rng.random(x.shape) < expit(0.5 + 1.5 * x)).astype(float)
        belief = model.filtered(X, t, PRIOR)
        exact = []
        for row, labels in zip(X, t, strict=True):
            p = logistic.Posterior(row, labels, PRIOR)
            mode = logistic.newton_raphson(p, np.zeros((1, 2)), tol=1e-20).path[-1, 0]
            S = np.linalg.inv(-logistic.hessian(p, mode))
            grid = logistic.quadrature(p, mode, 7 * np.sqrt(np.diag(S)), 61)
            exact.append(grid.probability @ grid.w)
        truth = np.array(exact)
        far = np.linalg.norm(belief.mean - truth, axis=-1), np.linalg.norm(truth, axis=-1)
        return np.asarray(far[0]), np.asarray(far[1])


def _checked(rng: Generator) -> dict[str, Any]:
    """One drawn update by all methods."""
    belief = Belief(rng.normal(0, 1, 2), rng.uniform(0.3, 3, 2))
    x, y = rng.normal(0, 1.5, 2), float(rng.integers(2))
    exact = model.exact_moments(belief, x, y)
    gaps = [
        max(np.abs(b - e).max() for b, e in zip(update, exact, strict=True))
        for update in (model.update(belief, x, np.array(y), printed=p) for p in (True, False))
    ]
    m, v, sign = float(x @ belief.mean), float(x**2 @ belief.variance), 2 * y - 1
    right, rough = tilted(np.array(m), np.array(v), np.array(sign)), model.unscented(m, v, sign)
    equal = Belief(belief.mean, np.full(2, belief.variance[0]))
    inputs = np.array([0.5, 1.0]) * rng.uniform(0.5, 2) * rng.choice([-1, 1], 2)
    by_input = _changes(equal, inputs, y)
    wide = Belief(belief.mean, np.sort(belief.variance))
    by_variance = _changes(wide, np.full(2, x[0]), y)
    theta = rng.normal(0, 2, 2)
    s = expit(theta @ x)
    bend = -np.outer(x, x) * s * (1 - s) - np.diag(1 / belief.variance)
    return {
        "update_gap": gaps,
        "search_gap": _search_gap(belief, x, y, exact),
        "smaller_input": by_input[:, 0],
        "larger_input": by_input[:, 1],
        "smaller_variance": by_variance[:, 0],
        "larger_variance": by_variance[:, 1],
        "unscented_gap": max(abs(rough.mean - right.mean), abs(rough.variance - right.variance)),
        "unscented": [rough, _three_places(m, v, sign)],
        "probit": _probit(m, v, sign),
        "activation": [[float(part) for part in right], _activation(m, v, sign)],
        "updated": [
            model.update(belief, x, np.array(y)),
            _updated(belief.mean, belief.variance, x, sign),
        ],
        "curvature": np.linalg.eigvalsh(bend)[-1],
    }


def _changes(belief: Belief, x: Floats, y: float) -> Floats:
    """Changes of exact means and variances, (2, parameters)."""
    exact = model.exact_moments(belief, x, y)
    return np.abs([exact.mean - belief.mean, exact.variance - belief.variance])


def _search_gap(belief: Belief, x: Floats, y: float, exact: Belief) -> float:
    """The factored Gaussian with the smallest KL(p||q), by a search, against moments."""
    side = np.linspace(-7, 7, 71)
    z = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    theta = belief.mean + z * np.sqrt(belief.variance)
    mass = np.exp(-(z**2).sum(-1) / 2) * expit((2 * y - 1) * (theta @ x))
    mass /= mass.sum()

    def cost(at: Floats) -> tuple[float, Floats]:
        off, precision = theta - at[:2], np.exp(-at[2:])
        squares = mass @ off**2
        value = float((squares * precision + at[2:]).sum()) / 2
        return value, np.concatenate([-(mass @ off) * precision, (1 - squares * precision) / 2])

    start = np.concatenate([belief.mean, np.log(belief.variance)])
    options = {"gtol": 1e-10, "ftol": 1e-15}
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options=options).x
    gaps = np.abs(found[:2] - exact.mean).max(), np.abs(np.exp(found[2:]) - exact.variance).max()
    return float(max(gaps))


def _moments(s: Floats, weight: Floats) -> list[float]:
    """The log of the sum of weights, and mean and variance under them."""
    mean = weight @ s / weight.sum()
    return [np.log(weight.sum()), mean, weight @ (s - mean) ** 2 / weight.sum()]


def _probit(m: float, v: float, sign: float) -> list[list[float]]:
    """The closed form for a probit likelihood, and quadrature."""
    z = np.linspace(-11, 11, 2201)
    s = m + np.sqrt(v) * z
    closed = model.probit(np.array(m), np.array(v), np.array(sign))
    return [
        [float(part) for part in closed],
        _moments(s, norm.pdf(z) * (z[1] - z[0]) * ndtr(sign * s)),
    ]


def _three_places(m: float, v: float, sign: float) -> list[float]:
    """A sigmoid times N(m, v) by three Gauss-Hermite places, which are the sigma points."""
    z, weight = hermegauss(3)
    s = m + np.sqrt(v) * z
    return _moments(s, weight / weight.sum() * expit(sign * s))


def _activation(m: float, v: float, sign: float) -> list[float]:
    """The log normaliser, mean and variance of 18.123 to 18.125."""
    z = np.linspace(-10, 10, 1001)
    s = m + np.sqrt(v) * z
    return _moments(s, norm.pdf(z) * (z[1] - z[0]) * expit(sign * s))


def _updated(mu: Floats, tau: Floats, x: Floats, sign: float) -> list[Floats]:
    """(18.119) to (18.129) as printed, except the gain, weight by weight."""
    m = sum(a * b for a, b in zip(x, mu, strict=True))
    v = sum(a**2 * b for a, b in zip(x, tau, strict=True))
    _, new_m, new_v = _activation(m, v, sign)
    gain = x * tau / v
    return [mu + gain * (new_m - m), tau + gain**2 * (new_v - v)]
