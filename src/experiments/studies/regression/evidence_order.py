"""The order of a polynomial by its evidence, or a bound on it (FCML 3.8, PRML 10.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from experiments.contract.outcome import Axis, Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.regression._curves import NoisyCubic
from models.regression import variational_regression as variational
from models.regression.bayesian_regression import log_evidence
from models.regression.curves import powers
from models.regression.polynomials import fit_orders, training_loss
from models.types import Floats


@dataclass
class EvidenceOrder(NoisyCubic, Study):
    """Polynomial orders by marginal likelihood, the noise being known (FCML 3.8, PRML 10.3.3).

    The weights' prior N(0, s I) has a variance s that is given, for the evidence itself, or a
    precision 1 / s with a gamma prior, for the variational bound.
    """

    headline = {
        "evidence_best_order": "argmax(median(first(log_evidence), over='repetition'))",
        "bound_best_order": "argmax(median(first(bound), over='repetition'))",
    }

    orders: list[int] = knob(list(range(8)), "to compare", at_least=0, at_most=15, distinct=True)
    prior_variances: list[float] = knob(
        [1.0], "of the weights", above=0, distinct=True, may_be_empty=True
    )
    gamma_priors: list[float] = knob(
        [],
        "shape and rate of gamma priors on the weights' precision; 0: improper",
        at_least=0,
        distinct=True,
        may_be_empty=True,
    )
    repetitions: int = knob(300, "data sets to draw", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.noise == 0:
            yield "study.noise=0: the model needs some; allowed: > 0"
        if not self.prior_variances and not self.gamma_priors:
            yield "study.prior_variances=[] and study.gamma_priors=[] leave no prior"
        if self.gamma_priors and max(self.orders) >= self.n:
            yield f"study.orders={self.orders}: {self.n} points; allowed: orders < {self.n}"

    def run(self, rng: Generator) -> Outcome:
        order, repetition = axis("order", sorted(self.orders)), axis("repetition", self.repetitions)
        x, t = self.sample(rng, self.repetitions)
        found = self.drawn(x[0], t[0])
        if self.prior_variances:
            found |= self._evidence(x, t, order, repetition)
        if self.gamma_priors:
            found |= self._bound(x, t, order, repetition)
        return Outcome(**found)

    def _evidence(self, x: Floats, t: Floats, order: Axis, repetition: Axis) -> dict[str, Quantity]:
        variance = axis("prior_variance", sorted(self.prior_variances))
        log_p = np.stack(
            [log_evidence(powers(x, k), t, self.noise**2, variance.values) for k in order.values],
            axis=-1,
        )
        second = np.sort(log_p, axis=-1)[..., -2] if len(order) > 1 else -np.inf + log_p[..., 0]
        return {
            "log_evidence": over(log_p, variance, repetition, order),
            "second_log_evidence": over(second, variance, repetition),
        }

    def _bound(self, x: Floats, t: Floats, order: Axis, repetition: Axis) -> dict[str, Quantity]:
        prior, beta = axis("gamma_prior", sorted(self.gamma_priors)), 1 / self.noise**2
        proper = axis("proper_prior", prior.values[prior.values > 0])
        bound = np.empty((len(prior), len(repetition), len(order)))
        exact, printed = (np.empty((len(proper), *bound.shape[1:])) for _ in range(2))
        least_step = np.empty((len(prior), len(order)))
        for k, power in enumerate(order.values):
            Phi = powers(x, power)
            for i, a0 in enumerate(prior.values):
                fit = variational.fit(Phi, t, beta, a0, a0)
                bound[i, :, k] = fit.bound
                least_step[i, k] = np.nanmin(np.diff(fit.history), initial=0.0)
                if a0 > 0:  # the evidence exists, and (10.110) as printed has Gamma(a_N)
                    j = i + len(proper) - len(prior)
                    exact[j, :, k] = variational.log_evidence(Phi, t, beta, a0, a0)
                    printed[j, :, k] = fit.bound + gammaln(a0) - gammaln(fit.a)
        residual = np.sqrt(training_loss(fit_orders(x, t, order.values[-1])))[:, order.values]
        return {
            "bound": over(bound, prior, repetition, order),
            "least_step": over(least_step, prior, order),  # of the bound, in an iteration
            "exact_log_evidence": over(exact, proper, repetition, order),
            "printed_bound": over(printed, proper, repetition, order),
            "residual_rms": over(residual, repetition, order),
        }
