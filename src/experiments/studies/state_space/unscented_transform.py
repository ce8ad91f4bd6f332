"""A Gaussian through a nonlinear function, by a tangent and by sigma points (MLAPP 18.5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.state_space.nonlinear_examples import (
    Mapping,
    exponential_mapping,
    polar_mapping,
)
from bythebook.models.state_space.unscented import (
    Moments,
    Scaling,
    by_points,
    by_tangent,
    hermite_points,
    moments_matched,
    sigma_points,
)

_NODES = 40  # of the quadrature, along each axis
WAYS = ["exact", "tangent", "unscented"]


@dataclass
class UnscentedTransform(Study):
    """Moments of polar coordinates or of an exponential, by tangent and points (MLAPP 18.5)."""

    headline = {
        "tangent_order": "error_order['tangent']",
        "unscented_order": "error_order['unscented']",
    }
    quantities = {
        "error_order": quantity("power of the spread with which the error falls", "approximation"),
        "output_mean": quantity("mean of the output", "way output"),
        "output_covariance": quantity("covariance of the output", "way output other"),
        "output_skewness": quantity("third central moment of the output", "output"),
        "sample_input": quantity("sampled inputs", "sample input"),
        "sample_output": quantity("outputs of the sampled inputs", "sample output"),
        "point_input": quantity("sigma points", "point input"),
        "point_output": quantity("outputs of the sigma points", "point output"),
        "mean_error": quantity("error of the mean of the output", "approximation spread"),
        "bent_mean_error": quantity("error of the mean of the output", "approximation bend"),
        "line_lambda": quantity("lambda for one input"),
        "line_points": quantity("sigma points of one input", "line_point"),
        "line_moments_matched": quantity(
            "moments of a Gaussian that the sigma points of one input match", "kappa"
        ),
    }
    axes = {
        "approximation": axis_of("approximation"),
        "way": axis_of("how the moments are computed"),
        "output": axis_of("output"),
        "other": axis_of("other output"),
        "sample": axis_of("sample"),
        "input": axis_of("input"),
        "point": axis_of("sigma point"),
        "spread": axis_of("standard deviation of the prior, in its own units"),
        "bend": axis_of("curvature of the function at the mean"),
        "line_point": axis_of("sigma point of one input"),
        "kappa": axis_of("kappa"),
    }

    mapping: str = knob("polar", "the function", choices=("polar", "exponential"))
    spreads: list[float] = knob(
        [0.125, 0.25, 0.5, 1.0], "of the prior, in its own units", above=0, at_most=2
    )
    bends: list[float] = knob(
        [0.25, 0.5, 1.0, 2.0], "curvatures of the exponential at the mean", above=0, at_most=4
    )
    alpha: float = knob(1.0, "spread of the sigma points", above=0, at_most=2)
    beta: float = knob(0.0, "added to the first point's weight in covariances")
    kappa: float = knob(1.0, "spread of the sigma points", above=-1)
    draws: int = knob(1000, "samples of the input", at_least=10, at_most=100_000)

    def problems(self) -> Iterator[str]:
        for name in ("spreads", "bends"):
            values = getattr(self, name)
            if values != sorted(set(values)) or len(values) < 2:
                yield f"study.{name}={values}; allowed: two or more, ascending"

    def run(self, rng: Generator) -> Outcome:
        whole, scaling = self.function(1.0), Scaling(self.alpha, self.beta, self.kappa)
        f, mean, cov, d = whole.f, whole.mean, np.diag(whole.sd**2), len(whole.mean)
        by = _moments(whole, 1.0, scaling)
        points, nodes = sigma_points(mean, cov, scaling), hermite_points(mean, cov, _NODES)
        off = (f(nodes.x) - by[0].mean) / np.sqrt(np.diagonal(by[0].cov))
        errors = np.stack([_mean_errors(whole, s, scaling) for s in self.spreads], axis=-1)
        coords: dict[str, Any] = {
            "approximation": WAYS[1:],
            "way": WAYS,
            "spread": self.spreads,
            "sample": self.draws,
            "point": len(points.x),
            **{name: np.arange(d) + 1 for name in ("input", "output", "other")},
        }
        found, order = _one_dimension(coords), np.polyfit(np.log(self.spreads), np.log(errors).T, 1)
        if self.mapping == "exponential":
            bent = [_mean_errors(self.function(b), 0.5, scaling) for b in self.bends]
            coords["bend"] = self.bends
            found["bent_mean_error"] = "approximation bend", np.stack(bent, axis=-1)
        x = mean + whole.sd * rng.standard_normal((self.draws, d))
        return outcome(
            coords,
            mean_error=("approximation spread", errors),
            error_order=("approximation", order[0]),
            output_mean=("way output", [moments.mean for moments in by]),
            output_covariance=("way output other", [moments.cov for moments in by]),
            output_skewness=("output", nodes.w_m @ off**3),
            sample_input=("sample input", x),
            sample_output=("sample output", f(x)),
            point_input=("point input", points.x),
            point_output=("point output", f(points.x)),
            **found,
        )

    def function(self, bend: float) -> Mapping:
        return polar_mapping() if self.mapping == "polar" else exponential_mapping(bend)


def _moments(mapping: Mapping, spread: float, scaling: Scaling) -> list[Moments]:
    """Moments: exact, by the tangent, and by sigma points."""
    f, mean, cov = mapping.f, mapping.mean, np.diag((spread * mapping.sd) ** 2)
    return [
        by_points(hermite_points(mean, cov, _NODES), f),
        by_tangent(mean, cov, f, mapping.F),
        by_points(sigma_points(mean, cov, scaling), f),
    ]


def _mean_errors(mapping: Mapping, spread: float, scaling: Scaling) -> list[float]:
    exact, *others = _moments(mapping, spread, scaling)
    return [float(np.linalg.norm(other.mean - exact.mean)) for other in others]


def _one_dimension(coords: dict[str, Any]) -> dict[str, Any]:
    """The book's scaling for d = 1, and the number of moments that the points match, by kappa."""
    zero, one, best = np.zeros(1), np.eye(1), Scaling(1, 0, 2)
    coords["kappa"] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0]
    each = [sigma_points(zero, one, Scaling(1, 0, k)) for k in coords["kappa"]]
    x = sigma_points(zero, one, best).x[:, 0]
    coords["line_point"] = len(x)
    return {
        "line_lambda": best.lambda_(1),
        "line_points": ("line_point", x),
        "line_moments_matched": ("kappa", [moments_matched(points) for points in each]),
    }
