"""How maximum likelihood estimates vary over data sets: covariance and bias (FCML 2.9-2.10)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series, Table
from experiments.contract.study import Study, knob
from models.regression.bias_variance import (
    estimate_covariance,
    expected_sigma2,
    least_squares,
    simulate_averages,
    simulate_estimates,
)
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

SHOWN = ("estimates", "data", "lines", "noise_estimates", "noise_variance")
_ENTRIES = {"variance_w_0": (0, 0), "covariance_w_0_w_1": (0, 1), "variance_w_1": (1, 1)}


@dataclass
class EstimatorVariability(Study):
    """The spread of estimated weights and noise variance over many data sets (FCML 2.9-2.10)."""

    weights: list[float] = knob([-2.0, 3.0], "true weights of 1, x, x^2, ...")
    noise_variance: float = knob(0.25, "true variance of the noise", above=0)
    n: list[int] = knob(
        [20], "points in a data set; only the noise variance looks past the first", at_least=3
    )
    low: float = knob(0.0, "the smallest input; inputs are drawn uniformly, once")
    high: float = knob(1.0, "the largest input")
    repetitions: int = knob(10_000, "data sets for these inputs", at_least=100, at_most=1_000_000)
    experiments: int = knob(
        1000, "whole experiments, each with inputs of its own", at_least=100, at_most=100_000
    )
    lines: int = knob(10, "fitted lines to draw", at_least=2, at_most=100)
    printed_covariance: list[float] = knob(
        [], "var w0, cov, var w1 as printed: what do they imply?", may_be_empty=True
    )
    printed_estimate: float | None = knob(None, "noise variance as printed, to scale them", above=0)
    show: list[str] = knob(["estimates"], "what to draw", choices=SHOWN, distinct=True)

    def problems(self) -> "Iterator[str]":
        if self.low >= self.high:
            yield f"study.low={self.low:g}, study.high={self.high:g}; allowed: low < high"
        if not 2 <= len(self.weights) < min(self.n):
            yield f"study.weights={self.weights}; allowed: at least two, fewer than {min(self.n)}"
        v0, c, v1 = (
            self.printed_covariance if len(self.printed_covariance) == 3 else (0.0, 0.0, 0.0)
        )
        if self.printed_covariance and not (v0 * v1 > c**2 and len(self.weights) == 2):
            yield (
                f"study.printed_covariance={self.printed_covariance}; allowed: none, or the"
                " entries of a positive definite matrix of two weights"
            )
        if self.printed_estimate is not None and not self.printed_covariance:
            yield "study.printed_estimate scales study.printed_covariance, which is empty"

    def run(self, rng: Generator) -> Outcome:
        w, n = np.array(self.weights), self.n[0]
        x = rng.uniform(self.low, self.high, n)
        X = self._design(x)
        t = X @ w + np.sqrt(self.noise_variance) * rng.standard_normal(n)  # one data set, to show
        single = float(least_squares(X, t[None]).sigma2[0])
        found = simulate_estimates(X, w, self.noise_variance, self.repetitions, rng)
        theory = estimate_covariance(X, self.noise_variance)  # (2.45)
        possible = self._possible_experiments(rng)
        metrics: dict[str, Scalar] = {
            "residual_variance_about_truth": float(np.mean((t - X @ w) ** 2)),
            "noise_variance_estimate": single,
            "covariance_is_negative": bool(
                theory[0, 1] < 0 and np.all(possible["possible_covariance_w_0_w_1"] < 0)
            ),
            "plugin_is_low_with_its_estimate": bool(
                np.all(
                    (possible["possible_plugin_variance_w_1"] < possible["possible_variance_w_1"])
                    == (possible["possible_noise_variance_estimate"] < self.noise_variance)
                )
            ),
        }
        metrics |= _covariance_metrics(found.w, theory, single / self.noise_variance)
        metrics |= _mean_metrics(found.w, w, theory)
        grid = np.linspace(self.low, self.high, 41)
        arrays = {"x": x, "t": t, "grid": grid, "truth": self._design(grid) @ w}
        drawn = found.w @ self._design(grid).T
        metrics |= _line_metrics(drawn, arrays["truth"], self.lines)
        arrays |= {"lines": drawn[: self.lines], "noise_variance_estimates": found.sigma2}
        arrays |= possible | _histogram(found.w, w, theory)
        curve = self._noise_curve(found.sigma2, rng)
        metrics |= _noise_metrics(curve, self.noise_variance)
        if self.printed_covariance:
            metrics |= self._implied_by_print()
        series = {"noise_variance": Series(curve["n"], curve["mean"])}
        return Outcome(metrics, series, {"noise_variance": curve}, arrays)

    def _design(self, x: Floats) -> Floats:
        return np.asarray(x[..., np.newaxis] ** np.arange(len(self.weights)))

    def _possible_experiments(self, rng: Generator) -> dict[str, Floats]:
        """What the book's experiment could have printed, had its random numbers been others."""
        R, n, w = self.experiments, self.n[0], np.array(self.weights)
        X = self._design(rng.uniform(self.low, self.high, (R, n)))
        theory = estimate_covariance(X, self.noise_variance)
        averages = simulate_averages(X, w, self.noise_variance, self.repetitions, rng)
        share = (
            rng.chisquare(n - len(w), R) / n
        )  # one arbitrary data set's estimate, over the truth
        arrays = {
            "possible_mean_w_0": averages.w[:, 0],
            "possible_mean_w_1": averages.w[:, 1],
            "possible_mean_noise_variance": averages.sigma2,
            "possible_noise_variance_estimate": self.noise_variance * share,
        }
        for name, (i, j) in _ENTRIES.items():
            arrays[f"possible_{name}"] = theory[:, i, j]
            arrays[f"possible_empirical_{name}"] = averages.covariance[:, i, j]
            arrays[f"possible_plugin_{name}"] = theory[:, i, j] * share
            arrays[f"possible_{name}_ratio"] = averages.covariance[:, i, j] / theory[:, i, j]
        return arrays

    def _implied_by_print(self) -> dict[str, Scalar]:
        """The points and inputs behind a printed covariance, and what another noise makes of it."""
        v0, c, v1 = self.printed_covariance
        points = self.noise_variance * v1 / (v0 * v1 - c**2)  # the first entry of X^T X
        metrics: dict[str, Scalar] = {"implied_points": points, "implied_input_mean": -c / v1}
        if self.printed_estimate is not None:
            share = self.printed_estimate / self.noise_variance
            for name, value in zip(_ENTRIES, self.printed_covariance, strict=True):
                metrics[f"rescaled_{name}"] = value * share
        return metrics

    def _noise_curve(self, first: Floats, rng: Generator) -> Table:
        """The mean estimate of the noise variance for every n, with its expectation (2.53)."""
        sigma2, w, S = self.noise_variance, np.array(self.weights), self.repetitions
        means = [float(first.mean())]
        for n in self.n[1:]:
            X = self._design(rng.uniform(self.low, self.high, n))
            means.append(float(simulate_estimates(X, w, sigma2, S, rng).sigma2.mean()))
        left = np.array(self.n) - len(w)  # the estimate is sigma^2 chi^2_left / n
        return {
            "n": self.n,
            "mean": means,
            "expected": [expected_sigma2(sigma2, n, len(w)) for n in self.n],
            "standard_error": (sigma2 * np.sqrt(2 * left / S) / np.array(self.n)).tolist(),
        }

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        draws = {
            "estimates": self._draw_estimates,
            "data": self._draw_data,
            "lines": self._draw_data,
            "noise_estimates": self._draw_noise_estimates,
            "noise_variance": self._draw_noise,
        }
        return {name: draws[name](outcome, name) for name in self.show}

    def _draw_data(self, outcome: Outcome, what: str) -> "Figure":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        figure, ax = panels()
        if what == "data":
            ax.plot(arrays["x"], arrays["t"], "o", color="C1", label="one data set")
        else:
            ax.plot(arrays["grid"], arrays["lines"].T, "-", color="C1", linewidth=1, alpha=0.7)
            ax.plot([], [], "-", color="C1", linewidth=1, label=f"fits to {self.lines} data sets")
        ax.plot(
            arrays["grid"], arrays["truth"], "-", color="black", linewidth=2.5, label="true line"
        )
        ax.set(xlabel="x", ylabel="t")
        ax.legend(loc="upper left")
        return figure

    def _draw_estimates(self, outcome: Outcome, what: str) -> "Figure":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        edges0, edges1, counts = arrays["edges_w_0"], arrays["edges_w_1"], arrays["counts"]
        figure, (left, right) = panels(1, 2, sharex=True, sharey=True)
        image = left.pcolormesh(edges0, edges1, counts.T, rasterized=True)
        figure.colorbar(image, ax=left, label="data sets in a bin")
        middle0, middle1 = (edges0[1:] + edges0[:-1]) / 2, (edges1[1:] + edges1[:-1]) / 2
        levels = counts.max() * np.array([0.1, 0.3, 0.5, 0.7, 0.9])
        right.contour(middle0, middle1, counts.T, levels=levels, colors="C0", linewidths=1)
        right.plot([], [], "-", color="C0", linewidth=1, label="simulated")
        for k, ellipse in enumerate(arrays["ellipses"]):
            label = "theory, 1 and 2 sd" if k == 0 else None
            right.plot(*ellipse, "--", color="C1", linewidth=1.3, label=label)
        for ax in (left, right):
            ax.plot(*self.weights[:2], "P", color="black" if ax is right else "C1", markersize=7)
            ax.set(xlabel=r"$\hat w_0$", ylabel=r"$\hat w_1$")
        right.plot([], [], "P", color="black", markersize=7, linestyle="none", label="truth")
        figure.legend(loc="outside lower center", ncols=3)
        return figure

    def _draw_noise_estimates(self, outcome: Outcome, what: str) -> "Figure":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        ax.hist(outcome.arrays["noise_variance_estimates"], bins=50, color="C4")
        mean = outcome.metrics["mean_noise_variance"]
        for value, colour, dash, label in (
            (self.noise_variance, "black", "-", "true noise variance"),
            (outcome.metrics["expected_noise_variance"], "C1", "-", "expected estimate"),
            (mean, "C0", "--", "mean estimate"),
        ):
            ax.axvline(value, color=colour, linestyle=dash, label=f"{label}, {value:.4f}")
        ax.set(xlabel="estimated noise variance", ylabel="data sets in a bin")
        ax.legend(loc="upper right")
        return figure

    def _draw_noise(self, outcome: Outcome, what: str) -> "Figure":
        from experiments.drawing.canvas import panels

        table = outcome.tables["noise_variance"]
        figure, ax = panels()
        errors = 2 * np.array(table["standard_error"])
        ax.errorbar(
            table["n"], table["mean"], errors, fmt="o", label="mean estimate, two standard errors"
        )
        ax.plot(table["n"], table["expected"], "--", label=r"expected, $\sigma^2 (1 - D / N)$")
        ax.axhline(self.noise_variance, color="black", linewidth=1, label="true noise variance")
        ax.set(xlabel="data points N", ylabel="noise variance", xscale="log")
        ax.legend(loc="lower right")
        return figure


def _covariance_metrics(w_hat: Floats, theory: Floats, share: float) -> dict[str, Scalar]:
    """The covariance of the estimates: theory, simulation, and with an estimated noise variance."""
    empirical = np.cov(w_hat.T, bias=True)
    sd = np.sqrt(np.diag(theory))
    # A covariance of S Gaussian pairs has variance (c_ii c_jj + c_ij^2) / S.
    error = np.sqrt((np.outer(sd, sd) ** 2 + theory**2) / len(w_hat))
    metrics: dict[str, Scalar] = {
        "correlation_w_0_w_1": float(theory[0, 1] / (sd[0] * sd[1])),
        "covariance_largest_relative_gap": float(np.max(np.abs(empirical / theory - 1))),
        "covariance_agrees_with_theory": bool(np.all(np.abs(empirical - theory) < 4 * error)),
    }
    for name, place in _ENTRIES.items():
        metrics[name] = theory[place]
        metrics[f"empirical_{name}"] = empirical[place]
        metrics[f"plugin_{name}"] = theory[place] * share
    return metrics


def _mean_metrics(w_hat: Floats, w: Floats, theory: Floats) -> dict[str, Scalar]:
    """The mean estimate, and whether it is the truth within four standard errors (2.40)."""
    mean = w_hat.mean(0)
    z = (mean - w) / np.sqrt(np.diag(theory) / len(w_hat))
    metrics: dict[str, Scalar] = {f"mean_w_{i}": value for i, value in enumerate(mean)}
    return metrics | {"weights_are_unbiased": bool(np.all(np.abs(z) < 4))}


def _line_metrics(lines: Floats, truth: Floats, k: int) -> dict[str, Scalar]:
    """Do k fitted lines lie on both sides of the truth at every input? (S, grid) lines."""
    groups = lines[: len(lines) // k * k].reshape(-1, k, lines.shape[-1])
    between = (groups.min(1) < truth) & (truth < groups.max(1))
    return {
        "share_above_truth": float((lines > truth).mean()),
        "share_of_figures_with_truth_between": float(between.all(-1).mean()),
    }


def _noise_metrics(curve: Table, truth: float) -> dict[str, Scalar]:
    mean, expected, error = (
        np.array(curve[name]) for name in ("mean", "expected", "standard_error")
    )
    metrics: dict[str, Scalar] = {
        "mean_noise_variance": mean[0],
        "expected_noise_variance": expected[0],
        "noise_variance_is_low": bool(np.all(expected < truth) and mean[0] + 4 * error[0] < truth),
        "noise_variance_agrees_with_theory": bool(np.all(np.abs(mean - expected) < 4 * error)),
        "noise_variance_largest_z": float(np.max(np.abs(mean - expected) / error)),
    }
    return metrics | {
        f"mean_noise_variance_n_{n}": value for n, value in zip(curve["n"], mean, strict=True)
    }


def _histogram(w_hat: Floats, w: Floats, theory: Floats) -> dict[str, Floats]:
    """Counts of (w_0, w_1), and ellipses of one and two standard deviations about the truth."""
    counts, edges0, edges1 = np.histogram2d(w_hat[:, 0], w_hat[:, 1], bins=30)
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    shape = np.linalg.cholesky(theory[:2, :2]) @ circle
    ellipses = np.stack([w[:2, None] + k * shape for k in (1, 2)])
    return {"counts": counts, "edges_w_0": edges0, "edges_w_1": edges1, "ellipses": ellipses}
