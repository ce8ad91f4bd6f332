"""Beliefs about a line: ellipses of its weights, sampled lines, predictions, noise."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import column_panels
from bythebook.experiments.plotting.densities import gaussian_curve
from bythebook.experiments.plotting.ellipses import ellipse
from bythebook.experiments.plotting.labels import axis_labels
from bythebook.experiments.studies.regression.bayesian_line import BayesianLine


def draw(study: BayesianLine, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    draws = {
        "data": _data,
        "posterior": _posterior,
        "lines": _lines,
        "predictive": _predictive,
        "noise": _noise,
    }
    for name in study.show:
        yield name, draws[name](study, outcome)


def _names(study: BayesianLine) -> dict[str, str]:
    names = axis_labels(study.data)
    x = f"({names.x.lower()} - {study.shift:g}) / {study.scale:g}"
    return {"xlabel": x, "ylabel": names.t}


def _unit(study: BayesianLine) -> str:
    """The unit of the targets such as " (s)", also of both weights as scaled inputs have none."""
    name = axis_labels(study.data).t
    return name[name.index(" (") :] if " (" in name else ""


def _beliefs(study: BayesianLine) -> tuple[Figure, list[Axes]]:
    figure, axes = column_panels(len(study.observed), 2, 0.65)
    for n, ax in zip(study.observed, axes, strict=True):
        ax.set_title(f"after {n} point{'s' if n > 1 else ''}" if n else "prior")
    return figure, axes


def _data(study: BayesianLine, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    ax.plot(outcome["inputs"].values, outcome["targets"].values, "o")
    ax.set(**_names(study))
    return figure


def _posterior(study: BayesianLine, outcome: Outcome) -> Figure:
    figure, axes = _beliefs(study)
    prior = np.array(study.prior_mean), np.diag(study.prior_variances)
    for k, ax in enumerate(axes):
        mu, Sigma = outcome["w_mean"].values[k], outcome["w_covariance"].values[k]
        for sd in (1, 2, 3):
            ax.plot(*ellipse(*prior, sd), "--", color="0.6", linewidth=1.2)
        for sd in (1, 2, 3):
            ax.plot(*ellipse(mu, Sigma, sd), color="C0")
        outer = ellipse(mu, Sigma, 3)
        room = 0.15 * np.ptp(outer, 1)
        low, high = outer.min(1) - room, outer.max(1) + room
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        ax.set(xlabel=f"intercept $w_0${_unit(study)}", ylabel=f"slope $w_1${_unit(study)}")
    axes[0].plot([], [], color="C0", label="belief, 1, 2 and 3 standard deviations")
    axes[0].plot([], [], "--", color="0.6", linewidth=1.2, label="prior, the same")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _lines(study: BayesianLine, outcome: Outcome) -> Figure:
    figure, axes = _beliefs(study)
    x, t, lines = outcome["inputs"].values, outcome["targets"].values, outcome["lines"]
    some: dict[str, Any] = {"color": "C0", "linewidth": 0.9}
    mean: dict[str, Any] = {"color": "C1", "linewidth": 2}
    hollow: dict[str, Any] = {"color": "0.55", "markerfacecolor": "white"}
    for k, (n, ax) in enumerate(zip(study.observed, axes, strict=True)):
        ax.plot(lines.coord("x"), lines.values[k].T, alpha=0.8, **some)
        ax.plot(lines.coord("x"), outcome["mean_line"].values[k], **mean)
        ax.plot(x[n:], t[n:], "o", **hollow)
        ax.plot(x[:n], t[:n], "o", color="black")
        ax.set(**_names(study))
    axes[0].plot([], [], label="lines drawn from the belief", **some)
    axes[0].plot([], [], label="mean line", **mean)
    axes[0].plot([], [], "o", color="black", label="data seen")
    axes[0].plot([], [], "o", label="not seen", **hollow)
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def _predictive(study: BayesianLine, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    means, variances = outcome["prediction"].values, outcome["prediction_variance"].values
    for k, (at, mean, variance) in enumerate(zip(study.predict_at, means, variances, strict=True)):
        t = mean + math.sqrt(variance) * np.linspace(-4, 4, 200)
        density = gaussian_curve(t, mean, math.sqrt(variance))
        label = f"{at:g}: mean {mean:.4f}, variance {variance:.4f}"
        ax.plot(t, density, ("-", "--", "-.", ":")[k % 4], color=f"C{k}", label=label)
        if study.threshold is not None:
            chance = f"below {study.threshold:g}: {outcome['chance_below'].values[k]:.3f}"
            below = t <= study.threshold
            ax.fill_between(t[below], density[below], color=f"C{k}", alpha=0.25, label=chance)
    ax.set(xlabel=axis_labels(study.data).t, ylabel="predictive density", ylim=(0, None))
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _noise(study: BayesianLine, outcome: Outcome) -> Figure:
    alpha, beta, best = (outcome[f"noise_{of}"].item for of in ("alpha", "beta", "variance"))
    v, after = outcome["noise_posterior"].coord("v")[::4], outcome["noise_posterior"].values[::4]
    prior = f"prior IG({study.alpha:g}, {study.beta:g})"
    figure, ax = subplots()
    ax.plot(v, after, label=f"posterior IG({alpha:g}, {beta:.4g})")
    ax.plot(v, outcome["noise_prior"].values[::4], "--", label=prior)
    ax.axvline(best, color="black", linewidth=1, linestyle=":", label=f"most likely, {best:.4f}")
    ax.set(xlim=(0, v[after > 0.001 * after.max()][-1]), ylim=(0, None), ylabel="density")
    ax.set(xlabel=f"noise variance σ²{_unit(study).replace(')', '²)')}")
    figure.legend(loc="outside lower center", ncols=3)
    return figure
