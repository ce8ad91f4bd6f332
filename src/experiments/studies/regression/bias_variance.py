"""Bias, variance and noise against a model's flexibility (notes 2.2.2, FCML 2.8).

E[(y(x; D) - t)^2] = (E_D[y(x; D)] - h(x))^2 + var_D[y(x; D)] + sigma^2
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies._curves import SyntheticCurve
from bythebook.models.regression import bias_variance as models
from bythebook.models.regression.bias_variance import Decomposition
from bythebook.models.types import Floats

BASES = ("polynomial", "gaussian")
DRAWN = 20  # fits drawn for each of three models
MODEL = "n order | n gaussians | n ln_lambda"


@dataclass
class BiasVariance(SyntheticCurve, Study):
    """Squared bias, variance and noise over order, number of bases, penalty and N (notes 2.2.2).

    Bias and variance are exact where all data sets have the same inputs, else those of the fits.
    """

    quantities = {
        "bias2": quantity("squared bias of the fits, averaged over the inputs", MODEL),
        "variance": quantity("variance of the fits, averaged over the inputs", MODEL),
        "test_loss": quantity("mean squared error of the fits on new data", MODEL),
        "truth_test_loss": quantity("mean squared error of the true curve on new data", "n"),
        "fits": quantity("curves fitted to some data sets", "shown fit x"),
        "mean_fit": quantity("mean of the fitted curves", "shown x"),
        "truth": quantity("true curve", "x"),
    }
    axes = {
        "n": axis_of("points in a data set"),
        "order": axis_of("polynomial order"),
        "gaussians": axis_of("number of Gaussians"),
        "ln_lambda": axis_of("ln of the penalty"),
        "shown": axis_of("order, number of Gaussians or ln of the penalty: first, best and last"),
        "fit": axis_of("data set"),
        "x": axis_of("input"),
    }

    noise: float = knob(0.3, "standard deviation of the noise", above=0)
    more_n: list[int] = knob([], "further n", at_least=2, distinct=True, may_be_empty=True)
    basis: str = knob("polynomial", "the functions weighted", choices=BASES)
    sizes: list[int] = knob([1, 3, 9], "orders, or bumps", at_least=0, at_most=200, distinct=True)
    width: float = knob(0.1, "a bump's standard deviation, over the range of x", above=0)
    ln_lambdas: list[float] = knob([], "ln of the penalties; none: no penalty", may_be_empty=True)
    repetitions: int = knob(1000, "data sets to fit", at_least=2, at_most=100_000)

    def problems(self) -> Iterator[str]:
        if len(self.sizes) > 1 and len(self.ln_lambdas) > 1:
            yield "study.sizes and study.ln_lambdas both have several entries; vary one of them"
        yield from super().problems()
        least = min([self.n, *self.more_n])
        if not self.ln_lambdas and max(self.sizes) >= least:
            yield (
                f"study.sizes={self.sizes} without penalty: {least} points;"
                f" allowed: < {least}, or give study.ln_lambdas"
            )

    @property
    def flexibility(self) -> tuple[str, list[float]]:
        """Name and places of the axis that is varied, from rigid to flexible."""
        if len(self.ln_lambdas) > 1:
            return "ln_lambda", sorted(self.ln_lambdas, reverse=True)
        name = "order" if self.basis == "polynomial" else "gaussians"
        return name, [*sorted(self.sizes)]

    def run(self, rng: Generator) -> Outcome:
        sizes, x = [self.n, *self.more_n], self.grid(101)
        h, (model, places) = self.truth(x), self.flexibility
        found: dict[int, dict[str, Any]] = {}
        for n in sizes:
            y, parts = self._fits(n, x, h, rng)
            new = models.new_targets(y, h, self.noise, rng)
            found[n] = {
                "bias2": parts.bias2,
                "variance": parts.variance,
                "test_loss": new.loss,
                "truth_test_loss": new.truth_loss,
            }
            if n == self.n:
                best = int(np.argmin(parts.bias2 + parts.variance))
                some = sorted({0, best, len(places) - 1})
                fits, mean_fits = y[some, :DRAWN], parts.mean[some]
        each = {name: np.array([found[n][name] for n in sorted(sizes)]) for name in found[self.n]}
        return outcome(
            {
                "n": sorted(sizes),
                model: places,
                "shown": np.array(places)[some],
                "fit": fits.shape[1],
                "x": x,
            },
            **{
                name: (f"n {model}" if values.ndim == 2 else "n", values)
                for name, values in each.items()
            },
            fits=("shown fit x", fits),
            mean_fit=("shown x", mean_fits),
            truth=("x", h),
        )

    def _fits(
        self, n: int, grid: Floats, h: Floats, rng: Generator
    ) -> tuple[Floats, Decomposition]:
        """Fits (models, data sets, grid) and their parts, exact where inputs are fixed."""
        x, t = self.sample(rng, self.repetitions, n)
        x = x[0] if self.design == "grid" else x
        lambdas = np.exp(sorted(self.ln_lambdas, reverse=True)) if self.ln_lambdas else np.zeros(1)
        bases = [(self._design(x, size), self._design(grid, size)) for size in sorted(self.sizes)]
        y = np.concatenate([models.ridge_predictions(Phi, t, at, lambdas) for Phi, at in bases])
        if self.design != "grid":
            return y, models.decompose(y, h, self.noise**2)
        known, noise2 = self.truth(x), self.noise**2
        exact = models.joined(
            models.ridge_decomposition(Phi, known, at, h, noise2, lambdas) for Phi, at in bases
        )
        return y, exact

    def _design(self, x: Floats, size: int) -> Floats:
        """Legendre polynomials, or a constant and Gaussians, on the range of x; (..., n, M)."""
        unit = (x - self.low) / (self.high - self.low)
        if self.basis == "polynomial":
            return np.asarray(legvander(2 * unit - 1, size))
        return models.gaussian_basis(unit, size, self.width)
