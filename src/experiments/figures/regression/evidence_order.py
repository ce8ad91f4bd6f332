"""Evidence of orders under each prior, the first data set, and the variational bound."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.curves import band, tiles
from experiments.studies.regression.evidence_order import EvidenceOrder

LEVELS = (0.05, 0.5, 0.95)


def draw(study: EvidenceOrder, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.prior_variances:
        yield "evidence", _evidence(outcome)
        yield "data", _data(outcome)
    if study.gamma_priors:
        yield "bound", _bound(outcome)


def _evidence(outcome: Outcome) -> Figure:
    log_p = outcome["log_evidence"]
    variances, orders = log_p.along("prior_variance")[::-1], log_p.along("order")
    names = ("polynomial order", "evidence / highest")
    figure, axes = tiles(len(variances), *names, sharex=True, sharey=True)
    for ax, s in zip(axes, variances, strict=True):
        here = log_p.at(prior_variance=s).values
        relative = np.exp(here - here.max(axis=-1, keepdims=True))
        low, middle, high = np.quantile(relative, LEVELS, axis=0)
        look: dict[str, Any] = {"ecolor": "black", "capsize": 3, "error_kw": {"elinewidth": 1}}
        ax.bar(orders, middle, yerr=[middle - low, high - middle], color="C0", **look)
        ax.set(title=f"prior variance {s:g}", xticks=orders)
    return figure


def _data(outcome: Outcome) -> Figure:
    figure, ax = panels()
    ax.plot(outcome["inputs"], outcome["targets"], "o", color="C0", markersize=4, label="data")
    ax.plot(outcome["truth"].along("x"), outcome["truth"], color="C2", label="true curve")
    ax.set(xlabel="x", ylabel="t")
    ax.legend()
    return figure


def _bound(outcome: Outcome) -> Figure:
    """The bound under the first prior, and what least squares leaves."""
    orders = outcome["bound"].along("order")
    low, middle, high = np.quantile(outcome["bound"].values[0], LEVELS, axis=0)
    figure, (left, right) = panels(1, 2)
    left.plot(orders, middle, "o-", label="median")
    band(left, orders, low, high, color="C0", label="central 90 % of data sets")
    left.set_yscale("symlog", linthresh=10)
    left.set(xlabel="polynomial order", ylabel="lower bound on ln p(t)", xticks=orders)
    left.legend(loc="lower right")
    right.plot(orders, np.median(outcome["residual_rms"], axis=0), "o-", color="C1")
    right.set(xlabel="polynomial order", ylabel="least-squares residual (rms)", xticks=orders)
    right.set_yscale("symlog", linthresh=0.1)
    right.set_ylim(bottom=-0.01)
    return figure
