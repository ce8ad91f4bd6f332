"""The clutter problem: expectation propagation and others against the exact posterior (PRML 10.7).

Each data set has points about a mean theta, of which a share is clutter. The mean is inferred.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import clutter
from bythebook.models.approximation.clutter import Clutter, Gaussian, OnGrid, Propagation
from bythebook.models.types import Floats

METHODS = ["exact", "ep", "adf", "variational", "laplace", "alone"]
# Additions, products, quotients, roots and exponentials for one point, in one pass or iteration.
OPERATIONS = {"ep": 38, "variational": 16, "laplace": 15}
FITTED = 200  # points whose factors are fitted in each context
CURVE = np.linspace(-6, 8, 281)  # values of theta at which two factors are recorded


@dataclass
class ClutterProblem(Study):
    """Posteriors of a mean in clutter by EP, one pass of it, variational Bayes and Laplace.

    The method "alone" fits each factor with the prior as its only context. Iterations are passes
    through all points, rounds of variational updates, or rounds of EM.
    """

    headline = {"ep_total_variation": "median(total_variation[:, 'ep'])"}
    quantities = {
        "posterior_mean": quantity("posterior mean", "points method repetition"),
        "posterior_variance": quantity("posterior variance", "points method repetition"),
        "log_evidence": quantity("log evidence", "points method repetition", unit="nats"),
        "total_variation": quantity(
            "total variation between approximate and exact posterior", "points method repetition"
        ),
        "change": quantity(
            "largest change of mean and variance in the last pass of EP", "points repetition"
        ),
        "negative_factors": quantity(
            "number of EP's factors with negative variance", "points repetition"
        ),
        "mean_history": quantity(
            "posterior mean after each iteration", "points algorithm repetition iteration"
        ),
        "evidence_history": quantity(
            "log evidence, or its bound, after each iteration",
            "points algorithm repetition iteration",
            unit="nats",
        ),
        "operations": quantity("arithmetic operations of one iteration", "algorithm points"),
        "order_mean": quantity(
            "posterior mean for the points in another order", "schedule repetition order"
        ),
        "order_variation": quantity(
            "total variation for the points in another order", "schedule repetition order"
        ),
        "own_error": quantity(
            "expected error, under a context, of the factors fitted in it", "pair point"
        ),
        "other_error": quantity(
            "expected error, under a context, of the factors fitted in another", "pair point"
        ),
        "factor": quantity("factor p(x | theta)", "shape theta"),
        "fitted_factor": quantity("Gaussian approximation of the factor", "shape theta"),
        "context": quantity("density of q without the factor", "shape theta"),
        "factor_precision": quantity("precision 1/v of the approximation", "shape"),
    }
    axes = {
        "points": axis_of("number of points"),
        "method": axis_of("method"),
        "repetition": axis_of("data set"),
        "algorithm": axis_of("iterative method"),
        "iteration": axis_of("iteration"),
        "schedule": axis_of("one pass or many"),
        "order": axis_of("order of the points"),
        "pair": axis_of("the context, and the other one"),
        "point": axis_of("point whose factor is fitted"),
        "shape": axis_of("factor of the first data set"),
        "theta": axis_of("mean"),
    }

    theta: float = knob(2.0, "the mean that is to be found", at_least=-10, at_most=10)
    share: float = knob(0.5, "of clutter, w", above=0, below=1)
    clutter_variance: float = knob(10.0, "of clutter, a", above=0)
    prior_variance: float = knob(100.0, "of the mean, b", above=0, at_most=150)
    points: list[int] = knob([20], "points of a data set", at_least=1, at_most=2000, distinct=True)
    repetitions: int = knob(50, "data sets of each size", at_least=1, at_most=5000)
    iterations: int = knob(50, "passes, or iterations", at_least=2, at_most=1000)
    damping: float = knob(0.0, "share of the old factor that stays", at_least=0, below=1)
    orders: int = knob(0, "orders of the points of the first size; 0: as they come", at_least=0)
    contexts: list[list[float]] = knob(
        [], "means and variances of contexts in which factors are fitted", may_be_empty=True
    )

    def problems(self) -> Iterator[str]:
        if any(len(context) != 2 or context[1] <= 0 for context in self.contexts):
            yield f"study.contexts={self.contexts}; allowed: pairs of a mean and a variance > 0"

    @property
    def model(self) -> Clutter:
        return Clutter(self.share, self.clutter_variance, self.prior_variance)

    def run(self, rng: Generator) -> Outcome:
        data = [
            clutter.draw(self.theta, self.model, (self.repetitions, N), rng) for N in self.points
        ]
        runs = [clutter.propagate(x, self.model, self.iterations, self.damping) for x in data]
        each = [self._compared(x, ep) for x, ep in zip(data, runs, strict=True)]
        posteriors, histories = (np.array(part) for part in zip(*each, strict=True))
        coords: dict[str, Any] = {
            "points": self.points,
            "method": METHODS,
            "repetition": self.repetitions,
            "algorithm": list(OPERATIONS),
            "iteration": self.iterations,
            "shape": ["largest precision", "smallest precision"],
            "theta": CURVE,
        }
        sites = [run.sites.precision for run in runs]
        found = _curves(data[0][0], self.model, runs[0])
        if self.orders:
            coords |= {"schedule": ["one pass", "many passes"], "order": self.orders}
            found |= self._in_orders(data[0], rng)
        if self.contexts:
            found |= self._in_contexts(data[0].ravel()[:FITTED], coords)
        every, history = "points method repetition", "points algorithm repetition iteration"
        return outcome(
            coords,
            posterior_mean=(every, posteriors[:, 0]),
            posterior_variance=(every, posteriors[:, 1]),
            log_evidence=(every, posteriors[:, 2]),
            total_variation=(every, posteriors[:, 3]),
            change=("points repetition", [run.change[-1] for run in runs]),
            negative_factors=("points repetition", [(P < 0).sum(-1) for P in sites]),
            mean_history=(history, histories[:, 0]),
            evidence_history=(history, histories[:, 1]),
            operations=("algorithm points", np.outer(list(OPERATIONS.values()), self.points)),
            **found,
        )

    def _compared(self, x: Floats, ep: Propagation) -> tuple[Floats, Floats]:
        """Mean, variance, evidence and error by all methods, (4, M, S); histories (2, 3, S, I)."""
        posterior = clutter.exact(x, self.model)
        ep_course = Gaussian(*(part[1:] for part in ep.course))
        vb, laplace = (
            climb(x, self.model, self.iterations).course
            for climb in (clutter.variational, clutter.laplace)
        )
        ends = [_at(course, -1) for course in (ep_course, vb, laplace)]
        found = [posterior.summary, ends[0], _at(ep_course, 0), *ends[1:]]
        found.append(clutter.alone(x, self.model))
        mean = np.array([g.mean[..., 0] for g in found])
        variance = np.array([g.variance for g in found])
        evidence = np.array([g.log_evidence for g in found])
        evidence[2] = clutter.propagate(x, self.model, 1).log_z.sum(-1)  # of one pass: 10.243
        variation = _variations(posterior, mean, variance)
        courses = [ep_course, vb, laplace]
        histories = [[c.mean[..., 0].T for c in courses], [c.log_evidence.T for c in courses]]
        return np.array([mean, variance, evidence, variation]), np.array(histories)

    def _in_orders(self, x: Floats, rng: Generator) -> dict[str, Any]:
        """Estimates from the same points in other orders, by one pass and by many."""
        S, N, _ = x.shape
        turns = rng.permuted(np.tile(np.arange(N), (S * self.orders, 1)), axis=1)
        again = np.repeat(x, self.orders, axis=0)
        passes = 1, self.iterations
        ends = [
            _at(clutter.propagate(again, self.model, k, order=turns).course, -1) for k in passes
        ]
        mean = np.array([g.mean.reshape(S, self.orders) for g in ends])
        variance = np.array([g.variance.reshape(S, self.orders) for g in ends])
        posterior = clutter.exact(x, self.model)
        off = [
            clutter.total_variation(posterior, m, v) for m, v in zip(mean, variance, strict=True)
        ]
        along = "schedule repetition order"
        return {"order_mean": (along, mean), "order_variation": (along, off)}

    def _in_contexts(self, x: Floats, coords: dict[str, Any]) -> dict[str, Any]:
        """Under each context, the factor fitted there and those fitted in the other contexts."""
        theta, step = np.linspace(-20, 25, 1801, retstep=True)
        m, v = np.array(self.contexts).T[..., None]  # (2, context, 1)
        fitted = _fitted(x, self.model, np.broadcast_to(m, (len(m), len(x))), v, theta)
        weight = np.exp(clutter.log_normal((theta - m) ** 2, v, 1))
        absolute = np.abs(fitted - _factors(x, self.model, theta))
        error = np.einsum("cnt,rt->crn", absolute, weight) * step
        pairs = [(r, c) for r in range(len(m)) for c in range(len(m)) if r != c]
        coords |= {"pair": [f"{r + 1} and {c + 1}" for r, c in pairs], "point": len(x)}
        return {
            "own_error": ("pair point", [error[r, r] for r, _ in pairs]),
            "other_error": ("pair point", [error[c, r] for r, c in pairs]),
        }


def _at(course: Gaussian, k: int) -> Gaussian:
    return Gaussian(*(part[k] for part in course))


def _variations(posterior: OnGrid, mean: Floats, variance: Floats) -> Floats:
    """Total variation of all methods except the first, which is the posterior."""
    pairs = zip(mean[1:], variance[1:], strict=True)
    off = [clutter.total_variation(posterior, m, v) for m, v in pairs]
    return np.array([np.zeros(mean.shape[1]), *off])


def _factors(x: Floats, of: Clutter, theta: Floats) -> Floats:
    """p(x_n | theta), shape (N, G)."""
    places = np.broadcast_to(x[:, None, None], (len(x), len(theta), 1))
    none = np.zeros((len(x), len(theta)))
    found = clutter.tilted(places, theta[None, :, None] + 0 * places, none, of)
    return np.asarray(np.exp(found.log_z))


def _fitted(x: Floats, of: Clutter, m: Floats, v: Floats, theta: Floats) -> Floats:
    """The approximation of p(x_n | theta) fitted in N(m, v), shape (..., N, G)."""
    at, wide = m[..., None], v + 0 * m
    found = clutter.tilted(np.broadcast_to(x[:, None], at.shape), at, wide, of)
    precision = 1 / found.variance - 1 / wide  # 10.220
    shift = found.mean / found.variance[..., None] - at / wide[..., None]  # 10.221
    before = clutter.log_partition(1 / wide, at / wide[..., None])
    after = clutter.log_partition(1 / found.variance, found.mean / found.variance[..., None])
    log = (found.log_z + before - after)[..., None] + shift * theta  # 10.207
    return np.asarray(np.exp(np.minimum(log - precision[..., None] * theta**2 / 2, 300)))


def _curves(x: Floats, of: Clutter, run: Propagation) -> dict[str, Any]:
    """Two factors of the first data set at convergence, their approximations and contexts."""
    sites, shifts = run.sites.precision[0], run.sites.shift[0, :, 0]
    extreme = np.array([sites.argmax(), sites.argmin()])
    cavity = (1 / of.b + sites.sum() - sites)[extreme]
    cavity = np.where(cavity > 0, cavity, np.nan)  # a context that is no density has no curve
    at, wide, x = (shifts.sum() - shifts)[extreme] / cavity, 1 / cavity, x[extreme, 0]
    context = np.exp(clutter.log_normal((CURVE - at[:, None]) ** 2, wide[:, None], 1))
    with np.errstate(invalid="ignore"):
        fitted = _fitted(x, of, at, wide, CURVE)
    return {
        "factor": ("shape theta", _factors(x, of, CURVE)),
        "fitted_factor": ("shape theta", fitted),
        "context": ("shape theta", context),
        "factor_precision": ("shape", sites[extreme]),
    }
