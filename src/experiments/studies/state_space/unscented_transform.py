"""A Gaussian through a nonlinear function, by a tangent and by sigma points (MLAPP 18.5)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Table
from experiments.contract.study import Study, knob
from models.state_space.unscented import (
    Function,
    Moments,
    Scaling,
    by_points,
    by_tangent,
    hermite_points,
    sigma_points,
)
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_NODES = 40  # of the quadrature, along each axis
_WAYS = ("tangent", "unscented")


class Mapping(NamedTuple):
    """A function, its Jacobian, and the Gaussian that goes through it."""

    f: Function
    F: Function
    mean: Floats
    sd: Floats


@dataclass
class UnscentedTransform(Study):
    """Moments of polar coordinates or of an exponential, by tangent and points (MLAPP 18.5)."""

    mapping: str = knob("polar", "the function", choices=("polar", "exponential"))
    spreads: list[float] = knob(
        [0.125, 0.25, 0.5, 1.0], "of the prior, in units of its own", above=0, at_most=2
    )
    bends: list[float] = knob(
        [0.25, 0.5, 1.0, 2.0], "curvatures of the exponential at the mean", above=0, at_most=4
    )
    alpha: float = knob(1.0, "spread of the sigma points", above=0, at_most=2)
    beta: float = knob(0.0, "added to the first point's weight in covariances")
    kappa: float = knob(1.0, "spread of the sigma points", above=-1)
    shown: int = knob(1000, "samples in the figure", at_least=10, at_most=100_000)

    def problems(self) -> "Iterator[str]":
        for name in ("spreads", "bends"):
            values = getattr(self, name)
            if values != sorted(set(values)) or len(values) < 2:
                yield f"study.{name}={values}; allowed: two or more, ascending"

    @property
    def _scaling(self) -> Scaling:
        return Scaling(self.alpha, self.beta, self.kappa)

    def run(self, rng: Generator) -> Outcome:
        whole = self._mapping(1.0)
        f, mean, cov, d = whole.f, whole.mean, np.diag(whole.sd**2), len(whole.mean)
        by = self._moments(whole, 1.0)
        points, nodes = sigma_points(mean, cov, self._scaling), hermite_points(mean, cov, _NODES)
        off = (f(nodes.x) - by["exact"].mean) / np.sqrt(np.diagonal(by["exact"].cov))
        table: Table = {"spread": self.spreads}
        for way in _WAYS:
            table[f"mean_error_{way}"] = [self._mean_error(way, whole, s) for s in self.spreads]
        metrics: dict[str, Scalar] = {
            "sigma_points": len(points.x),
            "largest_skewness": float(np.abs(nodes.w_m @ off**3).max()),
            **{f"error_order_{way}": self._order(table[f"mean_error_{way}"]) for way in _WAYS},
            "tangent_worse_with_spread": bool(np.all(np.diff(table["mean_error_tangent"]) > 0)),
            "unscented_better_at_every_spread": bool(
                np.all(np.array(table["mean_error_unscented"]) < table["mean_error_tangent"])
            ),
            **_shape_errors(by),
            **_quadratics(d, self._scaling, rng),
            **_one_dimension(),
        }
        if self.mapping == "exponential":
            errors = {
                way: [self._mean_error(way, self._mapping(b), 0.5) for b in self.bends]
                for way in _WAYS
            }
            metrics["tangent_worse_with_bend"] = bool(np.all(np.diff(errors["tangent"]) > 0))
            metrics["unscented_better_at_every_bend"] = bool(
                np.all(np.array(errors["unscented"]) < errors["tangent"])
            )
        x = mean + whole.sd * rng.standard_normal((self.shown, d))
        arrays = {"x": x, "y": f(x), "points": points.x, "passed": f(points.x)}
        for way, moments in by.items():
            arrays |= {f"mean_{way}": moments.mean, f"cov_{way}": moments.cov}
        return Outcome(metrics, tables={"errors": table}, arrays=arrays)

    def _mapping(self, bend: float) -> Mapping:
        if self.mapping == "polar":  # a bearing that is less certain than the range
            return Mapping(
                f=lambda x: np.stack(
                    [x[..., 0] * np.cos(x[..., 1]), x[..., 0] * np.sin(x[..., 1])], axis=-1
                ),
                F=lambda x: np.array(
                    [
                        [np.cos(x[1]), -x[0] * np.sin(x[1])],
                        [np.sin(x[1]), x[0] * np.cos(x[1])],
                    ]
                ),
                mean=np.array([1.0, np.pi / 2]),
                sd=np.array([0.02, np.deg2rad(15)]),
            )
        return Mapping(
            f=lambda x: np.expm1(bend * x) / bend,
            F=lambda x: np.exp(bend * x)[..., np.newaxis],
            mean=np.zeros(1),
            sd=np.ones(1),
        )

    def _moments(self, mapping: Mapping, spread: float) -> dict[str, Moments]:
        f, mean, cov = mapping.f, mapping.mean, np.diag((spread * mapping.sd) ** 2)
        return {
            "exact": by_points(hermite_points(mean, cov, _NODES), f),
            "tangent": by_tangent(mean, cov, f, mapping.F),
            "unscented": by_points(sigma_points(mean, cov, self._scaling), f),
        }

    def _mean_error(self, way: str, mapping: Mapping, spread: float) -> float:
        by = self._moments(mapping, spread)
        return float(np.linalg.norm(by[way].mean - by["exact"].mean))

    def _order(self, errors: list[float]) -> float:
        """The power of the spread with which an error falls."""
        return float(np.polyfit(np.log(self.spreads), np.log(errors), 1)[0])

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        draw = self._draw_plane if self.mapping == "polar" else self._draw_line
        return {"transform": draw(outcome)}

    def _draw_plane(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        figure, (left, right) = panels(1, 2)
        left.plot(*arrays["x"].T, ".", color="0.75", markersize=2)
        left.plot(*arrays["points"].T, "o", color="C1", label="sigma points")
        left.set(xlabel="range $x_1$", ylabel="angle $x_2$ (radians)")
        right.plot(*arrays["y"].T, ".", color="0.75", markersize=2)
        right.plot(*arrays["passed"].T, "o", color="C1")
        turn = np.linspace(0, 2 * np.pi, 200)
        circle = np.stack([np.cos(turn), np.sin(turn)])
        looks = {"exact": ("-", "C2"), "unscented": ("--", "C1"), "tangent": (":", "C0")}
        for way, (dash, colour) in looks.items():
            mean, cov = arrays[f"mean_{way}"], arrays[f"cov_{way}"]
            values, vectors = np.linalg.eigh(cov)
            ring = mean[:, np.newaxis] + vectors @ (np.sqrt(values)[:, np.newaxis] * circle)
            right.plot(*ring, dash, color=colour, label=way)
            right.plot(*mean, "+", color=colour, markersize=8)
        right.set(xlabel="$y_1$", ylabel="$y_2$")
        for ax in (left, right):
            low, high = ax.get_ylim()
            ax.set_ylim(low, high + 0.42 * (high - low))
            ax.legend(loc="upper right")
        return figure

    def _draw_line(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        arrays, table = outcome.arrays, outcome.tables["errors"]
        figure, (left, right) = panels(1, 2)
        y = arrays["y"][:, 0]
        low, high = -3.0, 8.0
        left.hist(y, np.linspace(low, high, 60), density=True, color="0.8", label="samples")
        grid = np.linspace(low, high, 400)
        looks = {"exact": ("-", "C2"), "unscented": ("--", "C1"), "tangent": (":", "C0")}
        for way, (dash, colour) in looks.items():
            mean, var = arrays[f"mean_{way}"][0], arrays[f"cov_{way}"][0, 0]
            curve = np.exp(-0.5 * (grid - mean) ** 2 / var) / np.sqrt(2 * np.pi * var)
            left.plot(grid, curve, dash, color=colour, label=way)
        left.set(xlabel="$y$", ylabel="density", xlim=(low, high))
        left.legend(loc="upper right")
        for way, mark in (("tangent", "o"), ("unscented", "s")):
            dash, colour = looks[way]
            errors = table[f"mean_error_{way}"]
            right.loglog(table["spread"], errors, dash, marker=mark, color=colour, label=way)
        right.set(xlabel="standard deviation of the prior", ylabel="error of the mean")
        right.set_xticks(self.spreads, [f"{spread:g}" for spread in self.spreads])
        right.minorticks_off()
        right.legend(loc="upper left")
        return figure


def _shape_errors(by: dict[str, Moments]) -> dict[str, Scalar]:
    """Relative errors of both moments, and both moments themselves."""
    found: dict[str, Scalar] = {}
    right = by["exact"]
    for way, moments in by.items():
        for i, (mean, var) in enumerate(zip(moments.mean, np.diagonal(moments.cov), strict=True)):
            found |= {f"mean_{way}_{i + 1}": float(mean), f"variance_{way}_{i + 1}": float(var)}
        if way != "exact":
            gap = np.linalg.norm(moments.cov - right.cov) / np.linalg.norm(right.cov)
            found[f"covariance_error_{way}"] = float(gap)
    return found


def _quadratics(d: int, scaling: Scaling, rng: Generator) -> dict[str, Scalar]:
    """Largest errors of the mean of drawn quadratic functions of a drawn Gaussian."""
    a, B = rng.standard_normal((20, d)), rng.standard_normal((20, d, d))
    root = rng.standard_normal((d, d))
    mean, cov = rng.standard_normal(d), root @ root.T + 0.1 * np.eye(d)

    def f(x: Floats) -> Floats:
        return np.asarray(x @ a.T + np.einsum("...i,kij,...j->...k", x, B, x))

    right = mean @ a.T + np.einsum("kij,ij->k", B, cov + np.outer(mean, mean))
    found = by_points(sigma_points(mean, cov, scaling), f).mean
    return {
        "quadratic_mean_error_unscented": float(np.abs(found - right).max()),
        "quadratic_mean_error_tangent": float(np.abs(f(mean) - right).max()),
    }


def _one_dimension() -> dict[str, Scalar]:
    """The scaling that the book gives for d = 1, and how many moments of a Gaussian it matches."""
    zero, one = np.zeros(1), np.eye(1)
    gaussian = [0.0 if k % 2 else float(np.prod(np.arange(k - 1, 0, -2))) for k in range(1, 9)]

    def degree(scaling: Scaling) -> int:
        x, w, _ = sigma_points(zero, one, scaling)
        wrong = [abs(w @ x[:, 0] ** k - gaussian[k - 1]) > 1e-9 for k in range(1, 9)]
        return int(np.argmax(wrong))  # the eighth is matched by no three points

    best = Scaling(1, 0, 2)
    others = [degree(Scaling(1, 0, kappa)) for kappa in (0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 4.0)]
    x = sigma_points(zero, one, best).x
    square = by_points(sigma_points(np.array([0.5]), one, best), np.square)
    return {
        "lambda_d1": best.lambda_(1),
        "points_d1": len(x),
        "largest_point_squared_d1": float(np.square(x).max()),
        "moments_matched_d1": degree(best),
        "most_moments_matched_otherwise_d1": max(others),
        "printed_scaling_is_best_d1": degree(best) > max(others),
        "mean_of_square_d1": float(square.mean[0]),
        "variance_of_square_d1": float(square.cov[0, 0]),
    }
