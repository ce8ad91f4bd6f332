"""Bias, variance and noise against a model's flexibility (notes 2.2.2, FCML 2.8)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.random import Generator

from experiments.contract.outcome import Axis, Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.regression._curves import SyntheticCurve
from models.regression.bias_variance import (
    Decomposition,
    decompose,
    gaussian_basis,
    ridge_decomposition,
    ridge_predictions,
)
from models.types import Floats

BASES = ("polynomial", "gaussian")
SHOWN = 20  # fits drawn for each of three models


@dataclass
class BiasVariance(SyntheticCurve, Study):
    """Squared bias, variance and noise over order, number of bases, penalty and N (notes 2.2.2)."""

    noise: float = knob(0.3, "standard deviation of the noise", above=0)
    more_n: list[int] = knob(
        [], "further sizes of a data set", at_least=2, distinct=True, may_be_empty=True
    )
    basis: str = knob("polynomial", "the functions weighted", choices=BASES)
    sizes: list[int] = knob(
        [1, 3, 9], "orders, or Gaussians", at_least=0, at_most=200, distinct=True
    )
    width: float = knob(0.1, "a Gaussian's standard deviation, over the range of x", above=0)
    ln_lambdas: list[float] = knob([], "ln of the penalties; none: no penalty", may_be_empty=True)
    repetitions: int = knob(1000, "data sets to fit", at_least=2, at_most=100_000)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if len(self.sizes) > 1 and len(self.ln_lambdas) > 1:
            yield "study.sizes and study.ln_lambdas both have several entries; vary one of them"
        least = min([self.n, *self.more_n])
        if not self.ln_lambdas and max(self.sizes) >= least:
            yield (
                f"study.sizes={self.sizes} without penalty: {least} points;"
                f" allowed: < {least}, or give study.ln_lambdas"
            )

    @property
    def flexibility(self) -> Axis:
        """What is varied, from rigid to flexible."""
        if len(self.ln_lambdas) > 1:
            return axis("ln_lambda", sorted(self.ln_lambdas, reverse=True))
        name = "order" if self.basis == "polynomial" else "gaussians"
        return axis(name, sorted(self.sizes))

    def run(self, rng: Generator) -> Outcome:
        sizes, model, x = [self.n, *self.more_n], self.flexibility, axis("x", self.grid(101))
        h, noise2 = self.truth(x.values), self.noise**2
        found = []
        for n in sizes:
            y, exact = self._fits(n, x.values, rng)
            drawn = decompose(y, h, noise2)
            # New targets for every data set: the loss that the identity (2.17) is about.
            e = self.noise * rng.standard_normal(y.shape[1:])
            loss = ((y - h - e) ** 2).mean(-1)
            direct = ((y - h) ** 2).mean((-2, -1)) + noise2
            excess = loss - ((y - h) ** 2).mean(-1) - noise2
            parts = exact or drawn
            found.append(
                {
                    "bias2": parts.bias2,
                    "variance": parts.variance,
                    "test_loss": loss.mean(-1),
                    "truth_test_loss": (e**2).mean(),
                    "identity_gap": np.max(np.abs(direct / drawn.expected_loss - 1)),
                    "test_loss_z": excess.mean(-1) / (excess.std(-1) / np.sqrt(len(e))),
                }
            )
            if exact is not None:
                found[-1] |= {
                    "simulated_bias2": drawn.bias2,
                    "simulated_variance": drawn.variance,
                    "simulation_z": _simulation_z(y, drawn, exact),
                }
                if not self.ln_lambdas:
                    found[-1]["in_sample_variance"] = self._in_sample_variances(n)
            if n == self.n:
                best = int(np.argmin(parts.bias2 + parts.variance))
                places = sorted({0, best, len(model) - 1})
                fits, mean_fits = y[places, :SHOWN], parts.mean[places]
        by_n = np.argsort(sizes)
        n_axis, shown = axis("n", np.sort(sizes)), axis("shown", model.values[places])
        quantities: dict[str, Quantity] = {}
        for name, value in found[0].items():
            values = np.array([one[name] for one in found])[by_n]
            quantities[name] = over(values, n_axis, *[model] * np.ndim(value))
        reach = axis("reach", [10.0, 20.0])  # standard deviations on either side
        joint, marginal = noise_terms(self.noise, reach.values)
        return Outcome(
            **quantities,
            fits=over(fits, shown, axis("fit", fits.shape[1]), x),
            mean_fit=over(mean_fits, shown, x),
            truth=x.of(h),
            noise_weighted_by_joint=reach.of(joint),
            noise_weighted_by_inputs=reach.of(marginal),
        )

    def _design(self, x: Floats, size: int) -> Floats:
        """Legendre polynomials, or a constant and Gaussians, on the range of x; (..., n, M)."""
        unit = (x - self.low) / (self.high - self.low)
        if self.basis == "polynomial":
            return np.asarray(legvander(2 * unit - 1, size))
        return gaussian_basis(unit, size, self.width)

    def _in_sample_variances(self, n: int) -> list[float]:
        """The variance at equally spaced training inputs, without a penalty."""
        x = np.linspace(self.low, self.high, n)
        h, bases = self.truth(x), (self._design(x, size) for size in sorted(self.sizes))
        exact = [ridge_decomposition(Phi, h, Phi, h, self.noise**2) for Phi in bases]
        return [float(one.variance[0]) for one in exact]

    def _fits(self, n: int, grid: Floats, rng: Generator) -> tuple[Floats, Decomposition | None]:
        """Fits on the grid, (models, data sets, grid), and their exact moments for fixed inputs."""
        x, t = self.sample(rng, self.repetitions, n)
        shared = self.design == "grid"
        lambdas = np.exp(sorted(self.ln_lambdas, reverse=True)) if self.ln_lambdas else np.zeros(1)
        y, exact = [], []
        for size in sorted(self.sizes):
            Phi, Phi_grid = self._design(x[0] if shared else x, size), self._design(grid, size)
            y.append(ridge_predictions(Phi, t, Phi_grid, lambdas))
            if shared:
                known = (Phi, self.truth(x[0]), Phi_grid, self.truth(grid), self.noise**2)
                exact.append(ridge_decomposition(*known, lambdas))
        if not shared:
            return np.concatenate(y), None
        bias2, variance, mean = (
            np.concatenate([getattr(one, name) for one in exact])
            for name in ("bias2", "variance", "mean")
        )
        return np.concatenate(y), Decomposition(bias2, variance, self.noise**2, mean)


def _simulation_z(y: Floats, drawn: Decomposition, exact: Decomposition) -> float:
    """The largest gap between simulated and exact moments, in standard errors."""
    L = y.shape[1]
    spread = ((y - drawn.mean[:, None]) ** 2).mean(-1)
    variance = np.abs(drawn.variance - exact.variance) / (spread.std(-1) / np.sqrt(L))
    # The mean fit errs by sqrt(variance / L): squared in bias^2, and as a product with the bias.
    point = np.sqrt(exact.variance / L)
    bias2 = np.abs(drawn.bias2 - exact.bias2) / (point * (point + np.sqrt(exact.bias2)))
    return float(max(variance.max(), bias2.max()))


def noise_terms(noise: float, reach: Floats) -> tuple[Floats, Floats]:
    """The noise term of (2.11), weighted by p(x, t) and by p(x) alone as printed, by reach.

    With p(x) alone the square of t - h(x) is integrated over all t: the wider the range, the more.
    """
    e = noise * np.array([np.linspace(-r, r, 4001) for r in reach])
    density = np.exp(-0.5 * (e / noise) ** 2) / (noise * np.sqrt(2 * np.pi))
    return np.asarray(np.trapezoid(e**2 * density, e)), np.asarray(np.trapezoid(e**2, e))
