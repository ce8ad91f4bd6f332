"""Extended, iterated and unscented Kalman filters, where they do well and poorly (MLAPP 18.5)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Table
from experiments.contract.study import Study, knob
from models.state_space.kalman import LDS, Gaussian, kalman_filter
from models.state_space.kalman import simulate as simulate_linear
from models.state_space.nonlinear_examples import walker_system
from models.state_space.nonlinear_filters import (
    extended_filter,
    linear_system,
    simulate,
    state_space,
    unscented_filter,
)
from models.state_space.particle_filter import bootstrap_filter
from models.state_space.unscented import Scaling, sigma_points
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FILTERS = ("extended", "iterated", "unscented")


@dataclass
class NonlinearTracking(Study):
    """A walker tracked by ranges: a broader prior, and functions that bend more (MLAPP 18.5)."""

    priors: list[float] = knob(
        [0.5, 1.0, 2.0, 4.0], "standard deviation of the first position, beacons far", above=0
    )
    distances: list[float] = knob(
        [10.0, 5.0, 2.0, 1.0], "of the beacons from the start, prior narrow", above=0
    )
    noise: float = knob(0.5, "standard deviation of a range", above=0)
    steps: int = knob(20, "steps that are tracked", at_least=2, at_most=1000)
    series: int = knob(500, "walkers in each setting", at_least=10, at_most=20_000)
    linearisations: int = knob(5, "of the iterated filter", at_least=2, at_most=100)
    kappa: float = knob(2.0, "spread of the sigma points; alpha is 1 and beta 0", above=-4)
    particles: int = knob(2000, "of the sampling filter", at_least=2, at_most=100_000)
    particle_series: int = knob(50, "walkers it tracks in a hard setting", at_least=2, at_most=1000)

    def problems(self) -> "Iterator[str]":
        if self.priors != sorted(set(self.priors)) or len(self.priors) < 2:
            yield f"study.priors={self.priors}; allowed: two or more, ascending"
        if self.distances != sorted(set(self.distances), reverse=True) or len(self.distances) < 2:
            yield f"study.distances={self.distances}; allowed: two or more, descending"
        if self.particle_series > self.series:
            yield f"study.particle_series={self.particle_series}; allowed: up to {self.series}"

    def run(self, rng: Generator) -> Outcome:
        far, narrow = self.distances[0], self.priors[0]
        settings = [(far, prior) for prior in self.priors]
        settings += [(distance, narrow) for distance in self.distances[1:]]
        hard = {"broad": len(self.priors) - 1, "near": len(settings) - 1}
        rows: list[dict[str, float]] = []
        metrics: dict[str, Scalar] = {}
        for k, (distance, prior) in enumerate(settings):
            sampled = k in hard.values()
            rows.append(self._tracked(distance, prior, rng, with_particles=sampled))
        for name, k in {"mild": 0, **hard}.items():
            row = rows[k]
            metrics |= {f"{quantity}_{name}": value for quantity, value in row.items()}
            metrics |= {
                f"unscented_beats_extended_{name}": row["rmse_unscented"] < row["rmse_extended"],
                f"iterated_beats_extended_{name}": row["rmse_iterated"] < row["rmse_extended"],
            }
        shares = [rows[k]["share_particles_nearer_than_unscented"] for k in hard.values()]
        metrics["share_particles_nearer_than_unscented"] = float(np.mean(shares))
        metrics |= self._linear(rng) | self._as_printed(rng)
        table: Table = {
            "distance": [distance for distance, _ in settings],
            "prior": [prior for _, prior in settings],
        }
        for quantity in ("rmse", "squared_error_in_variances"):
            for name in FILTERS:
                table[f"{quantity}_{name}"] = [row[f"{quantity}_{name}"] for row in rows]
        return Outcome(metrics, tables={"errors": table})

    def _tracked(
        self, distance: float, prior: float, rng: Generator, *, with_particles: bool
    ) -> dict[str, float]:
        """Errors of position in one setting: r.m.s., and in units of the variance claimed."""
        system = walker_system(distance, self.noise, prior)
        z, y = simulate(system, self.steps, rng, (self.series,))
        found, errors = {}, {}
        for name, passed in {
            "extended": extended_filter(system, y),
            "iterated": extended_filter(system, y, self.linearisations),
            "unscented": unscented_filter(system, y, Scaling(1, 0, self.kappa)),
        }.items():
            mean, cov = passed.filtered
            e = (mean - z)[..., :2]
            white = np.linalg.solve(cov[..., :2, :2], e[..., np.newaxis])[..., 0]
            errors[name] = e
            found[f"rmse_{name}"] = _rms(e)
            found[f"squared_error_in_variances_{name}"] = float(np.vecdot(e, white).mean() / 2)
        if with_particles:
            S = self.particle_series
            sampled = bootstrap_filter(
                state_space(system, y[:S]), self.steps, self.particles, rng, size=(S,)
            )
            error, other = sampled.mean[..., :2] - z[:S, :, :2], errors["unscented"][:S]
            nearer = np.square(error).sum((-2, -1)) < np.square(other).sum((-2, -1))
            found["rmse_particles"] = _rms(error)
            found["particles_over_unscented"] = _rms(error) / _rms(other)
            found["share_particles_nearer_than_unscented"] = float(nearer.mean())
            found["effective_particles_at_first"] = float(np.median(sampled.ess[:, 0]))
        return found

    def _linear(self, rng: Generator) -> dict[str, Scalar]:
        """Largest differences from the Kalman filter's beliefs, where the system is linear."""
        theta = _drawn_lds(rng)
        _, x = simulate_linear(theta, self.steps, rng, (5,))
        system, right = linear_system(theta), kalman_filter(theta, x)
        passed = {
            "extended": extended_filter(system, x),
            "iterated": extended_filter(system, x, self.linearisations),
            "unscented": unscented_filter(system, x, Scaling(1, 0, self.kappa)),
        }
        return {
            f"linear_difference_{name}": max(
                float(np.abs(found.filtered.mean - right.filtered.mean).max()),
                float(np.abs(found.filtered.cov - right.filtered.cov).max()),
                float(np.abs(found.log_c - right.log_c).max()),
            )
            for name, found in passed.items()
        }

    def _as_printed(self, rng: Generator) -> dict[str, Scalar]:
        """(18.107) and (18.82) as they stand, in a linear system, where the right values are known.

        The first pairs the points that went through g with those drawn anew for h; the second
        expands h about the predicted mean in y in place of z.
        """
        A, Gamma, C, Sigma, mean, V = _drawn_lds(rng)
        scaling = Scaling(1, 0, self.kappa)
        x, _, w_c = sigma_points(mean, V, scaling)
        passed = x @ A.T  # 18.100
        ahead = Gaussian(A @ mean, A @ V @ A.T + Gamma)  # 18.101, 18.102
        redrawn = sigma_points(*ahead, scaling).x  # 18.103
        seen = (redrawn - ahead.mean) @ C.T  # 18.104
        exact = ahead.cov @ C.T
        z = rng.multivariate_normal(ahead.mean, ahead.cov, 100)
        y = z @ C.T + rng.multivariate_normal(np.zeros(len(Sigma)), Sigma, 100)
        tangents = {"printed": y, "corrected": z}
        return {
            "printed_cross_covariance_error": _relative(
                ((passed - ahead.mean) * w_c[:, np.newaxis]).T @ seen, exact
            ),
            "corrected_cross_covariance_error": _relative(
                ((redrawn - ahead.mean) * w_c[:, np.newaxis]).T @ seen, exact
            ),
            **{
                f"{name}_tangent_error": float(
                    np.abs(C @ ahead.mean + (at - ahead.mean) @ C.T - z @ C.T).max()
                )
                for name, at in tangents.items()
            },
        }

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        table, P = outcome.tables["errors"], len(self.priors)
        sides = {
            "prior": (range(P), "standard deviation of the prior"),
            "distance": ([0, *range(P, len(table["prior"]))], "distance of the beacons"),
        }
        figure, axes = panels(1, 2, sharey=True)
        for ax, (column, (rows, label)) in zip(axes, sides.items(), strict=True):
            self._curves(ax, table, column, list(rows))
            ax.set(xlabel=label, xscale="log")
            values = [table[column][k] for k in rows]
            ax.set_xticks(values, [f"{value:g}" for value in values])
            ax.minorticks_off()
        axes[0].set(ylabel="r.m.s. error of the position", ylim=(0, None))
        axes[1].invert_xaxis()
        sampled = f"particles, {self.particle_series} walkers"
        for ax, name in zip(axes, ("broad", "near"), strict=True):
            x = (self.priors if name == "broad" else self.distances)[-1]
            error = outcome.metrics[f"rmse_particles_{name}"]
            ax.plot(x, error, "*", color="C3", markersize=9, label=sampled)
        axes[0].legend(loc="upper left")
        return {"errors": figure}

    def _curves(self, ax: "Axes", table: "Mapping[str, Any]", column: str, rows: list[int]) -> None:
        looks = {"extended": ("--", "o"), "iterated": ("-.", "s"), "unscented": ("-", "^")}
        for k, (name, (dash, mark)) in enumerate(looks.items()):
            x, e = ([table[key][row] for row in rows] for key in (column, f"rmse_{name}"))
            ax.plot(x, e, dash, marker=mark, color=f"C{k}", label=f"{name} filter")


def _drawn_lds(rng: Generator) -> LDS:
    """A stable linear system with as many outputs as states: (18.82) makes sense in no other."""
    turn = np.linalg.qr(rng.standard_normal((3, 3))).Q
    Gamma, Sigma, V0 = (
        B @ B.T + 0.1 * np.eye(len(B)) for B in (rng.standard_normal((3, 3)) for _ in range(3))
    )
    C, mu0 = rng.standard_normal((3, 3)), rng.standard_normal(3)
    return LDS(0.9 * turn, Gamma, C, Sigma, mu0, V0)


def _relative(found: Floats, right: Floats) -> float:
    return float(np.linalg.norm(found - right) / np.linalg.norm(right))


def _rms(e: Floats) -> float:
    """Of vectors' lengths."""
    return float(np.sqrt(np.square(e).sum(-1).mean()))
