"""Logistic regression in the plane: MAP weights by Newton steps, and predictions by the weights and
by their Laplace approximation (FCML 4.2-4.4, 5.2.2.2).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.classification._plane import Plane, distance
from bythebook.models.approximation.laplace import approximate, expected_sigmoid
from bythebook.models.classification import logistic
from bythebook.models.datasets import load
from bythebook.models.types import Floats

TERMS = ["1", "x1", "x2", "x1^2", "x2^2"]  # of the log odds, FCML 5.10
FEATURES = {"plain": slice(1, 3), "linear": slice(0, 3), "quadratic": slice(0, 5)}  # which of them
ESTIMATES = ["point", "averaged", "sampled"]


@dataclass
class LogisticRegression(Plane, Study):
    """MAP weights of logistic regression by Newton-Raphson, and averaged predictions (FCML 4)."""

    headline = {"iterations": "max(newton_steps)"}
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
        "places": quantity("attributes of a place", "place attribute"),
        "probability_at": quantity("probability of class 1 at a place", "features estimate place"),
        "log_odds_map": quantity("log odds of class 1 on the map", "features x2 x1"),
        "probability_map": quantity("probability of class 1 on the map", "features estimate x2 x1"),
        "boundary": quantity("weights of a sampled boundary", "features boundary feature"),
        "sampled_probability": quantity(
            "mean probability of class 1 over sampled weights",
            "features sampling place",
            equation="FCML 4.15",
        ),
        "class_error": quantity(
            "share of a class on the wrong side of a sampled boundary",
            "features of_class sampling boundary",
        ),
        "boundary_output_at_new": quantity(
            "output of a sampled boundary at the new point", "features sampling boundary"
        ),
        "path": quantity("weights after each Newton step", "iteration weight", equation="FCML 4.6"),
        "gradient": quantity(
            "gradient of the log posterior", "iteration weight", equation="FCML 4.9"
        ),
        "start_converged": quantity("whether Newton steps from a start converge", "start"),
        "start_end": quantity("weights at the end of the steps from a start", "start weight"),
    }
    axes = {
        "features": axis_of("form of the log odds"),
        "repetition": axis_of("set of points"),
        "point": axis_of("point of the data"),
        "attribute": axis_of("attribute"),
        "x1": axis_of("first attribute"),
        "x2": axis_of("second attribute"),
        "feature": axis_of("term of the log odds"),
        "estimate": axis_of("weights that are used"),
        "place": axis_of("new point, or the point half-way between the classes"),
        "sampling": axis_of("set of sampled weights"),
        "of_class": axis_of("class"),
        "boundary": axis_of("sampled boundary"),
        "iteration": axis_of("Newton step"),
        "weight": axis_of("weight"),
        "start": axis_of("start on a grid"),
    }

    data: str | None = knob(
        "fcml-logistic", "x_1, x_2, t = 0 or 1; null: clouds", dataset="classes"
    )
    features: list[str] = knob(
        ["plain"],
        "terms of the log odds; paths are of the first",
        choices=tuple(FEATURES),
        distinct=True,
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

    def rules(self) -> Iterator[str]:
        if self.data is not None and not set(load(self.data).matrix[:, 2]) <= {0.0, 1.0}:
            yield f"study.data={self.data}; allowed: two attributes and a class, 0 or 1"
        if len(self.new) != 2:
            yield f"study.new={self.new}; allowed: two numbers"

    def run(self, rng: Generator) -> Outcome:
        X, t = self.points(rng)
        x1, x2, grid = self.grid()
        found = [self._fitted(X, t, FEATURES[name], grid, rng) for name in self.features]
        first = logistic.Posterior(design(X[0])[:, FEATURES[self.features[0]]], t[0], self.sigma2)
        paths = self._newton_paths(first)
        dims = {name: declared.dims for name, declared in self.quantities.items()}
        return outcome(
            {
                "features": self.features,
                "repetition": len(X),
                "point": t.shape[1],
                "attribute": [1, 2],
                "x1": x1,
                "x2": x2,
                "feature": TERMS,
                "estimate": ESTIMATES,
                "place": ["new", "half way"],
                "sampling": self.samplings,
                "of_class": [0, 1],
                "boundary": min(self.boundaries, self.samples),
                "iteration": len(paths["path"]),
                "weight": np.arange(1, first.X.shape[1] + 1),
                "start": len(paths["start_end"]),
            },
            inputs=("point attribute", X[0]),
            label=("point", t[0]),
            places=("place attribute", self._places(X, t)),
            distance_to_data=("x2 x1", distance(grid, X[0])),
            **{name: (" ".join(dims[name]), [each[name] for each in found]) for name in found[0]},
            **{name: (" ".join(dims[name]), values) for name, values in paths.items()},
        )

    def _fitted(
        self, X: Floats, t: Floats, columns: slice, grid: Floats, rng: Generator
    ) -> Mapping[str, Any]:
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
        weights = np.zeros((len(X) + len(lines), len(TERMS)))
        weights[:, columns] = np.concatenate([*best, lines])
        at = design(self._places(X, t))[:, columns]
        on_map, shape = design(grid.reshape(-1, 2))[:, columns], grid.shape[:2]
        return {
            "training_accuracy": ((fitted > 0.5) == (t == 1)).mean(1),
            "newton_steps": [search.steps[0] for search in searches],
            "map_weight": weights[: len(X)],
            "fitted_probability": fitted[0],
            "probability_at": predictions(at, w, S, draws),
            "log_odds_map": (on_map @ w).reshape(shape),
            "probability_map": predictions(on_map, w, S, draws).reshape(-1, *shape),
            "boundary": weights[len(X) :],
            "sampled_probability": [logistic.predict(each, at) for each in samplings],
            "class_error": [((every @ Phi[0][t[0] == k].T > 0) != k).mean(-1) for k in (0, 1)],
            "boundary_output_at_new": every @ at[0],
        }

    def _places(self, X: Floats, t: Floats) -> Floats:
        """The new object, and the point half-way between the classes of the first set."""
        return np.array([self.new, np.mean([X[0, t[0] == k].mean(0) for k in (0, 1)], axis=0)])

    def _newton_paths(self, posterior: logistic.Posterior) -> Mapping[str, Any]:
        """Newton steps from zero, and the ends of those from a grid of two of the weights."""
        D, reach = posterior.X.shape[1], np.linspace(-self.starts_reach, self.starts_reach, 21)
        starts = np.zeros((len(reach) ** 2, D))
        starts[:, :2] = np.stack(np.meshgrid(reach, reach), axis=-1).reshape(-1, 2)
        path = logistic.newton_raphson(posterior, np.zeros((1, D)), self.tol).path[:, 0]
        others = logistic.newton_raphson(posterior, starts, self.tol)
        return {
            "path": path,
            "gradient": logistic.gradient(posterior, path),
            "start_converged": others.converged,
            "start_end": others.path[-1],
        }


def design(X: Floats) -> Floats:
    """1, x_1, x_2 and their squares, for points (N, 2)."""
    return np.column_stack([np.ones(len(X)), X, X**2])  # FCML 5.10


def predictions(Phi: Floats, w: Floats, S: Floats, draws: Floats) -> Floats:
    """P(t = 1) of inputs (M, D): by the weights w, averaged over N(w, S), and over draws of it."""
    averaged = expected_sigmoid(Phi @ w, ((Phi @ S) * Phi).sum(-1))
    return np.stack([logistic.predict(w[None], Phi), averaged, logistic.predict(draws, Phi)])
