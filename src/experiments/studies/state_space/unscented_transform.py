"""A Gaussian through a nonlinear function, by a tangent and by sigma points (MLAPP 18.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
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
    quadratic_mean_errors,
    sigma_points,
    weight_sums,
)

_NODES = 40  # of the quadrature, along each axis
WAYS = axis("way", ["exact", "tangent", "unscented"])
APPROXIMATIONS = axis("approximation", ["tangent", "unscented"])


@dataclass
class UnscentedTransform(Study):
    """Moments of polar coordinates or of an exponential, by tangent and points (MLAPP 18.5)."""

    headline = {
        "tangent_order": "error_order['tangent']",
        "unscented_order": "error_order['unscented']",
    }
    more_quantities = True
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
        "weight_sum": quantity("sum of the weights of the sigma points", "equation"),
        "line_points": quantity("sigma points of one input", "line_point"),
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
    shown: int = knob(1000, "samples in the figure", at_least=10, at_most=100_000)

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
        found = {
            "mean_error": over(errors, APPROXIMATIONS, axis("spread", self.spreads)),
            "error_order": APPROXIMATIONS.of(
                np.polyfit(np.log(self.spreads), np.log(errors).T, 1)[0]
            ),  # the power of the spread with which the error falls
            "quadratic_mean_error": over(
                quadratic_mean_errors(d, scaling, rng), APPROXIMATIONS, axis("function", 20)
            ),
            "weight_sum": axis("equation", ["printed", "corrected"]).of(weight_sums(d, scaling)),
        }
        if self.mapping == "exponential":
            bent = [_mean_errors(self.function(b), 0.5, scaling) for b in self.bends]
            found["bent_mean_error"] = over(
                np.stack(bent, axis=-1), APPROXIMATIONS, axis("bend", self.bends)
            )
        x = mean + whole.sd * rng.standard_normal((self.shown, d))
        sample, point = axis("sample", self.shown), axis("point", len(points.x))
        before, after, other = (axis(n, np.arange(d) + 1) for n in ("input", "output", "other"))
        return Outcome(
            output_mean=over([moments.mean for moments in by], WAYS, after),
            output_covariance=over([moments.cov for moments in by], WAYS, after, other),
            output_skewness=after.of(nodes.w_m @ off**3),
            sample_input=over(x, sample, before),
            sample_output=over(f(x), sample, after),
            point_input=over(points.x, point, before),
            point_output=over(f(points.x), point, after),
            **found,
            **_one_dimension(),
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


def _one_dimension() -> dict[str, Quantity]:
    """The book's scaling for d = 1, and the number of moments that the points match, by kappa."""
    zero, one, best = np.zeros(1), np.eye(1), Scaling(1, 0, 2)
    kappa = axis("kappa", [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0])
    each = [sigma_points(zero, one, Scaling(1, 0, k)) for k in kappa.values]
    x = sigma_points(zero, one, best).x[:, 0]
    square = by_points(sigma_points(np.array([0.5]), one, best), np.square)
    return {
        "line_lambda": Quantity(best.lambda_(1)),
        "line_points": axis("line_point", len(x)).of(x),
        "line_moments_matched": kappa.of([moments_matched(points) for points in each]),
        "line_square_variance": Quantity(square.cov[0, 0]),
    }
