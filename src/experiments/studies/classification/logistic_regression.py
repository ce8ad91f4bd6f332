"""Logistic regression in the plane: MAP weights by Newton steps, and predictions by the weights and
by their Laplace approximation (FCML 4.2-4.4, 5.2.2.2).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.classification._plane import Plane, distance, labelled, stacked
from bythebook.models.approximation.laplace import approximate, expected_sigmoid
from bythebook.models.classification import logistic
from bythebook.models.classification.drawn_regression import derivative_gaps
from bythebook.models.datasets import load
from bythebook.models.types import Floats

WEIGHTS = ["1", "x1", "x2", "x1^2", "x2^2"]  # what they multiply, FCML 5.10
FEATURES = {"plain": slice(1, 3), "linear": slice(0, 3), "quadratic": slice(0, 5)}  # which of them
ESTIMATES = ["point", "averaged", "sampled"]
SHOWN = ("data", "path", "boundary", "predictive", "probability")


@dataclass
class LogisticRegression(Plane, Study):
    """MAP weights of logistic regression by Newton-Raphson, and averaged predictions (FCML 4)."""

    headline = {"iterations": "max(newton_steps)"}
    more_quantities = True
    quantities = {
        "newton_steps": quantity("Newton steps until the weights converge", "features repetition"),
        "inputs": quantity("attributes of the data", "point attribute"),
        "label": quantity("class of a point", "point"),
        "distance_to_data": quantity(
            "distance from a place on the map to the nearest data", "x2 x1"
        ),
        "training_accuracy": quantity(
            "share of the training points that are classified correctly", "features repetition"
        ),
        "map_weight": quantity("most probable weights", "features repetition feature"),
        "fitted_probability": quantity("fitted probability of class 1", "features point"),
        "probability_at": quantity(
            "probability of class 1 at a new point", "features estimate place"
        ),
        "log_odds_map": quantity("log odds of class 1 on the map", "features x2 x1"),
        "probability_map": quantity("probability of class 1 on the map", "features estimate x2 x1"),
        "sampled_probability": quantity(
            "mean probability of class 1 over sampled weights", "features sampling place"
        ),
        "class_error": quantity(
            "share of a class on the wrong side of a sampled boundary",
            "features of_class sampling boundary",
        ),
        "boundary_output_at_new": quantity(
            "output of a sampled boundary at the new point", "features sampling boundary"
        ),
        "path": quantity("weights after each Newton step", "iteration weight"),
        "log_g": quantity("log of the unnormalised posterior", "iteration"),
        "gradient": quantity("gradient of the log posterior", "iteration weight"),
        "largest_curvature": quantity("largest curvature of the log posterior", "iteration"),
        "gradient_gap": quantity("difference between the gradient and differences"),
        "hessian_gap": quantity("difference between the second derivatives and differences"),
        "start_converged": quantity("whether Newton steps from a start converge", "start"),
        "start_end": quantity("weights at the end of the steps from a start", "start weight"),
        "start_largest_curvature": quantity(
            "largest curvature of the log posterior at a start", "start"
        ),
    }

    data: str | None = knob(
        "fcml-logistic", "x_1, x_2, t = 0 or 1; null: clouds", dataset="classes"
    )
    features: list[str] = knob(
        ["plain"], "of the log odds; the first is shown", choices=tuple(FEATURES), distinct=True
    )
    sigma2: float = knob(10.0, "variance of the prior of each weight", above=0)
    tol: float = knob(1e-6, "converged when the squared change of w is smaller", above=0)
    starts_reach: float = knob(5.0, "further starts on a grid from -reach to reach", above=0)
    new: list[float] = knob([-3.0, 5.0], "attributes of a new object")
    samples: int = knob(1000, "weights sampled for a prediction", at_least=1, at_most=100_000)
    samplings: int = knob(1, "times that so many are sampled", at_least=1, at_most=1000)
    boundaries: int = knob(20, "boundaries to draw", at_least=1, at_most=1000)
    low: list[float] = knob([-5.0, -5.0], "smallest coordinates of the map")
    high: list[float] = knob([5.0, 5.0], "largest coordinates of the map")
    show: list[str] = knob(["path"], "what to draw", choices=SHOWN, distinct=True)

    def rules(self) -> Iterator[str]:
        if self.data is not None and not set(load(self.data).matrix[:, 2]) <= {0.0, 1.0}:
            yield f"study.data={self.data}; allowed: two attributes and a class, 0 or 1"
        if len(self.new) != 2:
            yield f"study.new={self.new}; allowed: two numbers"
        if self.features[0] != "plain" and set(self.show) & {"path", "boundary", "predictive"}:
            yield f"study.show={self.show} draws the two weights of plain features, first of all"

    def run(self, rng: Generator) -> Outcome:
        X, t = self.points(rng)
        each = [self._fitted(X, t, FEATURES[name], rng) for name in self.features]
        x1, x2, grid = self.mesh()
        first = logistic.Posterior(design(X[0])[:, FEATURES[self.features[0]]], t[0], self.sigma2)
        return Outcome(
            **labelled(X[0], t[0]),
            distance_to_data=over(distance(grid, X[0]), x2, x1),
            **stacked(axis("features", self.features), each),
            **self._newton_paths(first),
        )

    def _fitted(self, X: Floats, t: Floats, columns: slice, rng: Generator) -> dict[str, Quantity]:
        """The most probable weights of every set of points; predictions from the first set."""
        Phi = [design(points)[:, columns] for points in X]
        posteriors = [logistic.Posterior(*each, self.sigma2) for each in zip(Phi, t, strict=True)]
        start = np.zeros((1, Phi[0].shape[1]))
        searches = [logistic.newton_raphson(each, start, self.tol) for each in posteriors]
        best = [search.path[-1] for search in searches]
        fitted = np.stack([logistic.predict(w, phi) for w, phi in zip(best, Phi, strict=True)])
        w, first = best[0][0], posteriors[0]
        S = approximate(w, logistic.hessian(first, w), float(logistic.log_g(first, w))).covariance
        draws = rng.multivariate_normal(w, S, self.samples)
        others = rng.spawn(1)[0].multivariate_normal(w, S, (self.samplings - 1, self.samples))
        samplings = np.concatenate([draws[None], others])
        lines, every = draws[: self.boundaries], samplings[:, : self.boundaries]
        weights = np.zeros((len(X) + len(lines), len(WEIGHTS)))
        weights[:, columns] = np.concatenate([*best, lines])
        x1, x2, grid = self.mesh()
        half_way = np.mean([X[0, t[0] == k].mean(0) for k in (0, 1)], axis=0)
        at, on_map = (
            design(points)[:, columns]
            for points in (np.array([self.new, half_way]), grid.reshape(-1, 2))
        )
        shape = len(x2), len(x1)
        repetition, point = axis("repetition", len(X)), axis("point", t.shape[1])
        feature, boundary = axis("feature", WEIGHTS), axis("boundary", len(lines))
        sampling = axis("sampling", self.samplings)
        wrong = [((every @ Phi[0][t[0] == k].T > 0) != k).mean(-1) for k in (0, 1)]
        estimate, place = axis("estimate", ESTIMATES), axis("place", ["new", "half way"])
        return {
            "training_accuracy": repetition.of(((fitted > 0.5) == (t == 1)).mean(1)),
            "newton_steps": repetition.of([search.steps[0] for search in searches]),
            "map_weight": over(weights[: len(X)], repetition, feature),
            "fitted_probability": point.of(fitted[0]),
            "probability_at": over(predictions(at, w, S, draws), estimate, place),
            "log_odds_map": over((on_map @ w).reshape(shape), x2, x1),
            "probability_map": over(
                np.reshape(predictions(on_map, w, S, draws), (-1, *shape)), estimate, x2, x1
            ),
            "boundary": over(weights[len(X) :], boundary, feature),
            "sampled_probability": over(
                [logistic.predict(each, at) for each in samplings], sampling, place
            ),
            "class_error": over(wrong, axis("of_class", [0, 1]), sampling, boundary),
            "boundary_output_at_new": over(every @ at[0], sampling, boundary),
        }

    def _newton_paths(self, posterior: logistic.Posterior) -> dict[str, Quantity]:
        """Newton steps from zero, and the ends of those from a grid of two of the weights."""
        D, reach = posterior.X.shape[1], np.linspace(-self.starts_reach, self.starts_reach, 21)
        starts = np.zeros((len(reach) ** 2, D))
        starts[:, :2] = np.stack(np.meshgrid(reach, reach), axis=-1).reshape(-1, 2)
        path = logistic.newton_raphson(posterior, np.zeros((1, D)), self.tol).path[:, 0]
        others = logistic.newton_raphson(posterior, starts, self.tol)
        gradient_gap, hessian_gap = derivative_gaps(posterior, path)
        weight, iteration = axis("weight", np.arange(1, D + 1)), axis("iteration", len(path))
        start = axis("start", len(starts))
        return {
            "path": over(path, iteration, weight),
            "log_g": iteration.of(logistic.log_g(posterior, path)),
            "gradient": over(logistic.gradient(posterior, path), iteration, weight),
            "largest_curvature": iteration.of(logistic.largest_curvature(posterior, path)),
            "gradient_gap": over(gradient_gap),
            "hessian_gap": over(hessian_gap),
            "start_converged": start.of(others.converged),
            "start_end": over(others.path[-1], start, weight),
            "start_largest_curvature": start.of(logistic.largest_curvature(posterior, starts)),
        }


def design(X: Floats) -> Floats:
    """1, x_1, x_2 and their squares, for points (N, 2)."""
    return np.column_stack([np.ones(len(X)), X, X**2])  # FCML 5.10


def predictions(Phi: Floats, w: Floats, S: Floats, draws: Floats) -> Floats:
    """P(t = 1) of inputs (M, D): by the weights w, averaged over N(w, S), and over draws of it."""
    averaged = expected_sigmoid(Phi @ w, ((Phi @ S) * Phi).sum(-1))
    return np.stack([logistic.predict(w[None], Phi), averaged, logistic.predict(draws, Phi)])
