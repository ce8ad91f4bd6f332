"""Over-fitting: what high orders do to data about a known curve (notes 2.1, Ghahramani 1.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Axis, Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.regression._curves import CurveOrData
from models.regression.bayesian_regression import posterior
from models.regression.curves import polynomial, powers
from models.regression.polynomials import fit_orders, predict_orders, training_loss
from models.regression.ridge import ridge_path
from models.types import Floats


@dataclass
class Overfitting(CurveOrData, Study):
    """Training and expected test error by order and by size of the training set (notes 2.1)."""

    headline = {"test_best_order": "argmin(median(first(test_loss), over='repetition'))"}

    data: str | None = knob("curve-fitting", "a data set in place of drawn ones", dataset=True)
    more_n: list[int] = knob(
        [], "further sizes of drawn sets", at_least=2, distinct=True, may_be_empty=True
    )
    repetitions: int = knob(1, "data sets to draw of each size", at_least=1, at_most=100_000)
    orders: list[int] = knob(list(range(10)), "to fit", at_least=0, at_most=20, distinct=True)
    show: list[int] = knob([0, 1, 3, 9], "orders whose fits are drawn", distinct=True)
    show_n: list[int] = knob(
        [], "sizes whose fits are drawn; none: the least", distinct=True, may_be_empty=True
    )
    prior_variance: float | None = knob(None, "of the weights, for likelihoods; or none", above=0)

    @property
    def sizes(self) -> list[int]:
        return sorted([self.size, *self.more_n])

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        least = min(self.sizes)
        if self.curve == "unknown":
            yield "study.curve=unknown: the error on new data needs the true curve"
        if self.data is not None and (self.more_n or self.repetitions > 1):
            yield f"study.data={self.data} is one data set of one size; study.data=null draws"
        if max(self.orders) >= least:
            yield f"study.orders={self.orders}: {least} points; allowed: orders < {least}"
        if not set(self.show) <= set(self.orders):
            yield f"study.show={self.show}; allowed: some of study.orders={self.orders}"
        if not set(self.show_n) <= set(self.sizes):
            yield f"study.show_n={self.show_n}; allowed: some of {self.sizes}"
        if self.prior_variance is not None and self.noise == 0:
            yield "study.noise=0: a likelihood needs some; allowed: > 0"

    def run(self, rng: Generator) -> Outcome:
        n, shown = axis("n", self.sizes), axis("shown_n", sorted(self.show_n) or self.sizes[:1])
        order, repetition = axis("order", sorted(self.orders)), axis("repetition", self.repetitions)
        nodes, grid, top = self.quadrature, self.grid(), max(self.orders)
        training, test = np.empty((2, len(n), len(repetition), len(order)))
        shown_sets, found = [], {}
        for row, size in enumerate(self.sizes):
            x, t = self.sets(rng, self.repetitions, size)
            fits = fit_orders(x, t, top)
            training[row] = training_loss(fits)[:, order.values]
            test[row] = self.expected_loss(predict_orders(fits, nodes.x))[:, order.values]
            if size in shown.values:
                shown_sets.append((x[0], t[0], predict_orders(fits, grid)[0, self.show]))
            if row == 0:
                # Fits are linear in t: unit changes of single targets tell what noise does.
                unit = predict_orders(fit_orders(x[0], np.eye(size), top), nodes.x)
                shake = self.noise * np.sqrt((unit**2).sum(axis=0) @ nodes.weight)
                found["noise_in_fit"] = order.of(shake[order.values])
                if self.prior_variance is not None:
                    found |= self._likelihoods(x[0], t[0], order, training[0, 0], test[0, 0])
        inputs, targets, curves = zip(*shown_sets, strict=True)
        return Outcome(
            training_loss=over(training, n, repetition, order),
            test_loss=over(test, n, repetition, order),
            curve=over(curves, shown, axis("drawn_order", self.show), axis("x", grid)),
            **self.drawn(np.concatenate(inputs), np.concatenate(targets)),  # of all sets shown
            **found,
        )

    def _likelihoods(self, x: Floats, t: Floats, order: Axis, *free: Floats) -> dict[str, Quantity]:
        """Log likelihoods per point of fits with these losses, and of penalised ones."""
        assert self.prior_variance is not None
        sigma2, term, nodes = self.noise**2, axis("term", max(self.orders) + 1), self.quadrature
        penalised, ridge, likely = np.empty((2, len(order))), *np.zeros((2, len(order), len(term)))
        for k, top in enumerate(order.values):
            Phi, prior = powers(x, top), self.prior_variance * np.eye(top + 1)
            w = ridge_path(Phi, t, np.array([sigma2 / self.prior_variance])).weights[0]
            ridge[k, : top + 1] = w
            likely[k, : top + 1] = posterior(Phi, t, sigma2, np.zeros(top + 1), prior).mean
            new = self.expected_loss(polynomial(nodes.x, w))
            penalised[:, k] = np.mean((t - Phi @ w) ** 2), new
        # Gaussian with known noise: the log likelihood per point is a matter of the squared loss.
        values = -(np.log(2 * np.pi * sigma2) + np.stack([free, penalised]) / sigma2) / 2
        fit, sample = axis("fit", ["maximum", "penalised"]), axis("sample", ["training", "new"])
        return {
            "log_likelihood": over(values, fit, sample, order),
            "penalised_weight": over(ridge, order, term),
            "map_weight": over(likely, order, term),
        }
