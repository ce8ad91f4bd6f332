"""Variational logistic regression on two separate clusters (PRML 10.6)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize_scalar
from scipy.special import log_expit
from scipy.stats import norm

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import bounds
from bythebook.models.approximation import variational_logistic as model
from bythebook.models.approximation.variational_logistic import Weights
from bythebook.models.types import Floats

CENTRES = np.array([[-2.0, 2.0], [2.0, -2.0]])
SPREAD, EACH = 0.8, 10  # standard deviation and points of a cluster
ITERATIONS, SHOWN = 1000, 100
ALONG = [0.0, 2.0, 4.0, 6.0, 8.0]  # places on the boundary, from the middle of the data
TRIED = 20  # weights and contacts that bounds are tried at


@dataclass
class VariationalLogistic(Study):
    """EM for the local bound on separable data, its closed form, and predictions."""

    headline = {"iterations": "median(iterations)"}
    more_quantities = True
    quantities = {
        "iterations": quantity("iterations until the bound gains little", "set"),
    }

    sets: int = knob(20, "data sets that a line separates", at_least=1, at_most=1000)
    prior_precision: float = knob(0.1, "of bias and slopes", above=0)
    orders: int = knob(5, "in which points come one at a time", at_least=1, at_most=100)

    def run(self, rng: Generator) -> Outcome:
        x, t = _clusters(self.sets, rng)
        X, alpha = np.concatenate([np.ones((*t.shape, 1)), x], axis=-1), self.prior_precision
        found = model.fit(X, t, alpha, ITERATIONS)
        place, step = axis("set", self.sets), axis("iteration", SHOWN)
        form = axis("form", ["corrected", "printed"])
        gains = np.diff(found.course, axis=0)
        where = axis("along", ALONG)
        xi = axis("xi", np.linspace(0, 20, 401))
        return Outcome(
            iterations=place.of((gains >= 1e-3).sum(0) + 1),
            bound_course=over(found.course[:SHOWN].T, place, step),
            crossing=place.of(_crossing(x, t, found.weights)),
            contour_distance=over(_contours(x, found.weights), place, where),
            slope_at_rest=over(_slopes(X, t, alpha, found.xi), form, place),
            lambda_slope=xi.of(np.gradient(bounds.lam(xi.values), xi.values)),
            m_step_gap=place.of(_m_step_gap(X, t, found.weights)),
            **_tried(X, t, alpha, found, rng),
            **_as_printed(X, t, alpha, found),
            **self._sequential(X, t, rng),
            **_shown(x[0], t[0], found.weights, rng),
        )

    def _sequential(self, X: Floats, t: Floats, rng: Generator) -> dict[str, Quantity]:
        """Points one at a time, in several orders."""
        again, labels = np.repeat(X, self.orders, axis=0), np.repeat(t, self.orders, axis=0)
        turns = rng.permuted(np.tile(np.arange(t.shape[1]), (len(labels), 1)), axis=1)
        run = model.sequential(again, labels, self.prior_precision, turns)
        found, alpha = run.weights, self.prior_precision
        together = model.bound(again, labels, alpha, run.xi)
        batch = model.posterior(again, labels, alpha, run.xi)
        axes = axis("set", self.sets), axis("order", self.orders)
        variance = np.diagonal(found.covariance, axis1=1, axis2=2).reshape(*map(len, axes), 3)
        return {
            "sequential_weight": over(found.mean[:, 1].reshape(self.sets, -1), *axes),
            "sequential_variance": over(variance, *axes, axis("weight", 3)),
            "sequential_bound": over(run.log_evidence.reshape(self.sets, -1), *axes),
            "bound_together": over(together.reshape(self.sets, -1), *axes),
            "weight_together": over(batch.mean[:, 1].reshape(self.sets, -1), *axes),
        }


def _clusters(sets: int, rng: Generator) -> tuple[Floats, Floats]:
    """Data sets (S, N, 2) and classes, redrawn until the line between the centres separates."""
    t = np.tile(np.repeat([0.0, 1.0], EACH), (sets, 1))
    across = CENTRES[1] - CENTRES[0]
    kept: list[Floats] = []
    while len(kept) < sets:
        x = np.repeat(CENTRES, EACH, axis=0) + SPREAD * rng.standard_normal((2 * EACH, 2))
        side = x @ across
        if side[:EACH].max() < side[EACH:].min():
            kept.append(x)
    return np.array(kept), t


def _crossing(x: Floats, t: Floats, q: Weights) -> Floats:
    """Place, from 0 to 1, at which the boundary crosses the line between the cluster means."""
    ends = [np.where(t[..., None] == k, x, 0).sum(1) / EACH for k in (0, 1)]
    a, b = (q.mean[:, 0] + (end * q.mean[:, 1:]).sum(-1) for end in ends)
    return np.asarray(-a / (b - a))


def _contours(x: Floats, q: Weights) -> Floats:
    """Distance of the contour 3/4 from the boundary, at places along it, (S, places)."""
    slope = q.mean[:, 1:]
    size = np.linalg.norm(slope, axis=-1, keepdims=True)
    normal, middle = slope / size, x.mean(1)
    along = np.stack([-normal[:, 1], normal[:, 0]], axis=-1)
    foot = middle - ((q.mean[:, 0] + (middle * slope).sum(-1))[:, None] / size) * normal
    low = np.zeros((len(x), len(ALONG)))
    high = np.full_like(low, 1e4)
    for _ in range(80):
        far = (low + high) / 2
        at = (
            foot[:, None]
            + np.array(ALONG)[:, None] * along[:, None]
            + far[..., None] * normal[:, None]
        )
        phi = np.concatenate([np.ones((*far.shape, 1)), at], axis=-1)
        m = np.einsum("ski,si->sk", phi, q.mean)
        v = np.einsum("ski,sij,skj->sk", phi, q.covariance, phi)
        short = bounds.moderated(m, v) < 0.75
        low, high = np.where(short, far, low), np.where(short, high, far)
    return np.asarray(low)


def _slopes(X: Floats, t: Floats, alpha: float, xi: Floats, h: float = 1e-4) -> list[Floats]:
    """The largest derivative of the bound by a contact, corrected and as printed, (2, S)."""
    step = h * np.eye(xi.shape[1])
    moved = xi[:, None] + step, xi[:, None] - step
    more = X[:, None], t[:, None]
    found = []
    for printed in (False, True):
        up, down = (model.bound(*more, alpha, at, printed=printed) for at in moved)
        found.append(np.abs((up - down) / (2 * h)).max(-1))
    return found


def _m_step_gap(X: Floats, t: Floats, q: Weights) -> Floats:
    """The best contact of a point by a search against 10.163, the worst of each data set."""
    right = model.contacts(X, q)
    square = right**2
    worst = []
    for row in square:
        found = [
            minimize_scalar(
                lambda u, s=s: -float(log_expit(u) - u / 2 - bounds.lam(np.array(u)) * (s - u**2)),
                bounds=(0, 60),
                method="bounded",
                options={"xatol": 1e-9},
            ).x
            for s in row[:3]
        ]
        worst.append(np.abs(np.array(found) - np.sqrt(row[:3])).max())
    return np.array(worst)


def _tried(
    X: Floats, t: Floats, alpha: float, found: model.Fit, rng: Generator
) -> dict[str, Quantity]:
    """Bounds at drawn weights and contacts: on the joint, and as an identity."""
    S, N, D = X.shape
    place, form = axis("set", S), axis("form", ["corrected", "printed"])
    xi, w = rng.uniform(0.1, 6, (TRIED, S, N)), rng.normal(0, 2, (TRIED, S, D))
    prior = -(D * np.log(2 * np.pi / alpha) + alpha * (w**2).sum(-1)) / 2
    a = np.einsum("sni,ksi->ksn", X, w)
    joint = (t * a + log_expit(-a)).sum(-1) + prior
    below = model.log_h(X, t, xi, w) + prior
    q = model.posterior(X, t, alpha, xi)
    off = w - q.mean
    precision = np.linalg.inv(q.covariance)
    square = np.einsum("...i,...ij,...j->...", off, precision, off)
    log_q = (np.linalg.slogdet(precision)[1] - D * np.log(2 * np.pi) - square) / 2
    gaps = [
        np.abs(model.bound(X, t, alpha, xi, printed=p) - below + log_q).max(0)
        for p in (False, True)
    ]
    m, V = found.weights
    a = np.einsum("sni,si->sn", X, m)
    top = -(D * np.log(2 * np.pi) + np.linalg.slogdet(V)[1]) / 2
    at_m = (t * a + log_expit(-a)).sum(-1)
    at_m = at_m - (D * np.log(2 * np.pi / alpha) + alpha * (m**2).sum(-1)) / 2
    return {
        "joint_slack": place.of((joint - below).min(0)),
        "closed_gap": over(gaps, form, place),
        "normalised_excess": place.of(top - at_m),
    }


def _as_printed(X: Floats, t: Floats, alpha: float, found: model.Fit) -> dict[str, Quantity]:
    """10.157, 10.158, 10.163 and the integral of 10.159, data set by data set."""
    S, N, D = X.shape
    xi = np.array(found.xi)
    weights, spreads, contacts, integrals = [], [], [], []
    for x, y, at, m, V in zip(X, t, xi, *found.weights, strict=True):
        lam = np.tanh(at / 2) / (4 * at)
        P = alpha * np.eye(D) + 2 * sum(
            a * np.outer(row, row) for a, row in zip(lam, x, strict=True)
        )
        weights.append(np.linalg.solve(P, (y - 0.5) @ x))
        spreads.append(np.diag(np.linalg.inv(P)))
        contacts.append([np.sqrt(row @ (V + np.outer(m, m)) @ row) for row in x])
        integrals.append(_log_integral(x, y, alpha, at))
    place, form = axis("set", S), axis("of_fit", ["fit", "printed"])
    weight, point = axis("weight", 3), axis("point", N)
    m, V = found.weights
    return {
        "fitted_mean": over([m, weights], form, place, weight),
        "fitted_variance": over([np.diagonal(V, axis1=1, axis2=2), spreads], form, place, weight),
        "contact": over([model.contacts(X, found.weights), contacts], form, place, point),
        "bound_at_rest": over([model.bound(X, t, alpha, xi), integrals], form, place),
    }


def _log_integral(x: Floats, y: Floats, alpha: float, xi: Floats) -> float:
    """The log of the integral of h times the prior, whose log is a parabola in the weights."""
    D = x.shape[1]

    def log(w: Floats) -> float:
        a = x @ w
        lam = np.tanh(xi / 2) / (4 * xi)
        h = log_expit(xi) + a * y - (a + xi) / 2 - lam * (a**2 - xi**2)  # 10.151
        return float(h.sum() + norm.logpdf(w, scale=alpha**-0.5).sum())

    e, here = np.eye(D), log(np.zeros(D))
    slope = np.array([(log(a) - log(-a)) / 2 for a in e])
    bend = np.array([[log(a + b) - log(a) - log(b) + here for b in e] for a in e])
    square = slope @ np.linalg.solve(-bend, slope)
    return float(here + (square + D * np.log(2 * np.pi) - np.linalg.slogdet(-bend)[1]) / 2)


def _shown(x: Floats, t: Floats, q: Weights, rng: Generator) -> dict[str, Quantity]:
    """The first data set, predictions in the plane, and sampled boundaries."""
    side = np.linspace(-6, 6, 61)
    one, two = axis("x_1", side), axis("x_2", side)
    plane = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1)
    phi = np.concatenate([np.ones((61, 61, 1)), plane], axis=-1)
    m, V = q.mean[0], q.covariance[0]
    v = np.einsum("...i,ij,...j->...", phi, V, phi)
    point = axis("point", len(t))
    sampled = rng.multivariate_normal(m, V, 5)
    return {
        "place": over(x, point, axis("coordinate", [1, 2])),
        "class_of": point.of(t.astype(int)),
        "predictive": over(bounds.moderated(phi @ m, v), one, two),
        "sampled_weights": over(sampled, axis("sample", 5), axis("weight", 3)),
    }
