"""Filters for a nonlinear state-space model whose beliefs have two modes (Ghahramani 5)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Table
from experiments.contract.study import Study, knob
from models.probability.gaussian import log_density_1d
from models.state_space.grid_filter import GridFiltered, grid_filter
from models.state_space.kalman import LDS, Filtered
from models.state_space.nonlinear_examples import growth_system
from models.state_space.nonlinear_filters import (
    NonlinearSystem,
    extended_filter,
    linear_system,
    simulate,
    state_space,
    unscented_filter,
)
from models.state_space.particle_filter import bootstrap_filter
from models.state_space.unscented import Scaling
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_NAMES = {"extended": "linearisation", "unscented": "unscented filter"}


@dataclass
class GrowthModel(Study):
    """Particles, tangents and sigma points for the growth model, against a grid (Ghahramani 5)."""

    state_variance: float = knob(10.0, "variance of the state's noise", at_least=0.1, at_most=50)
    noise_variance: float = knob(1.0, "variance of the observations' noise", at_least=0.05)
    steps: int = knob(50, "length of a series", at_least=3, at_most=1000)
    series: int = knob(40, "series", at_least=1, at_most=500)
    particles: list[int] = knob(
        [50, 100, 500, 1000, 5000], "sizes of the filter", at_least=2, at_most=100_000
    )
    grid: int = knob(601, "points of the exact filter", at_least=101, at_most=5001)

    def problems(self) -> "Iterator[str]":
        if self.particles != sorted(set(self.particles)) or len(self.particles) < 2:
            yield f"study.particles={self.particles}; allowed: two or more, ascending"

    def run(self, rng: Generator) -> Outcome:
        system = growth_system(self.state_variance, self.noise_variance)
        z, y = simulate(system, self.steps, rng, (self.series,))
        z = z[..., 0]
        exact = self._exact(system, y)
        gaussians = {
            "extended": extended_filter(system, y),
            "unscented": unscented_filter(system, y, Scaling()),
        }
        model = state_space(system, y)
        sizes, errors, typical = self.particles, [], []
        for L in sizes:
            found = bootstrap_filter(model, self.steps, L, rng, size=(self.series,))
            off = found.mean[..., 0] - exact.mean
            errors.append(_rms(off))
            typical.append(float(np.median(np.abs(off))))  # a jump that all miss decides the other
        nats, modes = _nats_from_gaussian(exact), _modes(exact)
        blind = self._exact(system, y, blind=True)
        linear = self._linear_beliefs(rng)
        scores = _scores(gaussians, exact, z)
        scores |= {
            "rmse_exact": _rms(exact.mean - z),
            "rmse_particles": _rms(found.mean[..., 0] - z),
            "rmse_without_data": _rms(blind.mean - z),
        }
        metrics: dict[str, Scalar] = {
            "share_of_beliefs_with_two_modes": float(np.mean(modes > 1)),
            "mean_nats_from_gaussian": float(nats.mean()),
            "linear_nats_from_gaussian": float(np.abs(_nats_from_gaussian(linear)).max()),
            "linear_most_modes": int(_modes(linear).max()),
            **{f"rmse_to_exact_particles_{L}": e for L, e in zip(sizes, errors, strict=True)},
            **{f"median_error_particles_{L}": e for L, e in zip(sizes, typical, strict=True)},
            "particle_error_rate": float(np.polyfit(np.log(sizes), np.log(typical), 1)[0]),
            **scores,
            "particles_nearest_to_exact": errors[-1]
            < min(scores[f"rmse_to_exact_{name}"] for name in gaussians),
            "unscented_beats_extended": scores["rmse_unscented"] < scores["rmse_extended"],
            "extended_loses_to_no_data": scores["rmse_extended"] > scores["rmse_without_data"],
            "unscented_loses_to_no_data": scores["rmse_unscented"] > scores["rmse_without_data"],
        }
        table: Table = {
            "filter": ["exact", *(f"{L} particles" for L in sizes), *gaussians, "no data"],
            "rmse_to_exact": [0.0, *errors]
            + [scores[f"rmse_to_exact_{name}"] for name in gaussians]
            + [_rms(blind.mean - exact.mean)],
        }
        n = int(nats[0, 1:].argmax()) + 1
        shown = bootstrap_filter(state_space(system, y[:1]), n + 1, sizes[-1], rng, size=(1,))
        arrays = {
            "points": exact.points,
            "densities": exact.density[0],
            "states": z[0],
            "errors": np.array(typical),
            "shown_step": np.array(n),
            "particles": np.stack([shown.z[0, :, 0], shown.W[0]]),
        }
        for name, passed in gaussians.items():
            mean, cov = passed.filtered
            arrays[name] = np.stack([mean[0, :, 0], np.sqrt(cov[0, :, 0, 0])])
        return Outcome(metrics, tables={"errors": table}, arrays=arrays)

    def _exact(self, system: NonlinearSystem, y: Floats, *, blind: bool = False) -> GridFiltered:
        """The densities on a grid that no state leaves; blind, those of a filter without data."""
        reach = 28 + 4 * np.sqrt(self.state_variance)
        points = np.linspace(-reach, reach, self.grid)
        q = system.Q[0, 0]
        return grid_filter(
            points,
            prior=np.exp(log_density_1d(points, system.mu0[0], system.V0[0, 0])),
            transition=lambda n, z, before: np.exp(log_density_1d(z, system.g(n, before), q)),
            log_weight=(lambda n, z: 0 * z[:, 0]) if blind else state_space(system, y).log_weight,
            n_steps=self.steps,
        )

    def _linear_beliefs(self, rng: Generator) -> GridFiltered:
        """A linear system with the same noise, for comparison, by the same grid."""
        one = np.eye(1)
        Gamma, Sigma = self.state_variance * one, self.noise_variance * one
        system = linear_system(LDS(0.5 * one, Gamma, one, Sigma, np.zeros(1), 5 * one))
        return self._exact(system, simulate(system, self.steps, rng, (self.series,))[1])

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        return {"beliefs": self._draw_beliefs(outcome), "errors": self._draw_errors(outcome)}

    def _draw_beliefs(self, outcome: Outcome) -> "Figure":
        from matplotlib.colors import PowerNorm

        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        points, n = arrays["points"], int(arrays["shown_step"])
        figure, (left, right) = panels(1, 2)
        steps = np.arange(1, self.steps + 1)
        left.pcolormesh(
            steps, points, arrays["densities"].T, cmap="Greys", norm=PowerNorm(0.5, 0, 0.6),
            rasterized=True,
        )  # fmt: skip
        left.plot(steps, arrays["states"], ".", color="C1", label="state")
        left.axvline(n + 1, color="C0", linestyle=":", linewidth=1)
        left.set(xlabel="step $n$", ylabel="state $z_n$", ylim=(-28, 28))
        left.grid(visible=False)
        left.legend(loc="upper right")
        z, w = arrays["particles"]
        edges = np.linspace(-28, 28, 85)
        right.hist(z, edges, weights=w / (edges[1] - edges[0]), color="0.8", label="particles")
        right.plot(points, arrays["densities"][n], "-", color="C1", label="exact")
        top = arrays["densities"][n].max()
        for k, (name, label) in enumerate(_NAMES.items()):
            mean, sd = arrays[name][:, n]
            curve = np.exp(-0.5 * ((points - mean) / sd) ** 2) / (np.sqrt(2 * np.pi) * sd)
            right.plot(points, curve, ("--", "-.")[k], color=("C0", "C2")[k], label=label)
        right.set(xlabel=f"state $z_{{{n + 1}}}$", ylabel="filtered density")
        right.set(xlim=(-28, 28), ylim=(0, 1.7 * top))
        right.legend(loc="upper left")
        return figure

    def _draw_errors(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        rate = outcome.metrics["particle_error_rate"]
        label = f"particles: error as $L^{{{rate:.2f}}}$"
        ax.loglog(self.particles, outcome.arrays["errors"], "-o", color="C1", label=label)
        for k, (name, what) in enumerate(_NAMES.items()):
            level = outcome.metrics[f"median_error_{name}"]
            ax.axhline(level, linestyle=("--", "-.")[k], color=("C0", "C2")[k], label=what)
        ax.set(xlabel="particles $L$", ylabel="median error of the mean, to the exact filter")
        ax.legend(loc="center right")
        return figure


def _scores(gaussians: dict[str, Filtered], exact: GridFiltered, z: Floats) -> dict[str, float]:
    """Errors of the Gaussian filters: to the exact mean, to the state, and in nats a datum."""
    found = {}
    for name, passed in gaussians.items():
        mean = passed.filtered.mean[..., 0]
        found[f"rmse_to_exact_{name}"] = _rms(mean - exact.mean)
        found[f"median_error_{name}"] = float(np.median(np.abs(mean - exact.mean)))
        found[f"rmse_{name}"] = _rms(mean - z)
        found[f"nats_lost_a_datum_{name}"] = float(np.mean(exact.log_c - passed.log_c))
    return found


def _nats_from_gaussian(exact: GridFiltered) -> Floats:
    """The divergence of a belief from the Gaussian with its moments, shape (series, steps)."""
    return np.asarray(exact.log_score + 0.5 * np.log(2 * np.pi * np.e * exact.variance))


def _modes(exact: GridFiltered) -> Ints:
    """How many maxima a belief has that are at least a tenth of its highest."""
    p = exact.density
    inside = p[..., 1:-1]
    peak = (inside > p[..., :-2]) & (inside >= p[..., 2:])
    return np.asarray((peak & (inside > 0.1 * p.max(-1, keepdims=True))).sum(-1))


def _rms(e: Floats) -> float:
    return float(np.sqrt(np.mean(e**2)))
