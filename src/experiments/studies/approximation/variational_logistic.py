"""Variational logistic regression on two separate clusters (PRML 10.6)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import bounds
from bythebook.models.approximation import variational_logistic as model
from bythebook.models.approximation.variational_logistic import Weights
from bythebook.models.types import Floats

CENTRES = np.array([[-2.0, 2.0], [2.0, -2.0]])
EACH = 10  # points of a cluster
HISTORY = 100  # iterations that are recorded
ALONG = [0.0, 2.0, 4.0, 6.0, 8.0]  # places on the boundary, from the middle of the data
SIDE = np.linspace(-6, 6, 61)  # of the plane in which predictions are recorded


@dataclass
class VariationalLogistic(Study):
    """EM for the local bound on data that a line separates, and predictions in the plane."""

    headline = {"crossing": "median(crossing)"}
    quantities = {
        "bound_history": quantity("lower bound on the log evidence", "repetition iteration"),
        "crossing": quantity(
            "place, from 0 to 1, of the boundary on the line between the cluster means",
            "repetition",
        ),
        "contour_distance": quantity(
            "distance of the contour 3/4 from the boundary", "repetition along"
        ),
        "inputs": quantity("points of the first data set", "point coordinate"),
        "labels": quantity("classes of the first data set", "point"),
        "predictive": quantity("probability of the second class", "x2 x1"),
        "sampled_weights": quantity("weights drawn from q", "sample weight"),
    }
    axes = {
        "repetition": axis_of("data set"),
        "iteration": axis_of("iteration"),
        "along": axis_of("distance from the middle along the boundary"),
        "point": axis_of("point"),
        "coordinate": axis_of("input"),
        "x1": axis_of("first input"),
        "x2": axis_of("second input"),
        "sample": axis_of("sample"),
        "weight": axis_of("weight, the bias first"),
    }

    repetitions: int = knob(20, "data sets that a line separates", at_least=1, at_most=1000)
    spread: float = knob(0.8, "standard deviation of a cluster", above=0, at_most=1.5)
    prior_precision: float = knob(0.1, "of bias and slopes", above=0)
    iterations: int = knob(1000, "iterations of EM", at_least=HISTORY, at_most=100_000)
    samples: int = knob(5, "of the weights", at_least=1, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        x, t = self._clusters(rng)
        X = np.concatenate([np.ones((*t.shape, 1)), x], axis=-1)
        found = model.fit(X, t, self.prior_precision, self.iterations)
        q = found.weights
        x2, x1 = np.meshgrid(SIDE, SIDE, indexing="ij")
        phi = np.stack([np.ones_like(x1), x1, x2], axis=-1)
        variance = np.einsum("...i,ij,...j->...", phi, q.covariance[0], phi)
        return outcome(
            {
                "repetition": self.repetitions,
                "iteration": HISTORY,
                "along": ALONG,
                "point": 2 * EACH,
                "coordinate": [1, 2],
                "x1": SIDE,
                "x2": SIDE,
                "sample": self.samples,
                "weight": 3,
            },
            bound_history=("repetition iteration", found.course[:HISTORY].T),
            crossing=("repetition", _crossing(x, t, q)),
            contour_distance=("repetition along", _contours(x, q)),
            inputs=("point coordinate", x[0]),
            labels=("point", t[0].astype(int)),
            predictive=("x2 x1", bounds.moderated(phi @ q.mean[0], variance)),
            sampled_weights=(
                "sample weight",
                rng.multivariate_normal(q.mean[0], q.covariance[0], self.samples),
            ),
        )

    def _clusters(self, rng: Generator) -> tuple[Floats, Floats]:
        """Data sets (S, N, 2) and classes, redrawn until a line across the centres separates."""
        t = np.tile(np.repeat([0.0, 1.0], EACH), (self.repetitions, 1))
        across = CENTRES[1] - CENTRES[0]
        kept: list[Floats] = []
        while len(kept) < self.repetitions:
            z = rng.standard_normal((2 * EACH, 2))
            x = np.repeat(CENTRES, EACH, axis=0) + self.spread * z
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
    on_boundary = foot[:, None] + np.array(ALONG)[:, None] * along[:, None]
    low = np.zeros((len(x), len(ALONG)))
    high = np.full_like(low, 1e4)
    for _ in range(80):
        far = (low + high) / 2
        at = on_boundary + far[..., None] * normal[:, None]
        phi = np.concatenate([np.ones((*far.shape, 1)), at], axis=-1)
        m = np.einsum("ski,si->sk", phi, q.mean)
        v = np.einsum("ski,sij,skj->sk", phi, q.covariance, phi)
        short = bounds.moderated(m, v) < 0.75
        low, high = np.where(short, far, low), np.where(short, high, far)
    return np.asarray(low)
