"""Posteriors of logistic regression by Laplace, bounds, EP and exact (PRML 10.6; Notes 2.3.5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import variational_logistic
from bythebook.models.approximation.bounds import sigmoid_integral
from bythebook.models.approximation.laplace import approximate
from bythebook.models.classification import logistic
from bythebook.models.classification.logistic import Posterior
from bythebook.models.probability.gaussian import log_density
from bythebook.models.types import Floats

WAYS = ["exact", "laplace", "variational", "ep"]
INPUTS = [-3.0, -2.0, -1.0, -0.3, 0.3, 1.0, 2.0, 3.0]
ITERATIONS, PASSES = 150, 12
SIGNS = [(1, 1), (1, -1), (-1, 1), (-1, -1)]


@dataclass
class BayesianLogistic(Study):
    """Gaussian posteriors of two weights, by three methods, against the exact one (PRML 10.6)."""

    headline = {"variational": "median(total_variation[:, 'variational'])"}
    more_quantities = True
    quantities = {
        "total_variation": quantity(
            "total variation between approximate and exact posterior", "points way set"
        ),
    }

    points: list[int] = knob([20], "points of a data set", at_least=2, at_most=1000, distinct=True)
    sets: int = knob(20, "data sets of each size", at_least=1, at_most=1000)
    weights: list[float] = knob([0.0, 2.0], "bias and slope that data are drawn with")
    prior_variance: float = knob(4.0, "of both weights", above=0, at_most=100)

    def problems(self) -> Iterator[str]:
        if len(self.weights) != 2:
            yield f"study.weights={self.weights}; allowed: two, a bias and a slope"

    def run(self, rng: Generator) -> Outcome:
        each = [self._compared(N, rng) for N in self.points]
        size, place = axis("points", self.points), axis("set", self.sets)
        way, inputs = axis("way", WAYS), axis("input", INPUTS)
        form = axis("form", ["printed", "inverse"])
        what = axis("what", ["mean", "variance", "prediction"])
        predictor = axis("predictor", ["exact", "laplace", "variational", "ep", "plug-in"])
        axes: dict[str, tuple[Axis, ...]] = {
            "total_variation": (way, place),
            "log_evidence": (way, place),
            "centre_error": (way, place),
            "log_determinant": (way, place),
            "hessian_gap": (place,),
            "exact_trace": (place,),
        }
        found = {name: over([of[name] for of in each], size, *more) for name, more in axes.items()}
        led = {
            "laplace_trace": (form, (place,)),
            "activation_gap": (what, (place,)),
            "predicted": (predictor, (place, inputs)),
        }
        for name, (first, rest) in led.items():
            values = np.moveaxis(np.array([of[name] for of in each]), 0, 1)
            found[name] = over(values, first, size, *rest)
        return Outcome(**found)

    def _compared(self, N: int, rng: Generator) -> dict[str, Any]:
        x = rng.standard_normal((self.sets, N))
        X = np.stack([np.ones_like(x), x], axis=-1)
        t = (rng.random(x.shape) < expit(X @ np.array(self.weights))).astype(float)
        alpha = 1 / self.prior_variance
        vb = variational_logistic.fit(X, t, alpha, ITERATIONS)
        ep = variational_logistic.propagate(X, t, alpha, PASSES)
        rows = []
        for k in range(self.sets):
            rivals = [
                (vb.weights.mean[k], vb.weights.covariance[k], vb.course[-1, k]),
                (ep.weights.mean[k], ep.weights.covariance[k], ep.log_evidence[k]),
            ]
            rows.append(_compared_on_grid(Posterior(X[k], t[k], self.prior_variance), rivals))
        found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        return {name: np.swapaxes(a, 0, 1) if a.ndim > 1 else a for name, a in found.items()}


def _compared_on_grid(p: Posterior, rivals: list[tuple[Floats, Floats, float]]) -> dict[str, Any]:
    """Errors of all Gaussians against the posterior on a grid, for one data set."""
    mode = logistic.newton_raphson(p, np.zeros((1, 2)), tol=1e-20).path[-1, 0]
    H = logistic.hessian(p, mode)
    laplace = approximate(mode, H, float(logistic.log_g(p, mode)))
    exact = logistic.quadrature(p, mode, 9 * np.sqrt(np.diag(laplace.covariance)), 101)
    mean = exact.probability @ exact.w
    S = (exact.probability[:, None] * (exact.w - mean)).T @ (exact.w - mean)
    own = mean, S, exact.log_evidence
    found = [own, (laplace.mean, laplace.covariance, laplace.log_evidence), *rivals]
    rooms = np.ptp(exact.w, axis=0) / 100
    off = [0.0]
    for m, V, _ in found[1:]:
        q = np.exp(log_density(exact.w, m, V)) * rooms.prod()
        off.append(float(np.abs(q - exact.probability).sum() / 2))
    X = np.stack([np.ones(len(INPUTS)), np.array(INPUTS)], axis=-1)
    predictions = [exact.predict(X)]
    predictions += [
        sigmoid_integral(X @ m, ((X @ V) * X).sum(-1), points=401) for m, V, _ in found[1:]
    ]
    return {
        "total_variation": off,
        "log_evidence": [e for *_, e in found],
        "centre_error": [float(np.linalg.norm(m - mean)) for m, *_ in found],
        "log_determinant": [float(np.linalg.slogdet(V)[1]) for _, V, _ in found],
        "hessian_gap": _hessian_gap(p, mode, H),
        "exact_trace": float(np.trace(S)),
        "laplace_trace": [float(np.trace(-H)), float(np.trace(laplace.covariance))],
        "activation_gap": _activation_gaps(mode, laplace.covariance, predictions[1]),
        "predicted": [*predictions, expit(X @ mode)],
    }


def _hessian_gap(p: Posterior, w: Floats, H: Floats, h: float = 1e-4) -> float:
    """Second differences of the log posterior against those of the formula."""
    e = h * np.eye(2)
    found = [
        [sum(s * r * float(logistic.log_g(p, w + s * a + r * b)) for s, r in SIGNS) for b in e]
        for a in e
    ]
    return float(np.abs(np.array(found) / (4 * h**2) - H).max())


def _activation_gaps(mode: Floats, S: Floats, predictions: Floats) -> list[float]:
    """Mean, variance and prediction at one input, by two weights and by one integral."""
    x = np.array([1.0, INPUTS[-3]])
    e = np.linspace(-7, 7, 141)
    z = np.stack(np.meshgrid(e, e, indexing="ij"), axis=-1).reshape(-1, 2)
    weight = np.exp(-(z**2).sum(-1) / 2)
    weight /= weight.sum()
    a = (mode + z @ np.linalg.cholesky(S).T) @ x
    mean = float(weight @ a)
    variance = float(weight @ (a - mean) ** 2)
    gaps = mean - mode @ x, variance - x @ S @ x, weight @ expit(a) - predictions[-3]
    return [abs(float(gap)) for gap in gaps]
