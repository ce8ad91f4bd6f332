"""A straight line with a Gaussian belief about its weights, and about its noise (FCML 3.7)."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from experiments.contract.legacy import Outcome, Scalar, Table
from experiments.contract.study import Study, knob
from experiments.drawing.clusters import grid, spare
from experiments.drawing.labels import axis_names
from models.datasets import load
from models.regression.bayesian_regression import (
    InverseGamma,
    Posterior,
    noise_posterior,
    posterior,
    predictive,
)
from models.regression.linear import least_squares, line
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_SHOWN = ("data", "posterior", "lines", "predictive")


@dataclass
class ScaledLine:
    """Knobs of a line through a data set, its inputs moved and scaled. A base for studies."""

    data: str = knob("olympics-100m-men", "the regression data", dataset=True)
    shift: float = knob(1896.0, "inputs enter as (x - shift) / scale")
    scale: float = knob(4.0, "inputs enter as (x - shift) / scale", above=0)

    def design(self, x: Floats | list[float]) -> Floats:
        """Columns 1 and the scaled input."""
        return line((np.asarray(x, dtype=np.float64) - self.shift) / self.scale)

    @property
    def unit(self) -> str:
        """The unit of the targets, and of both weights since scaled inputs have none: ` (s)`."""
        name = axis_names(self.data).t
        return name[name.index(" (") :] if " (" in name else ""

    @property
    def input_name(self) -> str:
        """The label of the scaled input."""
        return f"({axis_names(self.data).x.lower()} - {self.shift:g}) / {self.scale:g}"


@dataclass
class BayesianLine(ScaledLine, Study):
    """The posterior of intercept and slope as data arrive, lines drawn from it, predictions."""

    prior_mean: list[float] = knob([0.0, 0.0], "prior mean of intercept and slope")
    prior_variances: list[float] = knob([100.0, 5.0], "their prior variances", above=0)
    sigma2: float = knob(10.0, "variance of the noise, known to the model", above=0)
    observed: list[int] = knob([0], "how many of the data are seen", at_least=0)
    samples: int = knob(10, "lines to draw from each belief", at_least=1, at_most=200)
    predict_at: list[float] = knob([], "inputs to predict at", may_be_empty=True, distinct=True)
    threshold: float | None = knob(None, "report the chance of a target below this")
    show: list[str] = knob(["posterior", "lines"], "what to draw", choices=_SHOWN, distinct=True)

    def problems(self) -> "Iterator[str]":
        for name in ("prior_mean", "prior_variances"):
            if len(getattr(self, name)) != 2:
                yield f"study.{name}={getattr(self, name)}; allowed: two numbers"
        n = len(load(self.data).matrix)
        if self.observed != sorted(set(self.observed)) or self.observed[-1] > n:
            yield f"study.observed={self.observed}; allowed: ascending, at most {n}"
        if "predictive" in self.show and not self.predict_at:
            yield "study.show=predictive needs study.predict_at"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        Phi, mu_0 = self.design(x), np.array(self.prior_mean)
        Sigma_0 = np.diag(self.prior_variances)
        beliefs = [
            posterior(Phi[:n], t[:n], self.sigma2, mu_0, Sigma_0) if n else Posterior(mu_0, Sigma_0)
            for n in self.observed
        ]
        rows: dict[str, list[float]] = {}
        for belief in beliefs:
            for name, value in self._report(belief, Phi, t).items():
                rows.setdefault(name, []).append(float(value))
        metrics: dict[str, Scalar] = {
            f"{name}_n_{n}": value
            for name, values in rows.items()
            for n, value in zip(self.observed, values, strict=True)
        }
        metrics |= {
            "first_input": Phi[0, 1],
            "second_input": Phi[1, 1],
            "noise_variance": least_squares(Phi, t).sigma2,
            "posterior_condenses": bool(np.all(np.diff(rows["log_determinant"]) < 0)),
            "dependence_is_negative": all(
                c < 0
                for n, c in zip(self.observed, rows["correlation_w_0_w_1"], strict=True)
                if n > 1
            ),
            "dependence_grows": bool(np.all(np.diff(np.abs(rows["correlation_w_0_w_1"])) > 0)),
        }
        predictions = self._predictions(beliefs[-1])
        for column, values in predictions.items():
            if column != "input":
                metrics |= {
                    f"{column}_{x:g}": value
                    for x, value in zip(self.predict_at, values, strict=True)
                }
        ends = np.array([x.min(), max(x.max(), *self.predict_at, x.min())])
        drawn = np.array(
            [
                rng.multivariate_normal(*belief, self.samples, method="cholesky")
                for belief in beliefs
            ]
        )
        arrays = {
            "x": Phi[:, 1],
            "t": t,
            "ends": self.design(ends)[:, 1],
            "lines": drawn @ self.design(ends).T,
            "mean_line": np.array([self.design(ends) @ belief.mean for belief in beliefs]),
            "ellipses": np.array([_ellipses(belief) for belief in beliefs]),
            "prior_ellipses": _ellipses(Posterior(mu_0, Sigma_0)),
        }
        table: Table = {"observed": self.observed, **rows}
        tables = {"beliefs": table, "predictions": predictions}
        return Outcome(metrics, tables=tables, arrays=arrays)

    def _report(self, belief: Posterior, Phi: Floats, t: Floats) -> dict[str, Any]:
        """What is believed of the weights, and of the line at the inputs."""
        (v0, c), (_, v1) = belief.covariance
        line_sd = np.sqrt(predictive(Phi, 0.0, belief).variance)
        return {
            "w_0": belief.mean[0],
            "w_1": belief.mean[1],
            "variance_w_0": v0,
            "variance_w_1": v1,
            "covariance_w_0_w_1": c,
            "correlation_w_0_w_1": c / math.sqrt(v0 * v1),
            "variance_share_w_0": v0 / self.prior_variances[0],  # of what it was
            "variance_share_w_1": v1 / self.prior_variances[1],
            "log_determinant": np.linalg.slogdet(belief.covariance).logabsdet,
            "line_sd_first": line_sd[0],
            "line_sd_last": line_sd[-1],
            "line_spread": line_sd.mean() / np.ptp(t),  # next to the spread of the data
            "slope_is_negative": ndtr(-belief.mean[1] / math.sqrt(v1)),
        }

    def _predictions(self, belief: Posterior) -> Table:
        """The predictive density at the inputs asked for."""
        at = self.design(self.predict_at)
        mean, variance = predictive(at, self.sigma2, belief)
        table: Table = {
            "input": self.predict_at,
            "scaled_input": at[:, 1].tolist(),
            "prediction": mean.tolist(),
            "prediction_variance": variance.tolist(),
        }
        if self.threshold is not None:
            below = ndtr((self.threshold - mean) / np.sqrt(variance))
            table["chance_below"] = below.tolist()
        return table

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        draws = {
            "data": self._draw_data,
            "posterior": self._draw_posterior,
            "lines": self._draw_lines,
            "predictive": self._draw_predictive,
        }
        return {name: draws[name](outcome) for name in self.show}

    def _draw_data(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        ax.plot(outcome.arrays["x"], outcome.arrays["t"], "o")
        ax.set(xlabel=self.input_name, ylabel=axis_names(self.data).t)
        return figure

    def _panels(self) -> "tuple[Figure, Any, list[str]]":
        many = len(self.observed)
        columns = min(many, 2)
        figure, axes = grid(-(-many // columns), columns, 0.65)
        spare(axes.flat[many:])
        titles = [f"after {n} point{'s' if n > 1 else ''}" if n else "prior" for n in self.observed]
        return figure, axes.flat[:many], titles

    def _draw_posterior(self, outcome: Outcome) -> "Figure":
        figure, axes, titles = self._panels()
        for k, ax in enumerate(axes):
            for ellipse in outcome.arrays["prior_ellipses"]:
                ax.plot(*ellipse, "--", color="0.6", linewidth=1.2)
            for ellipse in outcome.arrays["ellipses"][k]:
                ax.plot(*ellipse, color="C0")
            outer = outcome.arrays["ellipses"][k][-1]
            for which, values in (("x", outer[0]), ("y", outer[1])):
                margin = 0.15 * np.ptp(values)
                ax.set(**{f"{which}lim": (values.min() - margin, values.max() + margin)})
            names = {"xlabel": f"intercept $w_0${self.unit}", "ylabel": f"slope $w_1${self.unit}"}
            ax.set(title=titles[k], **names)
        axes[0].plot([], [], color="C0", label="belief, 1, 2 and 3 standard deviations")
        axes[0].plot([], [], "--", color="0.6", linewidth=1.2, label="prior, the same")
        figure.legend(loc="outside lower center", ncols=2)
        return figure

    def _draw_lines(self, outcome: Outcome) -> "Figure":
        arrays = outcome.arrays
        figure, axes, titles = self._panels()
        for k, (n, ax) in enumerate(zip(self.observed, axes, strict=True)):
            ax.plot(arrays["ends"], arrays["lines"][k].T, color="C0", linewidth=0.9, alpha=0.8)
            ax.plot(arrays["ends"], arrays["mean_line"][k], color="C1", linewidth=2)
            ax.plot(arrays["x"][n:], arrays["t"][n:], "o", color="0.55", markerfacecolor="white")
            ax.plot(arrays["x"][:n], arrays["t"][:n], "o", color="black")
            ax.set(title=titles[k], xlabel=self.input_name, ylabel=axis_names(self.data).t)
        ax = axes[0]
        ax.plot([], [], color="C0", linewidth=0.9, label="lines drawn from the belief")
        ax.plot([], [], color="C1", linewidth=2, label="mean line")
        ax.plot([], [], "o", color="black", label="data seen")
        ax.plot([], [], "o", color="0.55", markerfacecolor="white", label="not seen")
        figure.legend(loc="outside lower center", ncols=4)
        return figure

    def _draw_predictive(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        table = outcome.tables["predictions"]
        figure, ax = panels()
        for k, at in enumerate(self.predict_at):
            mean, variance = table["prediction"][k], table["prediction_variance"][k]
            t = mean + math.sqrt(variance) * np.linspace(-4, 4, 200)
            density = np.exp(-((t - mean) ** 2) / (2 * variance)) / math.sqrt(
                2 * math.pi * variance
            )
            label = f"{at:g}: mean {mean:.4f}, variance {variance:.4f}"
            ax.plot(t, density, ("-", "--", "-.", ":")[k % 4], color=f"C{k}", label=label)
            if self.threshold is not None:
                chance = f"below {self.threshold:g}: {table['chance_below'][k]:.3f}"
                below = t <= self.threshold
                ax.fill_between(t[below], density[below], color=f"C{k}", alpha=0.25, label=chance)
        ax.set(xlabel=axis_names(self.data).t, ylabel="predictive density", ylim=(0, None))
        figure.legend(loc="outside lower center", ncols=2)
        return figure


@dataclass
class NoisePosterior(ScaledLine, Study):
    """The posterior of a line's noise variance, its weights known (FCML Exercise 3.12)."""

    alpha: float = knob(1.0, "first parameter of the inverse gamma prior", above=0)
    beta: float = knob(0.05, "second parameter of the inverse gamma prior", above=0)

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        residuals = least_squares(self.design(x), t).residuals  # the weights taken for known
        prior = InverseGamma(self.alpha, self.beta)
        after = noise_posterior(residuals, prior)
        middle, sd = math.log(after.beta / after.alpha), 1 / math.sqrt(after.alpha)  # of the log
        u = middle + 12 * sd * np.linspace(-1, 1, 2001)
        v = np.exp(u)
        density = np.exp(after.log_density(v))
        log_product = prior.log_density(v) - (len(t) * np.log(v) + residuals @ residuals / v) / 2
        product = np.exp(log_product - log_product.max())
        product /= np.trapezoid(product * v, u)  # the area over v = e^u
        metrics: dict[str, Scalar] = {
            "posterior_alpha": after.alpha,
            "posterior_beta": after.beta,
            "gain_alpha": after.alpha - self.alpha,
            "gain_beta": after.beta - self.beta,
            "mode": after.beta / (after.alpha + 1),
            "noise_variance": float(residuals @ residuals) / len(t),
            "posterior_is_prior_times_likelihood": bool(
                np.allclose(product, density, rtol=1e-6, atol=1e-9 * density.max())
            ),
        }
        if after.alpha > 1:
            metrics["mean"] = after.beta / (after.alpha - 1)
        shown = slice(None, None, 4)
        arrays = {"v": v[shown], "posterior": density[shown]}
        arrays["prior"] = np.exp(prior.log_density(v[shown]))
        return Outcome(metrics, arrays=arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        arrays, metrics = outcome.arrays, outcome.metrics
        figure, ax = panels()
        after = f"posterior IG({metrics['posterior_alpha']:g}, {metrics['posterior_beta']:.4g})"
        ax.plot(arrays["v"], arrays["posterior"], label=after)
        ax.plot(
            arrays["v"], arrays["prior"], "--", label=f"prior IG({self.alpha:g}, {self.beta:g})"
        )
        best = metrics["noise_variance"]
        ax.axvline(
            best, color="black", linewidth=1, linestyle=":", label=f"most likely, {best:.4f}"
        )
        high = arrays["posterior"] > 0.001 * arrays["posterior"].max()
        ax.set(xlim=(0, arrays["v"][high][-1]), ylim=(0, None))
        ax.set(xlabel=f"noise variance σ²{self.unit.replace(')', '²)')}", ylabel="density")
        figure.legend(loc="outside lower center", ncols=3)
        return {"noise": figure}


def _ellipses(belief: Posterior) -> Floats:
    """Contours at one, two and three standard deviations, (3, 2, points)."""
    turn = np.linspace(0, 2 * np.pi, 181)
    shape = np.linalg.cholesky(belief.covariance) @ np.stack([np.cos(turn), np.sin(turn)])
    return np.stack([belief.mean[:, None] + k * shape for k in (1, 2, 3)])
