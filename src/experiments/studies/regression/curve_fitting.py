"""Noisy points of a curve, and polynomials that follow the noise (notes 2.1, Ghahramani 1.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Axis, Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies._curves import CURVES, CurveOrData
from models.regression import polynomials
from models.regression.bayesian_regression import map_weights
from models.regression.curves import polynomial, powers
from models.regression.ridge import ridge_path
from models.types import Floats


@dataclass
class CurveFitting(CurveOrData, Study):
    """Data about a curve (PRML A); training and test error by order and size (notes 2.1)."""

    headline = {
        "residual_rms": "sqrt(mean(residual**2))",
        "test_best_order": "argmin(median(first(test_loss), over='repetition'))",
    }

    curve: str = knob("sine", "the true curve: sin(2 pi x), or a polynomial", choices=CURVES)
    data: str | None = knob("curve-fitting", "a data set in place of drawn ones", dataset=True)
    more_n: list[int] = knob([], "further n to draw", at_least=2, distinct=True, may_be_empty=True)
    repetitions: int = knob(1, "data sets to draw of each size", at_least=1, at_most=100_000)
    orders: list[int] = knob(
        list(range(10)), "to fit", at_least=0, at_most=20, distinct=True, may_be_empty=True
    )
    show: list[int] = knob([0, 1, 3, 9], "orders whose fits are drawn", distinct=True)
    show_n: list[int] = knob([], "of such fits; none: the least", distinct=True, may_be_empty=True)
    prior_variance: float | None = knob(None, "of the weights, for likelihoods; or none", above=0)

    @property
    def sizes(self) -> list[int]:
        return sorted([self.size, *self.more_n])

    @property
    def shown_sizes(self) -> list[int]:
        return sorted(self.show_n) or self.sizes[:1]

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        least = min(self.sizes)
        if self.data is not None and (self.more_n or self.repetitions > 1):
            yield f"study.data={self.data} is one data set of one size; study.data=null draws"
        if max(self.orders, default=0) >= least:
            yield f"study.orders={self.orders}: {least} points; allowed: orders < {least}"
        if self.orders and not set(self.show) <= set(self.orders):
            yield f"study.show={self.show}; allowed: some of study.orders={self.orders}"
        if not set(self.show_n) <= set(self.sizes):
            yield f"study.show_n={self.show_n}; allowed: some of {self.sizes}"
        if self.prior_variance is not None and self.noise == 0:
            yield "study.noise=0: a likelihood needs some; allowed: > 0"

    def run(self, rng: Generator) -> Outcome:
        sets = {size: self.sets(rng, self.repetitions, size) for size in self.sizes}
        shown = zip(*(sets[size] for size in self.shown_sizes), strict=True)
        x, t = (np.concatenate(parts, axis=-1) for parts in shown)
        grid = axis("x", self.grid())
        axes = axis("repetition", len(x)), axis("point", x.shape[-1])
        return Outcome(
            inputs=over(x, *axes),
            targets=over(t, *axes),
            residual=over(t - self.truth(x), *axes),
            truth=grid.of(self.truth(grid.values)),
            **(self._fits(sets, axes[0], grid) if self.orders else {}),
        )

    def _fits(
        self, sets: dict[int, tuple[Floats, Floats]], repetition: Axis, grid: Axis
    ) -> dict[str, Quantity]:
        """Polynomials fitted to data sets of every size, and what noise does to the smallest."""
        order, nodes = axis("order", sorted(self.orders)), self.quadrature
        axes = axis("n", self.sizes), repetition, order
        shown = axis("shown_n", self.shown_sizes), axis("drawn_order", self.show), grid
        fits = {n: polynomials.fit_orders(x, t, max(self.orders)) for n, (x, t) in sets.items()}
        training = [polynomials.training_loss(fit)[:, order.values] for fit in fits.values()]
        test = [
            self.expected_loss(polynomials.predict_orders(fit, nodes.x))[:, order.values]
            for fit in fits.values()
        ]
        curves = [
            polynomials.predict_orders(fits[n], grid.values)[0, self.show] for n in self.shown_sizes
        ]
        x, t = (part[0] for part in sets[self.sizes[0]])
        gain = polynomials.noise_gain(x, max(self.orders), *nodes)[order.values]
        found = {
            "training_loss": over(training, *axes),
            "test_loss": over(test, *axes),
            "curve": over(curves, *shown),
            "noise_in_fit": order.of(self.noise * gain),
        }
        if self.prior_variance is not None:
            found |= self._likelihoods(x, t, self.prior_variance, order, training[0], test[0])
        return found

    def _likelihoods(
        self, x: Floats, t: Floats, prior: float, order: Axis, *losses: Floats
    ) -> dict[str, Quantity]:
        """Log likelihoods per point of fits with these losses, and of penalised ones."""
        sigma2, term = self.noise**2, axis("term", max(self.orders) + 1)
        ridge, likely = np.zeros((2, len(order), len(term)))
        for k, top in enumerate(order.values):
            Phi, used = powers(x, top), slice(top + 1)
            ridge[k, used] = ridge_path(Phi, t, np.array([sigma2 / prior])).weights[0]
            likely[k, used] = map_weights(Phi, t, sigma2, [prior])[0]
        penalised = [
            [np.mean((t - polynomial(x, w)) ** 2) for w in ridge],
            [self.expected_loss(polynomial(self.quadrature.x, w)) for w in ridge],
        ]
        # Gaussian with known noise: the log likelihood per point is a matter of the squared loss.
        free = [loss[0] for loss in losses]  # of the first data set
        values = -(np.log(2 * np.pi * sigma2) + np.array([free, penalised]) / sigma2) / 2
        fit, sample = axis("fit", ["maximum", "penalised"]), axis("sample", ["training", "new"])
        return {
            "log_likelihood": over(values, fit, sample, order),
            "penalised_weight": over(ridge, order, term),
            "map_weight": over(likely, order, term),
        }
