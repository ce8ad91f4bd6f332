"""How many Gaussians an exact belief has, where emission or start are mixtures (PRML 13.3.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series, Table
from experiments.contract.study import Study, knob
from models.state_space.gaussian_sum import (
    Belief,
    Emission,
    collapse,
    density,
    distinct,
    gaussian_sum_filter,
    moments,
    predict,
)
from models.state_space.kalman import LDS, simulate
from models.state_space.particle_filter import StateSpace, bootstrap_filter
from models.types import Bools, Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_MOST = 20_000  # components


@dataclass
class MixtureGrowth(Study):
    """An autoregression seen through noise that is a mixture of Gaussians (PRML 13.3.3)."""

    a: float = knob(0.9, "how much of the state a step keeps", above=-1, below=1)
    state_variance: float = knob(0.5, "variance of the state's noise", above=0)
    weights: list[float] = knob([0.8, 0.2], "of the emission's K components", above=0)
    variances: list[float] = knob([0.25, 9.0], "of the emission's K components", above=0)
    start_means: list[float] = knob([-4.0, 0.0, 4.0], "of a mixture for the first state")
    steps: int = knob(10, "length of a series", at_least=2, at_most=1000)
    series: int = knob(20, "series, on which approximations are compared", at_least=1, at_most=200)
    particles: int = knob(1000, "of the sampling filter", at_least=2, at_most=100_000)

    def problems(self) -> "Iterator[str]":
        K, many = len(self.weights), _MOST
        if len(self.variances) != K or K < 2:
            yield f"study.variances={self.variances}; allowed: two or more, one for each weight"
        if abs(sum(self.weights) - 1) > 1e-9:
            yield f"study.weights={self.weights}; allowed: a sum of 1"
        if K**self.steps > many:
            yield f"study.steps={self.steps}: {K}^{self.steps} components; allowed: {many} at most"

    def run(self, rng: Generator) -> Outcome:
        lds, mixed = self._lds(), self._emission()
        one = Emission(np.ones(1), lds.C[np.newaxis], lds.Sigma[np.newaxis])  # the same variance
        start = Belief(np.zeros(1), lds.mu0[np.newaxis], lds.V0[np.newaxis])
        x, seen = self._data(rng)
        exact = [gaussian_sum_filter(start, lds.A, lds.Gamma, mixed, row).filtered for row in x]
        means = _means(exact)
        J = len(self.start_means)
        many = Belief(
            np.full(J, -np.log(J)), np.array([self.start_means]).T, np.tile(lds.V0, (J, 1, 1))
        )
        after_gaussian = predict(
            gaussian_sum_filter(start, lds.A, lds.Gamma, one, x[0, :1]).filtered[0],
            lds.A,
            lds.Gamma,
        )
        counts = {  # of Gaussians that differ
            "mixture_emission": _counts(start, lds, mixed, x[0]),
            "gaussian_first": [1, *_counts(after_gaussian, lds, mixed, x[0, 1:])],
            "mixture_start": _counts(many, lds, one, x[0]),
            "gaussian": _counts(start, lds, one, x[0]),
        }
        found = bootstrap_filter(
            self._state_space(x), self.steps, self.particles, rng, size=(self.series,)
        )
        collapsed = [
            gaussian_sum_filter(start, lds.A, lds.Gamma, mixed, row, collapse).filtered for row in x
        ]
        kalman = [gaussian_sum_filter(start, lds.A, lds.Gamma, one, row).filtered for row in x]
        errors = {
            "particles": _rms(found.mean[..., 0] - means),
            "collapsed": _rms(_means(collapsed) - means),
            "kalman": _rms(_means(kalman) - means),
        }
        last = [np.sort(np.exp(beliefs[-1].log_w))[::-1] for beliefs in exact]
        metrics = self._metrics(counts) | {
            **{f"rmse_to_exact_{name}": error for name, error in errors.items()},
            "particles_beat_kalman": errors["particles"] < errors["kalman"] / 2,
            "collapsed_beats_kalman": errors["collapsed"] < errors["kalman"] / 2,
            "outliers_in_shown_series": int(seen[0].sum()),
            "components_with_99_percent": float(
                np.median([np.searchsorted(np.cumsum(w), 0.99) + 1 for w in last])
            ),
        }
        z = means[0, -1] + np.linspace(-3.5, 3.5, 301)
        arrays = {
            "z": z,
            "exact": density(exact[0][-1], z),
            "collapsed": density(collapse(exact[0][-1]), z),
            "particles": np.stack([found.z[0, :, 0], found.W[0]]),
        }
        steps = list(range(1, self.steps + 1))
        table: Table = {"step": steps, **counts}
        series = {
            f"components_{name}": Series(steps, [float(c) for c in count])
            for name, count in counts.items()
        }
        return Outcome(metrics, series, {"components": table}, arrays)

    def _metrics(self, counts: dict[str, list[int]]) -> dict[str, Scalar]:
        K, n = len(self.weights), np.arange(1, self.steps + 1)
        return {
            "components_at_end": counts["mixture_emission"][-1],
            "first_has_k": counts["mixture_emission"][0] == K,
            "second_has_k_squared": counts["mixture_emission"][1] == K**2,
            "grows_as_power_of_k": counts["mixture_emission"] == (K**n).tolist(),
            "one_step_later_after_gaussian": counts["gaussian_first"] == (K ** (n - 1)).tolist(),
            "mixture_start_keeps_its_number": set(counts["mixture_start"])
            == {len(set(self.start_means))},
            "gaussian_stays_one": set(counts["gaussian"]) == {1},
        }

    def _lds(self) -> LDS:
        """The linear system whose noise has the mixture's variance."""
        one = np.eye(1)
        variance = float(np.dot(self.weights, self.variances))
        V0 = self.state_variance / (1 - self.a**2) * one  # at rest
        return LDS(self.a * one, self.state_variance * one, one, variance * one, np.zeros(1), V0)

    def _emission(self) -> Emission:
        K = len(self.weights)
        return Emission(
            np.array(self.weights), np.ones((K, 1, 1)), np.array(self.variances).reshape(K, 1, 1)
        )

    def _data(self, rng: Generator) -> tuple[Floats, Bools]:
        """Observations (series, steps, 1), and where they have the widest noise."""
        z, _ = simulate(self._lds(), self.steps, rng, (self.series,))
        k = rng.choice(len(self.weights), p=self.weights, size=z.shape)
        x = z + np.sqrt(np.array(self.variances))[k] * rng.standard_normal(z.shape)
        return x, k[..., 0] == np.argmax(self.variances)

    def _state_space(self, x: Floats) -> StateSpace:
        lds, (pi, _, Sigma) = self._lds(), self._emission()
        start, step, v = np.sqrt(lds.V0[0, 0]), np.sqrt(self.state_variance), Sigma[:, 0, 0]

        def log_weight(n: int, z: Floats) -> Floats:
            e = x[:, n, :, np.newaxis] - z  # (series, L, 1)
            return np.asarray(
                np.log((pi / np.sqrt(2 * np.pi * v) * np.exp(-0.5 * e**2 / v)).sum(-1))
            )

        return StateSpace(
            lambda shape, rng: start * rng.standard_normal((*shape, 1)),
            lambda n, z, rng: self.a * z + step * rng.standard_normal(z.shape),
            log_weight,
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, (left, right) = panels(1, 2)
        table, arrays = outcome.tables["components"], outcome.arrays
        K = len(self.weights)
        looks = {
            "mixture_emission": (f"emission of {K} Gaussians", "C1", "o"),
            "mixture_start": (f"start of {len(self.start_means)} Gaussians", "C0", "s"),
            "gaussian": ("all Gaussian", "C2", "^"),
        }
        for name, (label, colour, mark) in looks.items():
            left.semilogy(table["step"], table[name], "-", marker=mark, color=colour, label=label)
        left.set(xlabel="step $n$", ylabel="Gaussians in the exact belief")
        left.legend(loc="upper left")
        z, w = arrays["particles"]
        edges = np.linspace(arrays["z"][0], arrays["z"][-1], 36)
        right.hist(z, edges, weights=w / (edges[1] - edges[0]), color="0.8", label="particles")
        right.plot(arrays["z"], arrays["exact"], "-", color="C1", label="exact")
        right.plot(arrays["z"], arrays["collapsed"], "--", color="C0", label="one Gaussian")
        right.set(xlabel=f"state $z_{{{self.steps}}}$", ylabel="posterior density")
        right.set_ylim(top=1.35 * max(arrays["exact"].max(), arrays["collapsed"].max()))
        right.legend(loc="upper left")
        return {"growth": figure}


def _counts(start: Belief, lds: LDS, emission: Emission, x: Floats) -> list[int]:
    """How many different Gaussians the exact belief has after each datum."""
    sums = gaussian_sum_filter(start, lds.A, lds.Gamma, emission, x)
    return [distinct(belief) for belief in sums.filtered]


def _means(filtered: list[list[Belief]]) -> Floats:
    """The means of beliefs, shape (series, steps)."""
    return np.array([[moments(belief).mean[0] for belief in beliefs] for beliefs in filtered])


def _rms(e: Floats) -> float:
    return float(np.sqrt(np.mean(e**2)))
