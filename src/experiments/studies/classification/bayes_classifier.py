"""The Bayes classifier with a Gaussian for each class, full or naive (FCML 5.2.1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.drawing.classes import mesh, probability_lines, scatter
from models.classification.gaussian_classifier import (
    COVARIANCES,
    Classes,
    fit,
    log_likelihood,
    probabilities,
)
from models.datasets import load
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_SHOWN = ("data", "densities", "probabilities")


@dataclass
class BayesClassifier(Study):
    """Class probabilities from Gaussian class-conditional densities (FCML 5.2.1)."""

    data: str = knob(
        "fcml-three-classes", "two attributes and the class of each point", dataset=True
    )
    covariance: str = knob("full", "shape of the class covariances", choices=COVARIANCES)
    uniform_prior: bool = knob(False, "equal prior probabilities, not the share of each class")
    at: list[float] = knob([2.0, 0.0], "a new point to classify")
    places: dict[str, list[float]] = knob(
        {}, "further points, by name, at which probabilities are reported", may_be_empty=True
    )
    low: list[float] = knob([-3.0, -6.0], "least coordinates of the map")
    high: list[float] = knob([7.0, 6.0], "largest coordinates of the map")
    step: float = knob(0.1, "distance of the map's grid points", above=0.01, at_most=1)
    show: list[str] = knob(["probabilities"], "what to draw", choices=_SHOWN, distinct=True)

    def problems(self) -> "Iterator[str]":
        if load(self.data).matrix.shape[1] != 3:
            yield f"study.data={self.data}: allowed: two attributes and a class"
        if any(len(place) != 2 for place in (self.at, self.low, self.high, *self.places.values())):
            yield "study.at, places, low and high need two numbers each"
        elif self.low[0] >= self.high[0] or self.low[1] >= self.high[1]:
            yield f"study.low={self.low}, study.high={self.high}; allowed: low < high"

    def run(self, rng: Generator) -> Outcome:
        table = load(self.data).matrix
        X, t = table[:, :2], table[:, 2].astype(np.int64)
        labels, sizes = np.unique(t, return_counts=True)
        classes = fit(X, t, self.covariance, uniform=self.uniform_prior)
        unbiased = fit(X, t, self.covariance, unbiased=True, uniform=self.uniform_prior)
        full = fit(X, t)
        place = np.array(self.at)
        metrics: dict[str, Any] = _at(place, classes) | _at(place, unbiased, "_unbiased")
        for k, c in enumerate(labels):
            metrics[f"n_class_{c}"] = int(sizes[k])
            metrics[f"prior_{c}"] = float(classes.prior[k])
            sd = np.sqrt(np.diag(classes.covariance[k]))
            metrics[f"correlation_{c}"] = float(classes.covariance[k, 0, 1] / sd.prod())
            own = X[t == c]
            density = log_likelihood(classes, own)[:, k].mean()
            metrics[f"mean_log_density_lost_{c}"] = float(
                log_likelihood(full, own)[:, k].mean() - density
            )
        training = probabilities(classes, X)
        metrics["training_accuracy"] = float((labels[training.argmax(1)] == t).mean())
        full_training = probabilities(full, X).argmax(1)
        metrics["training_accuracy_full"] = float((labels[full_training] == t).mean())
        own_median = [np.median(training[t == c, k]) for k, c in enumerate(labels)]
        metrics["least_median_own_probability"] = float(min(own_median))
        lost = [metrics[f"mean_log_density_lost_{c}"] for c in labels]
        metrics["class_that_loses_most"] = int(labels[np.argmax(lost)])
        metrics["accuracy_lost"] = metrics["training_accuracy_full"] - metrics["training_accuracy"]
        for name, where in self.places.items():
            p = probabilities(classes, np.array(where))
            nearest = np.sqrt(((X - where) ** 2).sum(1).min())
            metrics[f"distance_to_data_{name}"] = float(nearest)
            metrics |= {f"probability_{c}_{name}": float(p[k]) for k, c in enumerate(labels)}
        x, y, grid = mesh(self.low, self.high, self.step)
        return Outcome(
            metrics,
            arrays={
                "X": X,
                "t": t,
                "x": x,
                "y": y,
                "probability": probabilities(classes, grid).astype(np.float32),
                "log_density": log_likelihood(classes, grid).astype(np.float32),
                "covariance": classes.covariance,
            },
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        figures = {}
        if "data" in self.show:
            figures["data"] = self._points(outcome, densities=False)
        if "densities" in self.show:
            figures["densities"] = self._points(outcome, densities=True)
        if "probabilities" in self.show:
            figures["probabilities"] = self._maps(outcome)
        return figures

    def _points(self, outcome: Outcome, densities: bool) -> "Figure":
        from experiments.drawing.canvas import panels

        a = outcome.arrays
        figure, ax = panels()
        scatter(ax, a["X"], a["t"], [f"class {c}" for c in np.unique(a["t"])])
        if densities:
            for k in range(a["log_density"].shape[-1]):
                # Lines at fixed shares of the class's own peak: 1, 2 and 3 standard deviations.
                peak = a["log_density"][..., k].max()
                levels = [peak - 4.5, peak - 2.0, peak - 0.5]
                style = {"levels": levels, "colors": f"C{k}", "linestyles": "-", "linewidths": 1.2}
                ax.contour(a["x"], a["y"], a["log_density"][..., k], zorder=1, **style)
        ax.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))
        figure.legend(loc="outside lower center", ncols=3)
        return figure

    def _maps(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.clusters import grid

        a = outcome.arrays
        labels = np.unique(a["t"])
        figure, axes = grid(1, len(labels), 1.0, sharey=True)
        for k, (c, ax) in enumerate(zip(labels, axes[0], strict=True)):
            scatter(ax, a["X"], a["t"], [f"class {label}" for label in labels])
            probability_lines(ax, a["x"], a["y"], a["probability"][..., k], [0.1, 0.5, 0.9])
            ax.set(title=f"P(class {c})", ylabel="$x_2$" if k == 0 else "")
        handles, names = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(labels))
        return figure


def _at(place: Floats, classes: Classes, suffix: str = "") -> dict[str, Scalar]:
    """The columns of a table of likelihoods, joint and posterior probabilities at one point."""
    likelihood = np.exp(log_likelihood(classes, place))
    joint = likelihood * classes.prior
    p = probabilities(classes, place)
    metrics: dict[str, Scalar] = {f"sum_of_joints{suffix}": float(joint.sum())}
    for k in range(len(p)):
        metrics[f"likelihood_{k + 1}{suffix}"] = float(likelihood[k])
        metrics[f"joint_{k + 1}{suffix}"] = float(joint[k])
        metrics[f"probability_{k + 1}{suffix}"] = float(p[k])
    metrics[f"odds_of_first_two{suffix}"] = float(p[0] / p[1])
    metrics[f"predicted_class{suffix}"] = int(p.argmax()) + 1
    return metrics
