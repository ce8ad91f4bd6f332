"""Can the order of a polynomial be recovered from data? Draws about a known curve.

By cross-validation (FCML 1.5), by the evidence (FCML 3.8), or by a bound on it (PRML 10.3).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, psi

from experiments.contract.outcome import Axis, Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies._curves import CURVES, SyntheticCurve
from models.regression import evidence, polynomials
from models.regression import variational_regression as variational
from models.regression.bayesian_regression import log_evidence
from models.regression.curves import DESIGNS, powers
from models.regression.polynomials import OrderFits, fit_orders, predict_orders
from models.types import Floats

LOSSES = ("loo", "kfold", "holdout")
METHODS = (*LOSSES, "evidence", "formula", "posterior", "average", "bound")


@dataclass
class OrderRecovery(SyntheticCurve, Study):
    """How often a criterion finds the order of the true polynomial (FCML 1.5.2, 3.8)."""

    headline = {
        f"share_{name}_recovers": f"share(argmin({name}_loss, over='order') == true_order)"
        for name in (*LOSSES, "test")
    } | {
        f"share_{name}_recovers": f"share(argmax(first({values}), over='order') == true_order)"
        for name, values in (("evidence", "log_evidence"), ("bound", "bound"))
    }

    # A cubic, faint at the usual noise, in place of the sine.
    curve: str = knob("polynomial", "the true curve: sin(2 pi x), or a polynomial", choices=CURVES)
    weights: list[float] = knob([0.0, 1.0, 0.0, -1.0], "w0, w1, ... of a polynomial")
    n: int = knob(20, "points in a data set", at_least=2)
    design: str = knob("uniform", "inputs equally spaced or drawn", choices=DESIGNS)
    low: float = knob(-1.0, "the smallest input")
    orders: list[int] = knob(list(range(8)), "to compare", at_least=0, at_most=20, distinct=True)
    methods: list[str] = knob(["loo"], "how the order is chosen", choices=METHODS, distinct=True)
    folds: int = knob(10, "folds for the method kfold", at_least=2)
    held_out: int = knob(3, "points kept aside for the method holdout", at_least=1)
    prior_variances: list[float] = knob([1.0], "of weights (evidence)", above=0, distinct=True)
    averaged_orders: list[int] = knob(
        [0], "whose likelihood is averaged over the prior (method average)", distinct=True
    )
    prior_draws: int = knob(10_000, "of weights, for that", at_least=1, at_most=10_000_000)
    gamma_priors: list[float] = knob(
        [0.0], "shape = rate for the weights' precision (method bound)", at_least=0, distinct=True
    )
    test_points: int = knob(0, "to test on; 0: the expectation", at_least=0, at_most=10_000)
    repetitions: int = knob(500, "data sets to draw", at_least=1, at_most=100_000)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if "kfold" in self.methods and self.folds > self.n:
            yield f"study.folds={self.folds}: {self.n} points; allowed: <= {self.n}"
        out = {"loo": 1, "kfold": -(-self.n // self.folds), "holdout": self.held_out}
        points = self.n - max(out.get(method, 0) for method in self.methods)
        if "holdout" in self.methods and self.n - self.held_out < 2:
            yield f"study.held_out={self.held_out}: {self.n} points; allowed: <= {self.n - 2}"
        elif max(self.orders) >= points:
            yield f"study.orders={self.orders}: fits to {points} points; allowed: orders < {points}"
        if self.noise == 0 and (set(METHODS) - set(LOSSES)) & set(self.methods):
            yield "study.noise=0: evidence and bound need some; allowed: > 0"
        if not set(self.averaged_orders) <= set(self.orders) and "average" in self.methods:
            yield f"study.averaged_orders={self.averaged_orders}; allowed: some of study.orders"
        for method in {"formula", "posterior"} & set(self.methods):
            if "evidence" not in self.methods:
                yield f"study.methods has {method}; it needs evidence beside it"

    def run(self, rng: Generator) -> Outcome:
        order, repetition = axis("order", sorted(self.orders)), axis("repetition", self.repetitions)
        x, t = self.sample(rng, self.repetitions)
        choosing = [name for name in self.methods if name in LOSSES]
        if choosing:  # in random order the first points can be held out, and blocks are folds
            mixed = rng.permuted(np.tile(np.arange(self.n), (self.repetitions, 1)), axis=-1)
            x, t = np.take_along_axis(x, mixed, axis=-1), np.take_along_axis(t, mixed, axis=-1)
        fits, grid = fit_orders(x, t, max(self.orders)), axis("x", self.grid())
        losses = {k: v[:, order.values] for k, v in self._losses(fits, x, t, rng).items()}
        found, training = self.drawn(x[0], t[0]), polynomials.training_loss(fits)[:, order.values]
        found["training_loss"] = over(training, repetition, order)
        found |= {name: over(values, repetition, order) for name, values in losses.items()}
        if choosing:  # the loss on new data of the order that each method chooses
            chosen = [np.argmin(losses[f"{name}_loss"], axis=-1)[:, None] for name in choosing]
            picked = [np.take_along_axis(losses["test_loss"], k, axis=-1)[:, 0] for k in chosen]
            found["chosen_test_loss"] = over(picked, axis("method", choosing), repetition)
        if "loo" in choosing:  # the first data set's the long way
            each = list(np.arange(self.n)[:, None])
            refits = [polynomials.refit_folds(x[0], t[0], int(k), each).loss for k in order.values]
            found["refitted_loo_loss"] = order.of(refits)
        if "holdout" in choosing:  # that of its choice if only what is left is fitted
            rest = fit_orders(x[:, self.held_out :], t[:, self.held_out :], max(self.orders))
            f = predict_orders(rest, self.quadrature.x)
            left = self.expected_loss(f)[:, order.values]
            pick = chosen[choosing.index("holdout")]
            found["left_test_loss"] = repetition.of(np.take_along_axis(left, pick, axis=-1)[:, 0])
        weights = polynomials.highest_weights(fits, self.low, self.high)
        found["weight"] = over(weights, repetition, axis("term", weights.shape[-1]))
        found["curve"] = over(predict_orders(fits, grid.values)[0, order.values], order, grid)
        if self.true_order is not None:
            found["true_order"] = Quantity(self.true_order)
        if "evidence" in self.methods:
            found |= self._evidence(x, t, order, repetition)
        if "average" in self.methods:
            found |= self._averaged(x[0], t[0], rng)
        if "bound" in self.methods:
            found |= self._bound(x, t, order, repetition)
        return Outcome(**found)

    def _losses(self, fits: OrderFits, x: Floats, t: Floats, rng: Generator) -> dict[str, Floats]:
        """Mean squared losses on points not fitted to, each (repetitions, orders from 0)."""
        losses: dict[str, Floats] = {}
        if "loo" in self.methods:
            losses["loo_loss"] = polynomials.loo_by_order(x, t, max(self.orders))
        if "kfold" in self.methods:
            folds = np.array_split(np.arange(self.n), self.folds)
            losses["kfold_loss"] = polynomials.kfold_loss(fits, folds)
        if "holdout" in self.methods:
            held, rest = slice(self.held_out), slice(self.held_out, None)
            trained = fit_orders(x[:, rest], t[:, rest], max(self.orders))
            losses["holdout_loss"] = polynomials.loss_at(trained, x[:, held], t[:, held])
        if self.test_points:
            new = self.sample(rng, self.repetitions, self.test_points, "uniform")
            losses["test_loss"] = polynomials.loss_at(fits, *new)
        else:
            losses["test_loss"] = self.expected_loss(predict_orders(fits, self.quadrature.x))
        # Of an exact fit rounding is left, and the least of that would choose an order.
        return {name: np.maximum(values, 1e-20 * t.var()) for name, values in losses.items()}

    def _evidence(self, x: Floats, t: Floats, order: Axis, repetition: Axis) -> dict[str, Quantity]:
        variance = axis("prior_variance", sorted(self.prior_variances))
        given = (self.noise**2, variance.values)
        log_p = np.stack([log_evidence(powers(x, k), t, *given) for k in order.values], axis=-1)
        found = {"log_evidence": over(log_p, variance, repetition, order)}
        if {"formula", "posterior"} & set(self.methods):
            found |= self._posterior(x, t, log_p, (variance, repetition, order))
        return found

    def _posterior(
        self, x: Floats, t: Floats, log_p: Floats, axes: tuple[Axis, Axis, Axis]
    ) -> dict[str, Quantity]:
        """The evidence as a sum of five terms (notes 2.23); losses of the most probable weights."""
        formula, losses = np.empty((2, *log_p.shape))
        for i, variance in enumerate(axes[0].values):
            for j, k in enumerate(axes[2].values):
                Phi = powers(x, int(k))
                at = evidence.started(Phi, 1 / variance, 1 / self.noise**2)
                q = evidence.posterior(Phi, t, at)
                formula[i, :, j] = evidence.log_evidence(Phi, t, at, q)
                losses[i, :, j] = self.expected_loss(q.m @ powers(self.quadrature.x, int(k)).T)
        best = np.argmax(log_p, axis=-1)[..., None]
        return {
            "formula_log_evidence": over(formula, *axes),
            "posterior_test_loss": over(losses, *axes),
            # of the order that has the highest evidence
            "chosen_posterior_loss": over(
                np.take_along_axis(losses, best, axis=-1)[..., 0], *axes[:2]
            ),
        }

    def _averaged(self, x: Floats, t: Floats, rng: Generator) -> dict[str, Quantity]:
        """Log of the mean likelihood under weights from the first prior, and its standard error.

        Of the first data set.
        """
        found, errors = [], []
        for k in self.averaged_orders:
            w = np.sqrt(self.prior_variances[0]) * rng.standard_normal((self.prior_draws, k + 1))
            square = ((t - w @ powers(x, k).T) ** 2).sum(-1) / self.noise**2
            share = np.exp((square.min() - square) / 2)  # of the highest likelihood
            constant = len(t) * np.log(2 * np.pi * self.noise**2) + square.min()
            found.append(np.log(share.mean()) - constant / 2)
            errors.append(share.std() / share.mean() / np.sqrt(self.prior_draws))
        order = axis("averaged_order", self.averaged_orders)
        return {"averaged_log_likelihood": order.of(found), "averaged_error": order.of(errors)}

    def _bound(self, x: Floats, t: Floats, order: Axis, repetition: Axis) -> dict[str, Quantity]:
        prior, beta = axis("gamma_prior", sorted(self.gamma_priors)), 1 / self.noise**2
        proper = axis("proper_prior", prior.values[prior.values > 0])  # these have an evidence
        bound = np.empty((len(prior), len(repetition), len(order)))
        evidence, printed, summed, rate, squares = np.empty((5, len(proper), *bound.shape[1:]))
        least_step = np.empty((len(prior), len(order)))
        for i, k in np.ndindex(least_step.shape):
            a0, j = float(prior.values[i]), i - len(prior)
            Phi = powers(x, int(order.values[k]))
            fit = variational.fit(Phi, t, beta, a0, a0)
            bound[i, :, k], least_step[i, k] = fit.bound, fit.least_step
            if a0 > 0:
                evidence[j, :, k] = variational.log_evidence(Phi, t, beta, a0, a0)
                printed[j, :, k], rate[j, :, k] = fit.printed_bound(a0), fit.b
                summed[j, :, k], squares[j, :, k] = _displayed(Phi, t, beta, a0, fit.b)
        return {
            "bound": over(bound, prior, repetition, order),
            "least_step": over(least_step, prior, order),  # of the bound, in an iteration
            "bounded_log_evidence": over(evidence, proper, repetition, order),
            "printed_bound": over(printed, proper, repetition, order),
            "printed_terms": over(summed, proper, repetition, order),
            "rate": over(rate, proper, repetition, order),  # b_N
            "expected_square": over(squares, proper, repetition, order),  # E[w^T w]
        }


def _displayed(Phi: Floats, t: Floats, beta: float, a0: float, b: Floats) -> tuple[Floats, Floats]:
    """The terms (10.108) to (10.112) as they are printed, and E[w^T w] by (10.103); a_0 = b_0.

    With the matrices themselves, by QR of the data and as many rows of the prior's.
    """
    N, M = Phi.shape[1:]
    a, alpha = a0 + M / 2, (a0 + M / 2) / b
    rows = np.sqrt(alpha)[:, None, None] * np.eye(M)
    root = np.linalg.inv(np.linalg.qr(np.concatenate([np.sqrt(beta) * Phi, rows], axis=1)).R)
    m = beta * np.matvec(root @ root.mT, np.vecmat(t, Phi))
    square = (m**2).sum(-1) + (root**2).sum((-2, -1))  # (10.103)
    fitted, log_alpha = np.matvec(Phi, m), psi(a) - np.log(b)
    scatter = (fitted**2).sum(-1) + ((Phi @ root) ** 2).sum((-2, -1))
    terms = [
        N / 2 * np.log(beta / (2 * np.pi))
        - beta / 2 * (t**2).sum(-1)
        + beta * (fitted * t).sum(-1)
        - beta / 2 * scatter,
        -M / 2 * np.log(2 * np.pi) + M / 2 * log_alpha - alpha / 2 * square,
        a0 * np.log(a0) + (a0 - 1) * log_alpha - a0 * alpha - gammaln(a),
        np.log(np.abs(np.diagonal(root, axis1=-2, axis2=-1))).sum(-1)
        + M / 2 * (1 + np.log(2 * np.pi)),
        gammaln(a) - (a - 1) * psi(a) - np.log(b) + a,
    ]
    return np.asarray(sum(terms)), square
