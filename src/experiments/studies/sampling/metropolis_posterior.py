"""The posterior of a regression by Metropolis-Hastings, beside its Laplace approximation."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from experiments.drawing.clusters import grid
from experiments.studies.regression.regression_posterior import (
    RegressionPosterior,
    derivatives_agree,
    draw_classes,
    draw_lines,
    draw_probability,
    mode_and_laplace,
    plane,
)
from models.approximation.laplace import Laplace, expected_sigmoid
from models.classification.logistic import Posterior, log_g, newton_raphson, predict
from models.probability.gaussian import log_density
from models.sampling.metropolis import kernel_density, sample, scale_reduction
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_SHOWN = ("samples", "marginals", "trace", "predictive")
_KEEP = 1000  # samples of the first chain that figures show


@dataclass
class MetropolisPosterior(RegressionPosterior, Study):
    """Samples of a regression posterior, and what they predict (FCML 4.5.2, EX 4.6-4.8)."""

    samples: int = knob(10_000, "samples of a chain", at_least=100, at_most=100_000)
    chains: int = knob(20, "chains, each from a draw of the prior", at_least=2, at_most=1000)
    step_variance: float = knob(0.5, "variance of the proposal in each direction", above=0)
    burn_in: int = knob(0, "samples at the beginning that do not count", at_least=0)
    boundaries: int = knob(20, "boundaries to draw", at_least=1, at_most=1000)
    new: list[float] = knob([-3.0, 5.0], "attributes of a new object")
    show: list[str] = knob(["samples"], "what to draw", choices=_SHOWN, distinct=True)

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if self.dimension != 2:
            yield f"the model has {self.dimension} weights; allowed: 2"
        elif len(self.new) != 2:
            yield f"study.new={self.new}; allowed: 2 numbers"
        if self.burn_in > self.samples // 2:
            yield f"study.burn_in={self.burn_in}; allowed: <= {self.samples // 2}, half the samples"
        if self.samples * self.chains > 5_000_000:
            yield "study.samples times study.chains; allowed: <= 5000000"
        if self.response != "binary" and "predictive" in self.show:
            yield "study.show=predictive needs study.response=binary"

    def run(self, rng: Generator) -> Outcome:
        posterior = self.posterior(rng)
        laplace = mode_and_laplace(posterior)
        starts = np.sqrt(self.sigma2) * rng.standard_normal((self.chains, 2))
        chains = sample(
            lambda w: log_g(posterior, w),
            starts,
            self.samples,
            self.step_variance * np.eye(2),
            rng,
        )
        w = chains.w[self.burn_in :]  # (S, C, 2)
        halves = w[len(w) // 2 :].mean(0) - w[: len(w) // 2].mean(0)
        pooled = w.reshape(-1, 2)
        mean, sd = pooled.mean(0), pooled.std(0)
        laplace_sd = np.sqrt(np.diag(laplace.covariance))
        R = scale_reduction(w)
        climb = newton_raphson(posterior, np.zeros((1, 2)))
        metrics: dict[str, Any] = {
            "acceptance": chains.accepted.mean(),
            "newton_iterations": int(climb.steps[0]),
            "derivatives_agree": derivatives_agree(posterior, climb.path[:, 0]),
            "largest_scale_reduction": R.max(),
            "largest_trend": np.abs(halves.mean(0) / sd).max(),
            "largest_mean_gap_in_sd": np.abs((mean - laplace.mean) / laplace_sd).max(),
            "largest_sd_ratio_gap": np.abs(sd / laplace_sd - 1).max(),
        }
        for i in (0, 1):
            metrics |= {
                f"mean_{i + 1}": mean[i],
                f"sd_{i + 1}": sd[i],
                f"laplace_mean_{i + 1}": laplace.mean[i],
                f"laplace_sd_{i + 1}": laplace_sd[i],
                f"scale_reduction_{i + 1}": R[i],
            }
        arrays = {
            "first": chains.w[:, 0],
            "mean_draws": w.mean(0),
            "X": posterior.X,
            "t": posterior.t,
        }
        arrays |= _contours(posterior, laplace, pooled)
        if self.response == "binary":
            found, kept = self._predictions(posterior, laplace, w)
            metrics |= found
            arrays |= kept | {"lines": rng.choice(w[:, 0], self.boundaries)}
        return Outcome(metrics, arrays=arrays)

    def _predictions(
        self, posterior: Posterior, laplace: Laplace, w: Floats
    ) -> tuple[dict[str, Any], dict[str, Floats]]:
        """P(T = 1) by the samples, by Laplace and by the point estimate, over the plane."""
        axis, points = plane()
        thin = w[:: max(1, w.shape[0] * w.shape[1] // 4000)].reshape(-1, 2)
        sampled = predict(thin, points)
        spread = np.einsum("pi,ij,pj->p", points, laplace.covariance, points)
        averaged = expected_sigmoid(points @ laplace.mean, spread)
        point = predict(laplace.mean[None], points)
        new = np.array([self.new])
        each = np.array([predict(w[:, c], new)[0] for c in range(w.shape[1])])
        upper = averaged > 0.55  # the squares' side
        metrics = {
            "probability_at_new": float(each.mean()),
            "laplace_probability_at_new": float(
                expected_sigmoid(new @ laplace.mean, np.diag(new @ laplace.covariance @ new.T))[0]
            ),
            "point_probability_at_new": float(predict(laplace.mean[None], new)[0]),
            "difference_from_laplace": float(np.abs(sampled - averaged).mean()),
            "difference_from_point": float(np.abs(sampled - point).mean()),
            "share_where_probability_is_above_laplace": float((sampled > averaged)[upper].mean()),
        }
        metrics["nearer_laplace_than_point"] = (
            metrics["difference_from_laplace"] < metrics["difference_from_point"]
        )
        metrics["falls_more_slowly_than_laplace"] = (
            metrics["probability_at_new"] > metrics["laplace_probability_at_new"]
        )
        return metrics, {"axis": axis, "P": sampled, "probability_draws": each}

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        draws = {
            "samples": self._samples,
            "marginals": self._marginals,
            "trace": self._trace,
            "predictive": self._predictive,
        }
        return {name: draws[name](outcome) for name in self.show}

    def _samples(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        figure, ax = panels()
        first = arrays["first"][self.burn_in :]
        ax.plot(
            *first[:: max(1, len(first) // _KEEP)].T,
            ".",
            color="C0",
            markersize=2.5,
            label="samples",
        )
        levels = [-8.0, -4.5, -2.0, -0.5]
        for name, colour, dash, label in (
            ("log_g", "black", "solid", "posterior"),
            ("log_q", "C1", "dashed", "Laplace"),
        ):
            values = arrays[name] - arrays[name].max()
            ax.contour(
                arrays["w1"], arrays["w2"], values, levels=levels, colors=colour, linestyles=dash
            )
            ax.plot([], [], color=colour, linestyle=dash, label=label)
        ax.set(
            xlabel="$w_1$", ylabel="$w_2$", xlim=arrays["w1"][[0, -1]], ylim=arrays["w2"][[0, -1]]
        )
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return figure

    def _marginals(self, outcome: Outcome) -> "Figure":
        arrays = outcome.arrays
        figure, axes = grid(1, 2, 0.75)
        first = arrays["first"][self.burn_in :]
        bins = np.linspace(first.min(), first.max(), 21)
        axes[0, 0].hist(list(first.T), bins=list(bins), label=["$w_1$", "$w_2$"])
        axes[0, 0].set(xlabel="weight", ylabel="samples")
        for i, dash in ((0, "-"), (1, "--")):
            axes[0, 1].plot(
                arrays["w"], arrays["kernel_density"][i], dash, color=f"C{i}", label=f"$w_{i + 1}$"
            )
        axes[0, 1].set(xlabel="weight", ylabel="density", ylim=(0, None))
        for ax in axes[0]:
            ax.legend(loc="upper right")
        return figure

    def _trace(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        ax.plot(outcome.arrays["first"][:, 0], linewidth=0.4)
        ax.set(xlabel="sample s", ylabel="$w_1$")
        return figure

    def _predictive(self, outcome: Outcome) -> "Figure":
        arrays = outcome.arrays
        figure, axes = grid(1, 2, 1.02)
        draw_probability(axes[0, 0], arrays["axis"], arrays["P"])
        draw_lines(axes[0, 1], arrays["lines"], color="0.45", linewidth=0.8)
        for ax in axes[0]:
            draw_classes(ax, arrays["X"], arrays["t"])
            ax.plot(*self.new, "*", color="black", markersize=9, clip_on=False, label="new object")
        axes[0, 0].set_title("P(T = 1 | x), averaged over samples")
        axes[0, 1].set_title(f"boundaries of {len(arrays['lines'])} samples")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return figure


def _contours(posterior: Posterior, laplace: Laplace, pooled: Floats) -> dict[str, Floats]:
    """Both log densities where samples lie, and kernel estimates of the marginals."""
    low, high = np.quantile(pooled, [0.0005, 0.9995], axis=0)
    low, high = low - (high - low) / 5, high + (high - low) / 5
    w1, w2 = np.linspace(low, high, 81).T
    where = np.stack(np.meshgrid(w1, w2), axis=-1)
    w = np.linspace(low.min(), high.max(), 200)
    thin = pooled[:: max(1, len(pooled) // 2000)]
    return {
        "w1": w1,
        "w2": w2,
        "log_g": log_g(posterior, where),
        "log_q": log_density(where, laplace.mean, laplace.covariance),
        "w": w,
        "kernel_density": np.array([kernel_density(column, w) for column in thin.T]),
    }
