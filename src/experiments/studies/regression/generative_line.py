"""A line as a generator: its errors, data drawn from it, one point's likelihood (FCML 2.1-2.7)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.drawing.labels import axis_names
from models.datasets import load
from models.probability.gaussian import log_density_1d
from models.regression.bias_variance import least_squares as fit_many
from models.regression.error_checks import correlation, curvature, rank_correlation
from models.regression.linear import least_squares, line
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = ("errors", "generated", "density")


@dataclass
class GenerativeLine(Study):
    """Could the fitted line, with Gaussian noise, have made the data? (FCML 2.1, 2.6 and 2.7)"""

    data: str = knob("olympics-100m-men", "the regression data", dataset=True)
    noise_variance: float = knob(0.05, "variance of the noise that is added", at_least=0)
    inputs: list[float] = knob(
        [], "inputs to generate at; those of the data if none", may_be_empty=True, distinct=True
    )
    repetitions: int = knob(1000, "data sets to generate", at_least=1, at_most=100_000)
    density_at: float = knob(1980.0, "an input of the data whose target's density is looked at")
    rounded_weights: list[float] = knob(
        [], "weights as printed: the density's mean with these as well", may_be_empty=True
    )
    show: str = knob("errors", "what to draw", choices=SHOWN)

    def problems(self) -> "Iterator[str]":
        x, _ = load(self.data).xt
        if len(np.unique(x)) < 4:
            yield f"study.data={self.data} has fewer than four inputs; the checks need four"
        if self.show == "density" and self.density_at not in x:
            yield f"study.density_at={self.density_at:g} is no input of {self.data}"
        if self.show == "density" and self.noise_variance == 0:
            yield "study.noise_variance=0 has no density; allowed with show=density: > 0"
        if 0 < len(self.inputs) < 3:
            yield f"study.inputs={self.inputs}; allowed: none, or three and more"
        if len(self.rounded_weights) not in (0, 2):
            yield f"study.rounded_weights={self.rounded_weights}; allowed: none, or 2"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        fit = least_squares(line(x), t)
        metrics: dict[str, Scalar] = _error_metrics(x, t, fit.residuals)
        new = np.array(self.inputs) if self.inputs else x
        mean = line(new) @ fit.w
        noise = rng.standard_normal((self.repetitions, len(new)))
        generated = mean + np.sqrt(self.noise_variance) * noise
        again = fit_many(line((new - new.mean()) / np.ptp(new)), generated).sigma2
        low, high = np.quantile(again, [0.025, 0.975])
        metrics |= {
            "noise_variance": fit.sigma2,
            "generated_noise_variance_mean": float(again.mean()),
            "generated_on_the_line": bool(np.max(np.abs(generated - mean)) < 1e-9),
            "generated_scatter_unlike_data": bool(not low <= fit.sigma2 <= high),
            "generated_scatter_like_data": bool(low <= fit.sigma2 <= high),
        }
        arrays = {"x": x, "t": t, "fitted": line(x) @ fit.w, "new": new, "mean": mean}
        arrays |= {"generated": generated[0], "generated_noise_variance": again}
        if self.noise_variance > 0 and self.density_at in x:
            found, curve = self._density(fit.w, float(t[x == self.density_at][0]))
            metrics, arrays = metrics | found, arrays | curve
        return Outcome(metrics, arrays=arrays)

    def _density(self, w: Floats, target: float) -> tuple[dict[str, Scalar], dict[str, Floats]]:
        """The density p(t | x) at one input, and the likelihood of the target seen there."""
        at = line(np.array([self.density_at]))[0]
        mean, sd = float(at @ w), np.sqrt(self.noise_variance)
        times = mean + np.linspace(-4, 4, 401) * sd
        density = np.exp(log_density_1d(times, mean, self.noise_variance))
        seen = float(np.exp(log_density_1d(np.array(target), mean, self.noise_variance)))
        metrics: dict[str, Scalar] = {
            "density_mean": mean,
            "most_likely_target": float(times[np.argmax(density)]),
            "target_seen": target,
            "likelihood_of_target": seen,
            "highest_density": float(density.max()),
            "target_less_likely_than_mean": bool(seen < density.max()),
        }
        if self.rounded_weights:
            metrics["rounded_density_mean"] = float(at @ np.array(self.rounded_weights))
        return metrics, {"times": times, "density": density}

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        arrays, names = outcome.arrays, axis_names(self.data)
        if self.show == "density":
            figure, ax = panels()
            self._draw_density(ax, outcome)
            ax.set(xlabel=names.t, ylabel=f"p(t | x = {self.density_at:g})")
            ax.legend(loc="upper right")
            return {"density": figure}
        if self.show == "errors":
            figure, ax = panels()
            ax.vlines(arrays["x"], arrays["fitted"], arrays["t"], color="C1", label="errors")
            ax.plot(arrays["x"], arrays["fitted"], label="line")
            ax.plot(arrays["x"], arrays["t"], "o", color="black", label="data")
            ax.set(xlabel=names.x, ylabel=names.t)
            ax.legend()
            return {"errors": figure}
        figure, axes = panels(1, 2, sharex=True, sharey=True)
        axes[0].plot(arrays["new"], arrays["mean"], label="line")
        axes[0].plot(arrays["new"], arrays["generated"], "o", color="C1", label="generated")
        axes[0].set_title(f"generated, noise variance {self.noise_variance:g}")
        axes[1].plot(arrays["x"], arrays["fitted"])
        axes[1].plot(arrays["x"], arrays["t"], "o", color="black")
        axes[1].set_title("data")
        for ax in axes:
            ax.set_xlabel(names.x)
        axes[0].set_ylabel(names.t)
        return {"generated": figure}

    def _draw_density(self, ax: "Axes", outcome: Outcome) -> None:
        metrics = outcome.metrics
        ax.plot(outcome.arrays["times"], outcome.arrays["density"])
        for name, mark, value, height in (
            ("most likely", "s", metrics["most_likely_target"], metrics["highest_density"]),
            ("the target seen", "o", metrics["target_seen"], metrics["likelihood_of_target"]),
        ):
            ax.vlines(value, 0, height, color="0.6", linewidth=1, linestyle=":")
            ax.plot(value, height, mark, label=f"{name}, {value:.2f}: density {height:.3f}")
        ax.set_ylim(0, 1.25 * metrics["highest_density"])


def _error_metrics(x: Floats, t: Floats, errors: Floats) -> dict[str, Scalar]:
    """Signs, sizes, and whether either follows the input."""
    direction, size = rank_correlation(x, errors), rank_correlation(x, np.abs(errors))
    bend = curvature(x, t)
    return {
        "errors_above": int((errors > 0).sum()),
        "errors_below": int((errors < 0).sum()),
        "errors_of_both_signs": bool(errors.min() < 0 < errors.max()),
        "error_sizes_all_differ": bool(np.min(np.diff(np.sort(np.abs(errors)))) > 0),
        "mean_error": float(errors.mean()),
        "error_rank_correlation": direction.statistic,
        "error_rank_p_value": direction.p_value,
        "error_size_rank_correlation": size.statistic,
        "error_size_rank_p_value": size.p_value,
        "error_size_p_value": correlation(x, np.abs(errors)).p_value,
        "curvature_p_value": bend.p_value,
    }
