"""Logistic regression whose prior precision is inferred as well (PRML 10.6.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.random import Generator
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit, gammaln, logsumexp

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import inferred_precision as model
from bythebook.models.approximation import variational_logistic
from bythebook.models.approximation.inferred_precision import Factors
from bythebook.models.approximation.variational_logistic import Weights
from bythebook.models.types import Floats

CYCLES, SAMPLES, TRIED = 40, 100_000, 10


@dataclass
class InferredPrecision(Study):
    """Variational bounds by step against the evidence, and printed formulas for q(precision)."""

    headline = {"gap": "median(log_evidence - last(bound, over='step'))"}
    more_quantities = True
    quantities = {
        "bound": quantity("variational lower bound on the log evidence", "set step", unit="nats"),
        "log_evidence": quantity("log evidence", "set", unit="nats"),
    }

    points: int = knob(20, "points of a data set", at_least=2, at_most=500)
    sets: int = knob(10, "data sets", at_least=1, at_most=200)
    weights: list[float] = knob([0.0, 2.0], "bias and slope that data are drawn with")
    hyperprior: list[float] = knob([1.0, 1.0], "a_0 and b_0 of the precision", above=0)

    def problems(self) -> Iterator[str]:
        if len(self.weights) != 2 or len(self.hyperprior) != 2:
            yield "study.weights and study.hyperprior; allowed: two numbers each"

    def run(self, rng: Generator) -> Outcome:
        prior = self.hyperprior[0], self.hyperprior[1]
        place, step = axis("set", self.sets), axis("step", 3 * CYCLES)
        results = [self._one_set(prior, rng) for _ in range(self.sets)]
        form = axis("form", ["printed", "corrected"])
        axes = {
            "bound": (step,),
            "log_evidence": (),
            "expected_precision": (step,),
            "free_slack": (axis("between", ["evidence", "global"]),),
            "shape_gap": (),
            "mean_ratio": (form,),
            "square_gap": (form,),
            "form_spread": (axis("equation", ["10.159", "10.160"]),),
            "expected_log": (axis("side", ["model", "by hand"]),),
            "other_terms": (axis("side", ["model", "by hand"]),),
            "precision_of": (axis("side", ["model", "by hand"]),),
            "samples_bound": (axis("side", ["model", "by hand"]),),
            "evidence_of": (axis("side", ["model", "by hand"]),),
        }
        leads = {
            name for name, more in axes.items() if more and more != (step,)
        }  # in a claim first
        found = {}
        for name, more in axes.items():
            values = np.array([row[name] for row in results])
            if name in leads:
                found[name] = over(values.T, *more, place)
            else:
                found[name] = over(values, place, *more)
        return Outcome(**found)

    def _one_set(self, prior: tuple[float, float], rng: Generator) -> dict[str, Any]:
        x = rng.standard_normal(self.points)
        X = np.stack([np.ones_like(x), x], axis=-1)
        t = (rng.random(self.points) < expit(X @ np.array(self.weights))).astype(float)
        path = model.climb(X, t, prior, CYCLES)
        last, evidence = path[-1], model.log_evidence(X, t, prior)
        free = [_moved(last, rng) for _ in range(TRIED)]
        local = np.array([model.bound(X, t, prior, q) for q in free])
        whole = np.array([model.global_bound(X, t, prior, q) for q in free])
        m, S = last.weights
        samples = (rng.multivariate_normal(m, S, SAMPLES) ** 2).sum(-1).mean()
        printed = S + m @ m  # 10.183, entry by entry
        return {
            "bound": [model.bound(X, t, prior, q) for q in path],
            "log_evidence": evidence,
            "expected_precision": [q.a / q.b for q in path],
            "free_slack": [(evidence - whole).min(), (whole - local).min()],
            "shape_gap": _shape_gap(X, t, prior, last),
            "mean_ratio": _mean_ratios(prior, last),
            "square_gap": [
                np.abs(printed / samples - 1).min(),
                abs(model.expected_square(last.weights) / samples - 1),
            ],
            "form_spread": _forms(X, t, last, rng),
            "evidence_of": [evidence, _log_evidence(X, t, prior)],
            "expected_log": _expected_logs(X, t, last),
            "other_terms": [model.other_terms(2, prior, last), _other_terms(prior, last)],
            "precision_of": _precisions(X, path[-3]),
            "samples_bound": [
                model.global_bound(X, t, prior, last) - model.other_terms(2, prior, last),
                _mean_log_likelihood(X, t, last),
            ],
        }


def _moved(q: Factors, rng: Generator) -> Factors:
    """Factors and contacts away from the optimum."""
    scale = np.exp(rng.normal(0, 0.3))
    weights = Weights(q.weights.mean + rng.normal(0, 0.5, 2), q.weights.covariance * scale)
    a, b = q.a * np.exp(rng.normal(0, 0.3)), q.b * np.exp(rng.normal(0, 0.3))
    return Factors(weights, float(a), float(b), q.xi * np.exp(rng.normal(0, 0.5, len(q.xi))))


def _shape_gap(X: Floats, t: Floats, prior: tuple[float, float], q: Factors) -> float:
    """A and b of the largest bound by a search, with q(w) held, against their formulas."""

    def cost(at: Floats) -> float:
        a, b = np.exp(at)
        return -model.bound(X, t, prior, Factors(q.weights, float(a), float(b), q.xi))

    start = np.log([q.a * 0.7, q.b * 1.3])
    options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 2000}
    found = np.exp(minimize(cost, start, method="Nelder-Mead", options=options).x)
    right = prior[0] + 1, prior[1] + model.expected_square(q.weights) / 2
    return float(np.abs(found - [right, (q.a, q.b)]).max())


def _log_evidence(X: Floats, t: Floats, prior: tuple[float, float]) -> float:
    """Ln of 10.167 with the precision integrated in closed form: two weights have a Student's t."""
    u = np.linspace(-5, 5, 301)
    w = np.stack(np.meshgrid(np.sinh(u), np.sinh(u), indexing="ij"), axis=-1)
    shape = np.eye(2) * prior[1] / prior[0]
    log = stats.multivariate_t(np.zeros(2), shape, df=2 * prior[0]).logpdf(w)
    a = w @ X.T
    log = log + (t * a - np.logaddexp(0, a)).sum(-1)
    room = np.log(np.cosh(u) * (u[1] - u[0]))
    return float(logsumexp(log + room[:, None] + room))


def _mean_ratios(prior: tuple[float, float], q: Factors) -> list[float]:
    """The mean of the density of 10.177 over a_N / b_N, as printed and with the constants of q."""
    u = np.linspace(-25, 8, 4001)  # the log of alpha
    (a0, b0), alpha = prior, np.exp(u)
    printed = b0 * np.log(a0) - gammaln(a0) + a0 * u - b0 * alpha  # a_0^b_0, as printed
    corrected = q.a * np.log(q.b) - gammaln(q.a) + q.a * u - q.b * alpha
    means = [float(np.exp(log + u).sum() * (u[1] - u[0])) for log in (printed, corrected)]
    return [mean * q.b / q.a for mean in means]


def _expected_logs(X: Floats, t: Floats, q: Factors) -> list[float]:
    """The expected log of h, by the model and by (10.161)."""
    (m, S), xi = q.weights, q.xi
    lam = np.tanh(xi / 2) / (4 * xi)
    square = np.array([x @ (S + np.outer(m, m)) @ x for x in X])
    terms = np.log(expit(xi)) - xi / 2 - lam * (square - xi**2) + (X @ m) * (t - 0.5)
    return [float(variational_logistic.expected_log_h(X, t, xi, q.weights).sum()), terms.sum()]


def _other_terms(prior: tuple[float, float], q: Factors) -> float:
    """Expected logs of both priors and both entropies, by SciPy's distributions."""
    (m, S), alpha = q.weights, stats.gamma(q.a, scale=1 / q.b)
    log_alpha, square = alpha.expect(np.log), np.trace(S) + m @ m
    weights = log_alpha - np.log(2 * np.pi) - alpha.mean() * square / 2
    hyper = alpha.expect(stats.gamma(prior[0], scale=1 / prior[1]).logpdf)
    return float(weights + hyper + stats.multivariate_normal(m, S).entropy() + alpha.entropy())


def _precisions(X: Floats, q: Factors) -> list[float]:
    """The log determinant of 10.176, by the model and point by point."""
    lam = np.tanh(q.xi / 2) / (4 * q.xi)
    P = q.a / q.b * np.eye(2) + 2 * sum(a * np.outer(x, x) for a, x in zip(lam, X, strict=True))
    return [-float(np.linalg.slogdet(q.weights.covariance)[1]), float(np.linalg.slogdet(P)[1])]


def _mean_log_likelihood(X: Floats, t: Floats, q: Factors) -> float:
    """The expected log likelihood by Gauss-Hermite quadrature of each activation."""
    z, weight = hermegauss(60)
    m, v = X @ q.weights.mean, ((X @ q.weights.covariance) * X).sum(-1)
    a = m[:, None] + np.sqrt(v)[:, None] * z
    return float(((t[:, None] * a - np.logaddexp(0, a)) @ weight).sum() / weight.sum())


def _forms(X: Floats, t: Floats, q: Factors, rng: Generator) -> list[float]:
    """The change with xi of (10.180) minus another function of xi."""
    alpha = q.a / q.b
    xi = rng.uniform(0.2, 4, (6, len(t)))
    own = np.array([variational_logistic.expected_log_h(X, t, at, q.weights).sum() for at in xi])
    bounds = np.array([variational_logistic.bound(X, t, alpha, at) for at in xi])
    a, square = X @ q.weights.mean, variational_logistic.contacts(X, q.weights) ** 2
    lam = (expit(xi) - 0.5) / (2 * xi)
    terms = np.log(expit(xi)) - xi / 2 - lam * (square - xi**2) + a * (t - 0.5)  # 10.161
    return [float(np.ptp(own - bounds)), float(np.ptp(own - terms.sum(-1)))]
