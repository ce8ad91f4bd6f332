"""Bias, variance and noise against a model's flexibility (notes 2.2.2, FCML 2.8)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies._curves import SyntheticCurve
from bythebook.models.regression import bias_variance as models
from bythebook.models.regression.bias_variance import Decomposition
from bythebook.models.types import Floats

BASES = ("polynomial", "gaussian")
SHOWN = 20  # fits drawn for each of three models


@dataclass
class BiasVariance(SyntheticCurve, Study):
    """Squared bias, variance and noise over order, number of bases, penalty and N (notes 2.2.2)."""

    more_quantities = True
    quantities = {
        "bias2": quantity("mean squared bias of the fits", "n order | n ln_lambda"),
        "variance": quantity("mean variance of the fits", "n order | n ln_lambda"),
        "test_loss": quantity("mean squared error of new data", "n order | n ln_lambda"),
        "test_loss_error": quantity("standard error of the test loss", "n order | n ln_lambda"),
        "truth_test_loss": quantity("mean squared error of the true curve on new data", "n"),
        "test_loss_z": quantity(
            "test loss minus its expectation, in standard errors", "n order | n ln_lambda"
        ),
        "identity_gap": quantity(
            "relative difference between the loss and bias, variance and noise added", "n"
        ),
        "bias2_z": quantity("bias minus its exact value, in standard errors", "n order"),
        "variance_z": quantity("variance minus its exact value, in standard errors", "n order"),
        "in_sample_variance": quantity("mean variance of the fits at the inputs", "n order"),
        "fits": quantity("curves fitted to some data sets", "shown fit x"),
        "mean_fit": quantity("mean of the fitted curves", "shown x"),
        "spread": quantity("variance of the fitted curves at each input", "shown x"),
        "truth": quantity("true curve", "x"),
    }

    noise: float = knob(0.3, "standard deviation of the noise", above=0)
    more_n: list[int] = knob([], "further n", at_least=2, distinct=True, may_be_empty=True)
    basis: str = knob("polynomial", "the functions weighted", choices=BASES)
    sizes: list[int] = knob([1, 3, 9], "orders, or bumps", at_least=0, at_most=200, distinct=True)
    width: float = knob(0.1, "a bump's standard deviation, over the range of x", above=0)
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
        """The axis that is varied, from rigid to flexible."""
        if len(self.ln_lambdas) > 1:
            return axis("ln_lambda", sorted(self.ln_lambdas, reverse=True))
        name = "order" if self.basis == "polynomial" else "gaussians"
        return axis(name, sorted(self.sizes))

    def run(self, rng: Generator) -> Outcome:
        sizes, x = [self.n, *self.more_n], axis("x", self.grid(101))
        h, model, found = self.truth(x.values), self.flexibility, []
        for n in sizes:
            y, parts, checks = self._fits(n, x.values, h, rng)
            new = models.new_targets(y, h, self.noise, rng)
            found.append(
                {
                    "bias2": parts.bias2,
                    "variance": parts.variance,
                    "test_loss": new.loss,
                    "test_loss_error": new.error,
                    "truth_test_loss": new.truth_loss,
                    "test_loss_z": new.z,
                    **checks,
                }
            )
            if n == self.n:
                best = int(np.argmin(parts.bias2 + parts.variance))
                places = sorted({0, best, len(model) - 1})
                fits, mean_fits = y[places, :SHOWN], parts.mean[places]
                spread = y[places].var(1)
        n_axis, shown = axis("n", np.sort(sizes)), axis("shown", model.values[places])
        quantities: dict[str, Quantity] = {}
        for name, value in found[0].items():
            values = np.array([one[name] for one in found])[np.argsort(sizes)]
            quantities[name] = over(values, n_axis, *[model] * np.ndim(value))
        reach = axis("reach", [10.0, 20.0])  # standard deviations on either side
        joint, marginal = models.noise_terms(self.noise, reach.values)
        return Outcome(
            **quantities,
            fits=over(fits, shown, axis("fit", fits.shape[1]), x),
            mean_fit=over(mean_fits, shown, x),
            spread=over(spread, shown, x),  # the variance of the fits, place by place
            truth=x.of(h),
            noise_weighted_by_joint=reach.of(joint),
            noise_weighted_by_inputs=reach.of(marginal),
        )

    def _fits(
        self, n: int, grid: Floats, h: Floats, rng: Generator
    ) -> tuple[Floats, Decomposition, dict[str, Any]]:
        """Fits (models, data sets, grid), their parts (exact where inputs are fixed), checks."""
        x, t = self.sample(rng, self.repetitions, n)
        x = x[0] if self.design == "grid" else x
        lambdas = np.exp(sorted(self.ln_lambdas, reverse=True)) if self.ln_lambdas else np.zeros(1)
        bases = [(self._design(x, size), self._design(grid, size)) for size in sorted(self.sizes)]
        y = np.concatenate([models.ridge_predictions(Phi, t, at, lambdas) for Phi, at in bases])
        drawn, noise2 = models.decompose(y, h, self.noise**2), self.noise**2
        direct = ((y - h) ** 2).mean((-2, -1)) + noise2
        checks = {"identity_gap": np.max(np.abs(direct / drawn.expected_loss - 1))}
        if self.design != "grid":
            return y, drawn, checks
        known = self.truth(x)
        exact = models.joined(
            models.ridge_decomposition(Phi, known, at, h, noise2, lambdas) for Phi, at in bases
        )
        inside = models.joined(
            models.ridge_decomposition(Phi, known, Phi, known, noise2, lambdas) for Phi, _ in bases
        )
        checks["bias2_z"], checks["variance_z"] = models.simulation_z(y, drawn, exact)
        checks["in_sample_variance"] = inside.variance
        return y, exact, checks

    def _design(self, x: Floats, size: int) -> Floats:
        """Legendre polynomials, or a constant and Gaussians, on the range of x; (..., n, M)."""
        unit = (x - self.low) / (self.high - self.low)
        if self.basis == "polynomial":
            return np.asarray(legvander(2 * unit - 1, size))
        return models.gaussian_basis(unit, size, self.width)
