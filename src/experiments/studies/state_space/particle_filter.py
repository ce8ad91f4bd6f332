"""The bootstrap particle filter of a one-dimensional state against the exact one (PRML 13.3.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator, default_rng

from experiments.contract.legacy import Outcome, Scalar, Table
from experiments.contract.study import Study, knob
from models.probability.gaussian import log_density_1d
from models.state_space.grid_filter import GridFiltered, grid_filter
from models.state_space.kalman import LDS, kalman_filter, simulate
from models.state_space.particle_filter import StateSpace, bootstrap_filter
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_GRID = 401  # points of the exact filter


@dataclass
class ParticleFilter(Study):
    """Particles for an autoregression seen through Gaussian or heavy-tailed noise (PRML 13.3.4)."""

    a: float = knob(0.9, "how much of the state a step keeps", above=-1, below=1)
    state_variance: float = knob(0.5, "variance of the state's noise", above=0)
    noise_variance: float = knob(0.5, "variance of the observations' noise", above=0)
    emissions: list[str] = knob(
        ["gaussian", "student"], "kinds of noise; Student's has three degrees of freedom",
        choices=("gaussian", "student"), distinct=True,
    )  # fmt: skip
    steps: int = knob(100, "length of a series", at_least=3, at_most=2000)
    series: int = knob(10, "series, each with a filter of its own", at_least=1, at_most=500)
    particles: list[int] = knob(
        [10, 100, 1000, 10_000], "sizes of the filter", at_least=2, at_most=100_000, distinct=True
    )
    shown_step: int = knob(20, "the step that the figure shows", at_least=1)
    shown_particles: int = knob(14, "particles in the figure", at_least=2, at_most=200)

    def problems(self) -> "Iterator[str]":
        if self.shown_step >= self.steps:
            yield f"study.shown_step={self.shown_step}; allowed: below study.steps={self.steps}"
        if self.particles != sorted(self.particles) or len(self.particles) < 2:
            yield f"study.particles={self.particles}; allowed: two or more, ascending"

    def run(self, rng: Generator) -> Outcome:
        metrics: dict[str, Scalar] = {}
        arrays: dict[str, Floats] = {}
        rows: Table = {"emission": [], "particles": [], "rmse_to_exact": []}
        off, low, high, ratio = [], [], [], []
        for kind in self.emissions:
            z, x = self._data(kind, rng)
            model, exact = self._model(kind, x), self._exact(kind, x)
            spread = float(np.sqrt(exact.variance.mean()))
            errors = []
            for L in self.particles:
                found = bootstrap_filter(model, self.steps, L, rng, size=(len(x),), threshold=1.0)
                errors.append(_rms(found.mean[..., 0] - exact.mean))
                fresh = np.exp(model.log_weight(self.steps - 1, found.z))
                fresh /= fresh.sum(-1, keepdims=True)  # 13.118
                ratio.append(float(np.abs(found.W / fresh - 1).max()))
                off.append(float(np.abs(found.W.sum(-1) - 1).max()))
                low.append(float(found.W.min()))
                high.append(float(found.W.max()))
            rate = float(np.polyfit(np.log(self.particles), np.log(errors), 1)[0])
            kalman = kalman_filter(self._lds(), x[..., np.newaxis]).filtered.mean[..., 0]
            metrics |= {
                f"rmse_to_exact_{kind}_{L}": e for L, e in zip(self.particles, errors, strict=True)
            }
            metrics |= {
                f"error_rate_{kind}": rate,
                f"largest_filter_error_in_sd_{kind}": errors[-1] / spread,
                f"kalman_rmse_to_exact_{kind}": _rms(kalman - exact.mean),
                f"kalman_rmse_{kind}": _rms(kalman - z),
                f"exact_rmse_{kind}": _rms(exact.mean - z),
                f"particle_rmse_{kind}": _rms(found.mean[..., 0] - z),
                f"particles_beat_kalman_{kind}": errors[-1] < _rms(kalman - exact.mean),
            }
            rows["emission"] += [kind] * len(errors)
            rows["particles"] += self.particles
            rows["rmse_to_exact"] += errors
            arrays[f"errors_{kind}"] = np.array(errors)
            if not arrays.keys() & {"points"}:
                arrays |= self._shown(model, exact, rng)
        metrics |= {
            "weights_sum_error": max(off),
            "weights_between_0_and_1": min(low) >= 0 and max(high) <= 1,
            "weights_are_likelihood_shares_error": max(ratio),
        }
        return Outcome(metrics, tables={"errors": rows}, arrays=arrays)

    def _lds(self) -> LDS:
        one = np.eye(1)
        V0 = self.state_variance / (1 - self.a**2) * one  # at rest
        Gamma, Sigma = self.state_variance * one, self.noise_variance * one
        return LDS(self.a * one, Gamma, one, Sigma, np.zeros(1), V0)

    def _data(self, kind: str, rng: Generator) -> tuple[Floats, Floats]:
        """States and observations, each (series, steps)."""
        z, x = (part[..., 0] for part in simulate(self._lds(), self.steps, rng, (self.series,)))
        if kind == "student":
            x = z + rng.standard_t(3, z.shape) * np.sqrt(self.noise_variance / 3)
        return z, x

    def _log_density(self, kind: str, e: Floats) -> Floats:
        """Of an observation's noise; Student's with three degrees of freedom and our variance."""
        if kind == "gaussian":
            return log_density_1d(e, 0.0, self.noise_variance)
        level = np.log(2 / (np.pi * np.sqrt(self.noise_variance)))
        return np.asarray(level - 2 * np.log1p(e**2 / self.noise_variance))

    def _model(self, kind: str, x: Floats) -> StateSpace:
        start, step = np.sqrt(self._lds().V0[0, 0]), np.sqrt(self.state_variance)
        return StateSpace(
            initial=lambda shape, rng: start * rng.standard_normal((*shape, 1)),
            propagate=lambda n, z, rng: self.a * z + step * rng.standard_normal(z.shape),
            log_weight=lambda n, z: self._log_density(kind, x[..., n, np.newaxis] - z[..., 0]),
        )

    def _exact(self, kind: str, x: Floats) -> GridFiltered:
        wide = 6.5 * np.sqrt(self._lds().V0[0, 0])
        points = np.linspace(-wide, wide, _GRID)
        return grid_filter(
            points,
            prior=np.exp(log_density_1d(points, 0.0, self._lds().V0[0, 0])),
            transition=lambda n, z, before: np.exp(
                log_density_1d(z, self.a * before, self.state_variance)
            ),
            log_weight=self._model(kind, x).log_weight,
            n_steps=self.steps,
        )

    def _shown(self, model: StateSpace, exact: GridFiltered, rng: Generator) -> dict[str, Floats]:
        """One step of a small filter on the first series, from the same stream twice."""
        seed, n = int(rng.integers(2**32)), self.shown_step
        size, L = exact.density.shape[:1], self.shown_particles
        before, after = (
            bootstrap_filter(model, count, L, default_rng(seed), size=size, threshold=1.0)
            for count in (n, n + 1)
        )
        points = exact.points
        each = np.exp(log_density_1d(points, self.a * before.z[0], self.state_variance))
        return {
            "points": points,
            "posterior_before": exact.density[0, n - 1],
            "mixture": before.W[0] @ each,  # 13.119
            "likelihood": np.exp(model.log_weight(n, points[:, np.newaxis])[0]),
            "posterior_after": exact.density[0, n],
            "particles_before": np.stack([before.z[0, :, 0], before.W[0]]),
            "particles_after": np.stack([after.z[0, :, 0], after.W[0]]),
        }

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        return {"step": self._draw_step(outcome), "errors": self._draw_errors(outcome)}

    def _draw_step(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        arrays, n = outcome.arrays, self.shown_step
        points = arrays["points"]
        (z0, w0), (z1, w1) = arrays["particles_before"], arrays["particles_after"]
        even = np.full(len(z1), 1 / len(z1))
        rows = [
            ("posterior_before", f"$p(z_{{{n}}} | X_{{{n}}})$", z0, w0, "weights"),
            ("mixture", f"$p(z_{{{n + 1}}} | X_{{{n}}})$, (13.119)", z1, even, "samples"),
            ("likelihood", f"$p(x_{{{n + 1}}} | z_{{{n + 1}}})$", z1, w1, "new weights"),
            ("posterior_after", f"$p(z_{{{n + 1}}} | X_{{{n + 1}}})$", z1, w1, "new weights"),
        ]
        figure, axes = panels(4, 1, sharex=True)
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, 0.5 * height)
        for k, (ax, (name, label, z, w, dots)) in enumerate(zip(axes, rows, strict=True)):
            curve = arrays[name] / arrays[name].max()
            ax.fill_between(points, 0, curve, color=f"C{k % 2}", alpha=0.18, linewidth=0)
            ax.plot(points, curve, "-", color=f"C{k % 2}")
            ax.scatter(
                z,
                np.full(len(z), -0.3),
                s=10.25 * width**2 * w,
                color="C2",
                alpha=0.55,
                linewidths=0,
            )
            ax.text(0.01, 0.95, label, transform=ax.transAxes, va="top", fontsize="small")
            ax.text(0.99, 0.04, dots, transform=ax.transAxes, ha="right", fontsize="small")
            ax.set(ylim=(-0.62, 1.1), yticks=[])
            ax.spines["left"].set_visible(False)
        seen = np.concatenate([z0, z1])
        margin = 0.35 * np.ptp(seen)
        axes[-1].set(xlim=(seen.min() - margin, seen.max() + margin), xlabel="state $z$")
        return figure

    def _draw_errors(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        names = {"gaussian": "Gaussian noise", "student": "Student noise"}
        for k, kind in enumerate(self.emissions):
            errors = outcome.arrays[f"errors_{kind}"]
            rate = outcome.metrics[f"error_rate_{kind}"]
            label = f"{names[kind]}: error as $L^{{{rate:.2f}}}$"
            ax.loglog(self.particles, errors, "-", marker="os"[k], color=f"C{k}", label=label)
            missing = outcome.metrics[f"kalman_rmse_to_exact_{kind}"]
            if missing > errors.min() / 10:
                ax.axhline(missing, color=f"C{k}", linestyle="--", linewidth=1)
                where = {"x": self.particles[-1], "y": missing * 1.06, "ha": "right"}
                ax.text(s=f"Kalman filter, {names[kind]}", fontsize="small", **where)
        ax.set(xlabel="particles $L$", ylabel="r.m.s. error of the mean, to the exact filter")
        ax.legend(loc="lower left")
        return figure


def _rms(e: Floats) -> float:
    return float(np.sqrt(np.mean(e**2)))
