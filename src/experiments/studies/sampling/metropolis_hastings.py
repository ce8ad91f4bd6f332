"""Metropolis-Hastings on a Gaussian: its samples, its beginning, its convergence (FCML 4.5.2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Series
from experiments.contract.study import Study, knob
from experiments.drawing.clusters import grid
from models.sampling.metropolis import Chains, first_inside, mixture, sample, scale_reduction
from models.sampling.monte_carlo import running_mean
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHOWN = ("steps", "convergence")
_REGION = 2 * np.log(20)  # squared distance from the mean within which 95 % lie, in the plane


@dataclass
class MetropolisHastings(Study):
    """Random-walk chains on a Gaussian in the plane, from starts all around it (FCML 4.5.2)."""

    mean: list[float] = knob([1.0, 1.0], "mean of the target")
    covariance: list[float] = knob([3.0, 0.4, 3.0], "its variance, covariance, variance")
    step_variance: float = knob(1.0, "variance of the proposal in each direction", above=0)
    samples: int = knob(10_000, "samples of a chain", at_least=20, at_most=100_000)
    chains: int = knob(100, "chains", at_least=2, at_most=2000)
    start_distance: float = knob(
        2.5, "starts lie this many standard deviations from the mean, in all directions", at_least=0
    )
    early: int = knob(10, "first samples among which rejections are counted", at_least=2)
    accepted: int = knob(300, "accepted samples to draw", at_least=1)
    look_at: list[int] = knob([10, 100, 1000, 10_000], "chain lengths to report", at_least=4)
    show: list[str] = knob(["steps"], "what to draw", choices=_SHOWN, distinct=True)

    def problems(self) -> "Iterator[str]":
        if len(self.mean) != 2:
            yield f"study.mean={self.mean}; allowed: two numbers"
        a, b, c = self.covariance if len(self.covariance) == 3 else (0.0, 0.0, 0.0)
        if not (a > 0 and a * c > b**2):
            yield f"study.covariance={self.covariance}; allowed: three numbers, positive definite"
        for name, size in (("look_at", max(self.look_at)), ("early", self.early)):
            if size > self.samples:
                yield f"study.{name}: {size}; allowed: <= {self.samples}, the samples of a chain"
        if self.samples * self.chains > 5_000_000:
            yield "study.samples times study.chains; allowed: <= 5000000"

    def run(self, rng: Generator) -> Outcome:
        a, b, c = self.covariance
        mean, S = np.array(self.mean), np.array([[a, b], [b, c]])
        L = np.linalg.cholesky(S)
        turn = 2 * np.pi * np.arange(self.chains) / self.chains + np.pi / 4
        circle = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
        starts = mean + self.start_distance * circle @ L.T
        target = mixture(np.ones(1), mean[None], S[None])
        chains = sample(target, starts, self.samples, self.step_variance * np.eye(2), rng)
        w = chains.w
        distance = (np.linalg.solve(L, (w - mean).reshape(-1, 2).T) ** 2).sum(0)
        burn_in = first_inside(distance.reshape(w.shape[:2]) <= _REGION)
        means, covariances = w.mean(0), np.einsum("sci,scj->cij", w, w) / len(w)
        covariances -= means[:, :, None] * means[:, None, :]
        gaps = np.abs(means - mean) / np.sqrt([a, c])
        metrics: dict[str, Any] = {
            "acceptance": chains.accepted.mean(),
            "mean_burn_in": burn_in.mean(),
            "largest_mean_gap_in_sd": gaps.max(),
            "share_within_half_sd_of_centre": (distance <= 0.25).mean(),
            "density_at_samples_falls_outward": bool(np.all(np.diff(_density(distance)) < 0)),
            "uphill_always_accepted": bool(np.all(chains.accepted[_uphill(target, chains)])),
        }
        sizes = np.unique([*np.geomspace(4, self.samples, 40).round().astype(int), *self.look_at])
        R = np.array([scale_reduction(w[:n]).max() for n in sizes])
        variances = np.array([w[:n].var(0) for n in self.look_at]) / [a, c]  # (L, C, 2)
        for n, ratio in zip(self.look_at, variances, strict=True):
            metrics[f"scale_reduction_{n}"] = R[sizes == n][0]
            metrics[f"spread_of_means_{n}"] = (w[:n].mean(0) / np.sqrt([a, c])).std(0).max()
            metrics[f"spread_of_variances_{n}"] = ratio.std(0).max()
        arrays = {
            "mean_1": means[:, 0],
            "mean_2": means[:, 1],
            "covariance_11": covariances[:, 0, 0],
            "covariance_12": covariances[:, 0, 1],
            "covariance_22": covariances[:, 1, 1],
            "early_rejections": (~chains.accepted[: self.early - 1]).sum(0),
            "burn_in": burn_in,
            **self._shown(chains, mean, L, sizes),
        }
        return Outcome(metrics, {"scale_reduction": Series(sizes.tolist(), R.tolist())}, {}, arrays)

    def _shown(self, chains: Chains, mean: Floats, L: Floats, sizes: Ints) -> dict[str, Floats]:
        """The beginning of the first chain, its first accepted samples, and the contours."""
        first = chains.w[1:, 0][chains.accepted[:, 0]][: self.accepted]
        turn = np.linspace(0, 2 * np.pi, 120)
        circle = np.stack([np.cos(turn), np.sin(turn)], axis=-1) @ L.T
        rings = np.array([mean + r * circle for r in (0.5, 1.0, 1.5, 2.0, 2.5)])
        few = chains.w[:, :: -(-self.chains // 5), 0].T  # five chains, far apart at the start
        return {
            "early": chains.w[: self.early, 0],
            "early_proposed": chains.proposed[: self.early - 1, 0],
            "early_accepted": chains.accepted[: self.early - 1, 0],
            "first_accepted": first,
            "rings": rings,
            "running_mean": running_mean(few)[:, sizes - 1].T,
        }

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        draws = {"steps": self._steps, "convergence": self._convergence}
        return {name: draws[name](outcome) for name in self.show}

    def _steps(self, outcome: Outcome) -> "Figure":
        arrays = outcome.arrays
        figure, axes = grid(2, 2, 0.85, sharex=True, sharey=True)
        counts = sorted({1, min(3, self.early), self.early})
        for ax, upto in zip(axes.flat, counts, strict=False):
            _walk(ax, arrays, upto)
            ax.set_title(f"{upto} sample{'s' if upto > 1 else ''}")
        last = axes.flat[len(counts)]
        last.plot(*arrays["first_accepted"].T, ".", color="C0", markersize=3)
        last.set_title(f"first {len(arrays['first_accepted'])} accepted samples")
        for ax in axes.flat[: len(counts) + 1]:
            for ring in arrays["rings"]:
                ax.plot(*ring.T, color="0.7", linewidth=0.8, zorder=0)
        for ax in axes.flat[len(counts) + 1 :]:
            ax.set_axis_off()
        for ax in axes[-1]:
            ax.set_xlabel("$w_1$")
        for ax in axes[:, 0]:
            ax.set_ylabel("$w_2$")
        axes[0, 0].plot([], [], "o-", color="C0", label="accepted")
        axes[0, 0].plot([], [], "x--", color="C1", label="rejected")
        axes[0, 0].plot([], [], color="0.7", label="density contours")
        figure.legend(loc="outside lower center", ncols=3)
        return figure

    def _convergence(self, outcome: Outcome) -> "Figure":
        arrays = outcome.arrays
        figure, axes = grid(1, 2, 0.8)
        steps = outcome.series["scale_reduction"].steps
        axes[0, 0].plot(steps, arrays["running_mean"], linewidth=1)
        axes[0, 0].axhline(self.mean[0], color="black", linestyle="--", linewidth=1)
        axes[0, 0].set(ylabel="mean of $w_1$ so far", title="chains from different starts")
        axes[0, 1].plot(*outcome.series["scale_reduction"], "o-", markersize=3)
        axes[0, 1].axhline(1, color="black", linestyle="--", linewidth=1)
        axes[0, 1].set(ylabel="potential scale reduction R", title=f"{self.chains} chains")
        for ax in axes[0]:
            ax.set(xscale="log", xlabel="samples of a chain")
        return figure


def _walk(ax: "Axes", arrays: Any, upto: int) -> None:
    """The first samples, with every proposal that led to them or was refused."""
    w, proposed, accepted = (arrays[f"early{s}"] for s in ("", "_proposed", "_accepted"))
    ax.plot(*w[:1].T, "o", color="C0", markersize=4)
    for s in range(upto - 1):
        look: Any = (
            {"color": "C0", "marker": "o"} if accepted[s] else {"color": "C1", "marker": "x"}
        )
        dash = "-" if accepted[s] else "--"
        ends = np.stack([w[s], proposed[s]], axis=-1)
        ax.plot(*ends, linestyle=dash, linewidth=1.2, markersize=4, markevery=[1], **look)


def _uphill(target: Any, chains: Chains) -> Any:
    return target(chains.proposed) >= target(chains.w[:-1])


def _density(distance: Floats) -> Floats:
    """Samples per area in rings of growing squared distance (equal areas in the plane)."""
    return np.histogram(distance, bins=np.linspace(0, 8, 9))[0].astype(np.float64)
