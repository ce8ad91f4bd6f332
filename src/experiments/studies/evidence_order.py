"""The order of a polynomial by its evidence: exact (FCML 3.8) and bounded (PRML 10.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.polynomial import polyvander
from numpy.random import Generator
from scipy.special import gammaln

from experiments.studies.curve_data import CURVES, SyntheticCurve, tiles
from experiments.study import Outcome, Series, Study, knob
from models import variational_regression
from models.bayesian_regression import log_evidence
from models.curves import DESIGNS
from models.polynomials import fit_orders, training_loss
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class _KnownNoise(SyntheticCurve):
    """Draws about a polynomial, their noise known to the model."""

    curve: str = knob("polynomial", "the true curve: sin(2 pi x), or a polynomial", choices=CURVES)
    noise: float = knob(0.3, "standard deviation of the noise, known to the model", above=0)
    design: str = knob("uniform", "inputs equally spaced or drawn uniformly", choices=DESIGNS)
    low: float = knob(-5.0, "the smallest input")
    high: float = knob(5.0, "the largest input")
    repetitions: int = knob(300, "data sets to draw", at_least=1, at_most=10_000)

    def shares(self, chosen: Floats, orders: list[int]) -> list[float]:
        """The share of data sets that choose each order."""
        return [float(np.mean(chosen == order)) for order in orders]


@dataclass
class EvidenceOrder(_KnownNoise, Study):
    """Marginal likelihood of polynomial orders under Gaussian priors of several widths (FCML 3.8)."""

    weights: list[float] = knob([0.0, 1.0, -1.0, 5.0], "w0, w1, ... of the true curve if a polynomial")
    n: int = knob(100, "points in a data set", at_least=2)
    noise: float = knob(12.25, "standard deviation of the noise, known to the model", above=0)
    orders: list[int] = knob(list(range(1, 8)), "orders to compare", at_least=0, at_most=15, distinct=True)
    prior_variances: list[float] = knob([1.0], "variances of the weights' prior", above=0, distinct=True)

    def run(self, rng: Generator) -> Outcome:
        orders, variances = sorted(self.orders), sorted(self.prior_variances)
        x, t = self.sample(rng, self.repetitions)
        log_p = np.stack(
            [log_evidence(polyvander(x, k), t, self.noise**2, np.array(variances)) for k in orders], axis=-1
        )  # (variances, repetitions, orders)
        chosen = np.array(orders)[np.argmax(log_p, axis=-1)]
        relative = np.exp(log_p - log_p.max(axis=-1, keepdims=True))
        runner_up = np.sort(relative, axis=-1)[..., -2] if len(orders) > 1 else np.zeros_like(chosen)
        metrics: dict[str, float | bool] = {}
        arrays: dict[str, Floats] = {"x": x[0], "t": t[0], "grid": self.grid(), "truth": self.truth(self.grid())}
        table: dict[str, list[float]] = {"order": orders}
        for i, s in enumerate(variances):
            shares = self.shares(chosen[i], orders)
            metrics |= {f"share_chooses_{k}_prior_{s:g}": v for k, v in zip(orders, shares, strict=True)}
            metrics[f"runner_up_prior_{s:g}"] = np.median(runner_up[i])
            arrays[f"chosen_order_prior_{s:g}"] = chosen[i]
            low, middle, high = np.quantile(relative[i], [0.05, 0.5, 0.95], axis=0)
            table |= {f"{name}_{s:g}": v for name, v in (("low", low), ("median", middle), ("high", high))}
            table |= {f"share_{s:g}": shares, f"log_evidence_{s:g}": np.median(log_p[i], axis=0)}
        metrics["mean_order_widest_prior"] = chosen[-1].mean()
        metrics["mean_order_narrowest_prior"] = chosen[0].mean()
        metrics["narrower_prior_higher_order"] = bool(np.all(np.diff(chosen.mean(axis=-1)) < 0))
        metrics["order_never_falls_as_prior_narrows"] = np.mean(np.all(np.diff(chosen, axis=0) <= 0, axis=0))
        series = {f"log_evidence_prior_{s:g}": Series(orders, table[f"log_evidence_{s:g}"]) for s in variances}
        return Outcome(metrics, series, {"orders": table}, arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.plotting import panels

        table, arrays = outcome.tables["orders"], outcome.arrays
        variances = sorted(self.prior_variances, reverse=True)
        axis_names = ("polynomial order", "evidence / highest")
        figure, axes = tiles(len(variances), *axis_names, sharex=True, sharey=True)
        for ax, s in zip(axes, variances, strict=True):
            low, middle, high = (np.array(table[f"{part}_{s:g}"]) for part in ("low", "median", "high"))
            look = {"ecolor": "black", "capsize": 3, "error_kw": {"elinewidth": 1}}
            ax.bar(table["order"], middle, yerr=[middle - low, high - middle], color="C0", **look)
            ax.set(title=f"prior variance {s:g}", xticks=table["order"])
        data, ax = panels()
        ax.plot(arrays["x"], arrays["t"], "o", color="C0", markersize=4, label="data")
        ax.plot(arrays["grid"], arrays["truth"], color="C2", label="true curve")
        ax.set(xlabel="x", ylabel="t")
        ax.legend()
        return {"evidence": figure, "data": data}


@dataclass
class VariationalOrder(_KnownNoise, Study):
    """The variational lower bound against the order of a polynomial (PRML 10.3.3)."""

    weights: list[float] = knob([0.0, -1.0, 0.5, 0.3], "w0, w1, ... of the true curve if a polynomial")
    orders: list[int] = knob(list(range(10)), "orders to compare", at_least=0, at_most=15, distinct=True)
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
            Phi = polyvander(x, order)
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
        metrics: dict[str, float | bool] = {
            "bound_best_order": orders[int(np.argmax(middle))],
            "bound_never_falls": never_falls,
            "share_converged": converged,
            "bound_below_evidence": bool(gap.min() > -1e-8),
            "printed_bound_below_evidence": bool(printed_gap.min() > -1e-8),
            "largest_gap": gap.max(),
            "residual_never_rises": bool(np.all(np.diff(residual, axis=-1) <= 1e-9 * residual[:, :1])),
            "residual_highest_order": residual[:, -1].max(),
        }
        metrics |= {f"share_chooses_{k}": v for k, v in zip(orders, shares, strict=True)}
        table = {"order": orders, "bound": middle, "bound_low": low, "bound_high": high}
        table |= {"share": shares, "residual_rms": np.median(residual, axis=0)}
        return Outcome(
            metrics, {"bound": Series(orders, middle.tolist())}, {"orders": table}, {"chosen_order": chosen}
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.plotting import panels

        table = outcome.tables["orders"]
        figure, (left, right) = panels(1, 2)
        left.plot(table["order"], table["bound"], "o-", label="median")
        band = {"color": "C0", "alpha": 0.2, "linewidth": 0, "label": "central 90 % of data sets"}
        left.fill_between(table["order"], table["bound_low"], table["bound_high"], **band)
        left.set_yscale("symlog", linthresh=10)
        left.set(xlabel="polynomial order", ylabel="lower bound on ln p(t)", xticks=table["order"])
        left.legend(loc="lower right")
        right.plot(table["order"], table["residual_rms"], "o-", color="C1")
        right.set(xlabel="polynomial order", ylabel="least-squares residual (rms)", xticks=table["order"])
        right.set_yscale("symlog", linthresh=0.1)
        right.set_ylim(bottom=-0.01)
        return {"bound": figure}
