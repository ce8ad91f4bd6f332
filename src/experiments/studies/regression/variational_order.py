"""The order of a polynomial by the variational bound on its evidence (PRML 10.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from experiments.contract.legacy import Outcome, Series
from experiments.contract.study import Study, knob
from experiments.studies.regression.evidence_order import KnownNoise
from models.regression import variational_regression
from models.regression.curves import powers
from models.regression.polynomials import fit_orders, training_loss

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class VariationalOrder(KnownNoise, Study):
    """The variational lower bound against the order of a polynomial (PRML 10.3.3)."""

    weights: list[float] = knob(
        [0.0, -1.0, 0.5, 0.3], "w0, w1, ... of the true curve if a polynomial"
    )
    orders: list[int] = knob(
        list(range(10)), "orders to compare", at_least=0, at_most=15, distinct=True
    )
    a0: float = knob(0.0, "shape of the gamma prior on the weights' precision", at_least=0)
    b0: float = knob(0.0, "rate of the gamma prior on the weights' precision", at_least=0)
    proper: float = knob(0.01, "shape and rate of the prior at which bound meets evidence", above=0)
    repetitions: int = knob(100, "data sets to draw", at_least=1, at_most=10_000)

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if (self.a0 == 0) != (self.b0 == 0):
            yield f"study.a0={self.a0:g}, study.b0={self.b0:g}; allowed: both zero, or neither"
        if max(self.orders) >= self.n:
            yield f"study.orders={self.orders}: {self.n} points; allowed: orders < {self.n}"

    def run(self, rng: Generator) -> Outcome:
        orders, beta = sorted(self.orders), 1 / self.noise**2
        x, t = self.sample(rng, self.repetitions)
        bound, gap, printed_gap = (np.empty((self.repetitions, len(orders))) for _ in range(3))
        never_falls, converged = True, 0.0
        for k, order in enumerate(orders):
            Phi = powers(x, order)
            fit = variational_regression.fit(Phi, t, beta, self.a0, self.b0)
            bound[:, k] = fit.bound
            converged += fit.converged.mean() / len(orders)
            never_falls &= bool(np.nanmin(np.diff(fit.history), initial=0.0) > -1e-8)
            # The misprint in (10.110) shows where the prior is proper, and the evidence exists.
            right = variational_regression.fit(Phi, t, beta, self.proper, self.proper)
            evidence = variational_regression.log_evidence(Phi, t, beta, self.proper, self.proper)
            gap[:, k] = evidence - right.bound
            printed_gap[:, k] = gap[:, k] - gammaln(self.proper) + gammaln(right.a)
        residual = np.sqrt(training_loss(fit_orders(x, t, orders[-1])))[:, orders]
        chosen = np.array(orders)[np.argmax(bound, axis=-1)]
        low, middle, high = np.quantile(bound, [0.05, 0.5, 0.95], axis=0)
        shares = self.shares(chosen, orders)
        metrics: dict[str, Any] = {
            "bound_best_order": orders[int(np.argmax(middle))],
            "bound_never_falls": never_falls,
            "share_converged": converged,
            "bound_below_evidence": bool(gap.min() > -1e-8),
            "printed_bound_below_evidence": bool(printed_gap.min() > -1e-8),
            "largest_gap": gap.max(),
            "residual_never_rises": bool(
                np.all(np.diff(residual, axis=-1) <= 1e-9 * residual[:, :1])
            ),
            "residual_highest_order": residual[:, -1].max(),
        }
        metrics |= {f"share_chooses_{k}": v for k, v in zip(orders, shares, strict=True)}
        table = {"order": orders, "bound": middle, "bound_low": low, "bound_high": high}
        table |= {"share": shares, "residual_rms": np.median(residual, axis=0)}
        return Outcome(
            metrics,
            {"bound": Series(orders, middle.tolist())},
            {"orders": table},
            {"chosen_order": chosen},
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        table = outcome.tables["orders"]
        figure, (left, right) = panels(1, 2)
        left.plot(table["order"], table["bound"], "o-", label="median")
        band = {"color": "C0", "alpha": 0.2, "linewidth": 0, "label": "central 90 % of data sets"}
        left.fill_between(table["order"], table["bound_low"], table["bound_high"], **band)
        left.set_yscale("symlog", linthresh=10)
        left.set(xlabel="polynomial order", ylabel="lower bound on ln p(t)", xticks=table["order"])
        left.legend(loc="lower right")
        right.plot(table["order"], table["residual_rms"], "o-", color="C1")
        right.set(
            xlabel="polynomial order", ylabel="least-squares residual (rms)", xticks=table["order"]
        )
        right.set_yscale("symlog", linthresh=0.1)
        right.set_ylim(bottom=-0.01)
        return {"bound": figure}
