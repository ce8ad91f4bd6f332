"""Logistic regression in the plane: the climb to the most probable weights, and what they and
their Laplace approximation predict (FCML 4.2-4.4).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.classification._plane import labelled, mesh
from models.approximation.laplace import approximate, expected_sigmoid
from models.classification import logistic
from models.classification.drawn_regression import derivative_gaps
from models.datasets import load
from models.types import Floats

SHOWN = ("data", "path", "boundary", "predictive")


@dataclass
class LogisticPosterior(Study):
    """The most probable weights by Newton-Raphson, and predictions averaged about them."""

    headline = {"iterations": "max(coordinates(path, over='iteration'))"}

    data: str = knob("fcml-logistic", "two attributes and t = 0 or 1", dataset=True)
    sigma2: float = knob(10.0, "variance of the prior of each weight", above=0)
    start: list[float] = knob([0.0, 0.0], "where the climb begins")
    tol: float = knob(1e-6, "converged when the squared change of w is smaller", above=0)
    max_steps: int = knob(100, "updates at most", at_least=1, at_most=10_000)
    starts_reach: float = knob(5.0, "further starts on a grid from -reach to reach", above=0)
    new: list[float] = knob([-3.0, 5.0], "attributes of a new object")
    samples: int = knob(1000, "weights sampled for a prediction", at_least=1, at_most=100_000)
    boundaries: int = knob(20, "boundaries to draw", at_least=1, at_most=1000)
    show: list[str] = knob(["path"], "what to draw", choices=SHOWN, distinct=True)

    def problems(self) -> Iterator[str]:
        matrix = load(self.data).matrix
        if matrix.shape[1] != 3 or not set(np.unique(matrix[:, -1])) <= {0.0, 1.0}:
            yield f"study.data={self.data}; allowed: two attributes and a class, 0 or 1"
        for name, values in (("start", self.start), ("new", self.new)):
            if len(values) != 2:
                yield f"study.{name}={values}; allowed: two numbers"

    def run(self, rng: Generator) -> Outcome:
        matrix, new = load(self.data).matrix, np.array([self.new])
        X, t = matrix[:, :2], matrix[:, 2]
        posterior = logistic.Posterior(X, t, self.sigma2)
        climb = logistic.newton_raphson(posterior, np.array([self.start]), self.tol, self.max_steps)
        path, w = climb.path[:, 0], climb.path[-1, 0]
        reach = np.linspace(-self.starts_reach, self.starts_reach, 21)
        starts = np.stack(np.meshgrid(reach, reach), axis=-1).reshape(-1, 2)
        others = logistic.newton_raphson(posterior, starts, self.tol, self.max_steps)
        slope_gap, curvature_gap = derivative_gaps(posterior, path)
        height = float(logistic.log_g(posterior, w))
        S = approximate(w, logistic.hessian(posterior, w), height).covariance
        draws = rng.multivariate_normal(w, S, self.samples)
        lines = draws[: self.boundaries]
        exact = logistic.quadrature(posterior, w, 12 * np.sqrt(np.diag(S)))
        estimates: dict[str, Callable[[Floats], Floats]] = {
            "point": lambda x: logistic.predict(w[None], x),
            "averaged": lambda x: expected_sigmoid(x @ w, ((x @ S) * x).sum(-1)),
            "sampled": lambda x: logistic.predict(draws, x),
        }
        x1, x2, square = mesh([-5.0, -5.0], [5.0, 5.0], 0.2)
        points, fitted = square.reshape(-1, 2), logistic.predict(w[None], X)
        maps = np.stack([p(points) for p in estimates.values()])
        along = np.array([-w[1], w[0]]) / np.linalg.norm(w)  # of the contours, which are lines
        near = np.linalg.norm(points[:, None] - X, axis=-1).min(-1)
        c = axis("category", [0, 1])
        half_way = np.mean([X[t == k].mean(0) for k in c.values], axis=0)
        weight, iteration = axis("weight", [1, 2]), axis("iteration", len(path))
        start, boundary = axis("start", len(starts)), axis("boundary", len(lines))
        estimate = axis("estimate", list(estimates))
        return Outcome(
            **labelled(X, t),
            path=over(path, iteration, weight),
            gradient=over(logistic.gradient(posterior, path), iteration, weight),
            largest_curvature=iteration.of(_largest_curvature(posterior, path)),
            gradient_gap=slope_gap,
            hessian_gap=curvature_gap,
            start_converged=start.of(others.converged),
            start_end=over(others.path[-1], start, weight),
            start_largest_curvature=start.of(_largest_curvature(posterior, starts)),
            fitted_probability=axis("point", len(t)).of(fitted),
            mean_fitted_probability=c.of([fitted[t == k].mean() for k in c.values]),
            probability_half_way=logistic.predict(w[None], half_way[None])[0],
            probability_at_new=estimate.of([p(new)[0] for p in estimates.values()]),
            exact_probability_at_new=exact.probability @ logistic.predict(new, exact.w),
            probability_map=over(maps.reshape(-1, len(x2), len(x1)), estimate, x2, x1),
            change_along_contours=np.abs(estimates["point"](points + along) - maps[0]).max(),
            distance_to_data=over(near.reshape(len(x2), len(x1)), x2, x1),
            boundary=over(lines, boundary, weight),
            boundary_error=boundary.of(((X @ lines.T > 0) != t[:, None]).mean(0)),
            boundary_output_at_new=boundary.of(lines @ new[0]),
        )


def _largest_curvature(posterior: logistic.Posterior, w: Floats) -> Floats:
    """The largest eigenvalue of the Hessian at weights (R, 2)."""
    return np.asarray(np.linalg.eigvalsh(logistic.hessian(posterior, w))[:, -1])
