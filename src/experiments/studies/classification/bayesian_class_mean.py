"""A class whose mean is averaged out instead of estimated (FCML exercises 5.1 and 5.2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from models.classification.gaussian_classifier import log_expected_likelihood, mean_posterior
from models.datasets import load
from models.probability.gaussian import log_density
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class BayesianClassMean(Study):
    """Posterior of a class mean and the expected likelihood of a new point (FCML 5.7)."""

    data: str = knob(
        "fcml-three-classes", "two attributes and the class of each point", dataset=True
    )
    of_class: int = knob(1, "the class", at_least=1)
    sizes: list[int] = knob([1, 3, 10, 30], "points seen, ascending", at_least=1, distinct=True)
    prior_variance: float = knob(10.0, "variance of the prior mean", above=0)
    at: list[float] = knob([2.0, 0.0], "the new point")
    draws: int = knob(20_000, "draws of the posterior", at_least=100, at_most=1_000_000)

    def problems(self) -> "Iterator[str]":
        table = load(self.data).matrix
        most = int((table[:, -1] == self.of_class).sum())
        if table.shape[1] != 3 or max(self.sizes) > most:
            yield f"study.sizes={self.sizes}: class {self.of_class} has {most} points in the plane"
        if self.sizes != sorted(self.sizes):
            yield f"study.sizes={self.sizes}; allowed: ascending"
        if len(self.at) != 2:
            yield f"study.at={self.at}; allowed: two numbers"

    def run(self, rng: Generator) -> Outcome:
        table, x = load(self.data).matrix, np.array(self.at)
        X = table[table[:, 2] == self.of_class, :2]
        I, R = np.eye(2), len(self.sizes)
        line = np.linspace(-5.0, 5.0, 201)
        through = np.stack([line, np.full_like(line, x[1])], axis=-1)
        curves = np.empty((R, 2, len(line)))
        v, exact, average, error, plug_in, divergence = np.empty((6, R))
        for k, size in enumerate(self.sizes):
            seen, centre = X[:size], X[:size].mean(0)
            m, v[k] = found = mean_posterior(seen, self.prior_variance)
            exact[k] = np.exp(log_expected_likelihood(x, found))
            mu = m + np.sqrt(v[k]) * rng.standard_normal((self.draws, 2))
            values = np.exp(log_density(mu, x, I))
            average[k], error[k] = values.mean(), values.std() / np.sqrt(self.draws)
            plug_in[k] = np.exp(log_density(x, centre, I))
            # KL(N(mean, I) || N(m, (1 + v) I)): estimated against averaged, in nats
            shift = ((centre - m) ** 2).sum()
            divergence[k] = np.log1p(v[k]) + (1 + shift / 2) / (1 + v[k]) - 1
            curves[k, 0] = np.exp(log_expected_likelihood(through, found))
            curves[k, 1] = np.exp(log_density(through, centre, I))
        n, peak = np.array(self.sizes), 1 / (2 * np.pi * (1 + v))
        metrics: dict[str, Scalar] = {
            "monte_carlo_agrees": bool((np.abs(average - exact) < 4 * error).all()),
            "posterior_agrees_with_grid": self._grid_agrees(X),
            "expected_is_flatter": bool((peak < 1 / (2 * np.pi)).all()),
            "divergence_first": float(divergence[0]),
            "divergence_last": float(divergence[-1]),
            "plug_in_approached": bool((np.diff(divergence) < 0).all()),
        }
        metrics |= {
            f"expected_likelihood_{size}": value for size, value in zip(n, exact, strict=True)
        }
        columns = {
            "points": n,
            "posterior_variance": v,
            "expected_likelihood": exact,
            "monte_carlo": average,
            "standard_error": error,
            "plug_in": plug_in,
        }
        return Outcome(metrics, tables={"sizes": columns}, arrays={"x": line, "curves": curves})

    def _grid_agrees(self, X: Floats) -> bool:
        """Whether the posterior has the moments of prior times likelihood on a grid."""
        n = self.sizes[-1]
        m, v = mean_posterior(X[:n], self.prior_variance)
        mu = m[0] + np.sqrt(v) * np.linspace(-9, 9, 2001)
        log_p = -(mu**2) / (2 * self.prior_variance) - ((X[:n, :1] - mu) ** 2).sum(0) / 2
        p = np.exp(log_p - log_p.max())
        p /= p.sum()
        mean = p @ mu
        return bool(np.allclose([mean, p @ (mu - mean) ** 2], [m[0], v], rtol=1e-9, atol=1e-12))

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, axes = panels(1, 2, sharey=True)
        for k, n in enumerate(self.sizes):
            for which, ax in enumerate(axes):
                curve = outcome.arrays["curves"][k, which]
                style = ("-", "--", "-.", ":")[k % 4]
                ax.plot(outcome.arrays["x"], curve, style, color=f"C{k}", label=f"{n} points")
        titles = ("Mean averaged out", "Mean estimated")
        for ax, title in zip(axes, titles, strict=True):
            ax.set(xlabel=f"$x_1$ (at $x_2$ = {self.at[1]:g})", title=title, ylim=(0, None))
        axes[0].set_ylabel(f"Likelihood of class {self.of_class}")
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names))
        return {"likelihood": figure}
