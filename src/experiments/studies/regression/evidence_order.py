"""The order of a polynomial by its marginal likelihood (FCML 3.8)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Series
from experiments.contract.study import Study, knob
from experiments.studies.regression.curve_data import CURVES, SyntheticCurve, tiles
from models.regression.bayesian_regression import log_evidence
from models.regression.curves import DESIGNS, powers
from models.types import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class KnownNoise(SyntheticCurve):
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
class EvidenceOrder(KnownNoise, Study):
    """Marginal likelihood of polynomial orders under priors of several widths (FCML 3.8)."""

    weights: list[float] = knob(
        [0.0, 1.0, -1.0, 5.0], "w0, w1, ... of the true curve if a polynomial"
    )
    n: int = knob(100, "points in a data set", at_least=2)
    noise: float = knob(12.25, "standard deviation of the noise, known to the model", above=0)
    orders: list[int] = knob(
        list(range(1, 8)), "orders to compare", at_least=0, at_most=15, distinct=True
    )
    prior_variances: list[float] = knob(
        [1.0], "variances of the weights' prior", above=0, distinct=True
    )

    def run(self, rng: Generator) -> Outcome:
        orders, variances = sorted(self.orders), sorted(self.prior_variances)
        x, t = self.sample(rng, self.repetitions)
        log_p = np.stack(
            [log_evidence(powers(x, k), t, self.noise**2, np.array(variances)) for k in orders],
            axis=-1,
        )  # (variances, repetitions, orders)
        chosen = np.array(orders)[np.argmax(log_p, axis=-1)]
        relative = np.exp(log_p - log_p.max(axis=-1, keepdims=True))
        runner_up = (
            np.sort(relative, axis=-1)[..., -2] if len(orders) > 1 else np.zeros_like(chosen)
        )
        metrics: dict[str, Any] = {}
        arrays: dict[str, Floats] = {
            "x": x[0],
            "t": t[0],
            "grid": self.grid(),
            "truth": self.truth(self.grid()),
        }
        table: dict[str, Any] = {"order": orders}
        for i, s in enumerate(variances):
            shares = self.shares(chosen[i], orders)
            metrics |= {
                f"share_chooses_{k}_prior_{s:g}": v for k, v in zip(orders, shares, strict=True)
            }
            metrics[f"runner_up_prior_{s:g}"] = np.median(runner_up[i])
            arrays[f"chosen_order_prior_{s:g}"] = chosen[i]
            low, middle, high = np.quantile(relative[i], [0.05, 0.5, 0.95], axis=0)
            table |= {
                f"{name}_{s:g}": v for name, v in (("low", low), ("median", middle), ("high", high))
            }
            table |= {f"share_{s:g}": shares, f"log_evidence_{s:g}": np.median(log_p[i], axis=0)}
        metrics["mean_order_widest_prior"] = chosen[-1].mean()
        metrics["mean_order_narrowest_prior"] = chosen[0].mean()
        metrics["narrower_prior_higher_order"] = bool(np.all(np.diff(chosen.mean(axis=-1)) < 0))
        metrics["order_never_falls_as_prior_narrows"] = np.mean(
            np.all(np.diff(chosen, axis=0) <= 0, axis=0)
        )
        series = {
            f"log_evidence_prior_{s:g}": Series(orders, table[f"log_evidence_{s:g}"])
            for s in variances
        }
        return Outcome(metrics, series, {"orders": table}, arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        table, arrays = outcome.tables["orders"], outcome.arrays
        variances = sorted(self.prior_variances, reverse=True)
        axis_names = ("polynomial order", "evidence / highest")
        figure, axes = tiles(len(variances), *axis_names, sharex=True, sharey=True)
        for ax, s in zip(axes, variances, strict=True):
            low, middle, high = (
                np.array(table[f"{part}_{s:g}"]) for part in ("low", "median", "high")
            )
            look: dict[str, Any] = {"ecolor": "black", "capsize": 3, "error_kw": {"elinewidth": 1}}
            ax.bar(table["order"], middle, yerr=[middle - low, high - middle], color="C0", **look)
            ax.set(title=f"prior variance {s:g}", xticks=table["order"])
        data, ax = panels()
        ax.plot(arrays["x"], arrays["t"], "o", color="C0", markersize=4, label="data")
        ax.plot(arrays["grid"], arrays["truth"], color="C2", label="true curve")
        ax.set(xlabel="x", ylabel="t")
        ax.legend()
        return {"evidence": figure, "data": data}
