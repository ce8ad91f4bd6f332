"""Evidence along ln alpha with gamma and alpha m^T m, or the remaining kernels."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.clustering import strip_offsets
from bythebook.experiments.plotting.regression import fill_band
from bythebook.experiments.studies.regression.evidence_maximisation import EvidenceMaximisation

_NAMES = {
    "direct": "direct",
    "em": "EM",
    "variational": "variational",
    "variational_noise": "variational, noise too",
    "searched": "search",
}


def draw(study: EvidenceMaximisation, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.precisions == "each":
        yield "relevance", _relevance(study, outcome)
    else:
        yield "evidence", _evidence(outcome)
        yield "prediction", _prediction(study, outcome)


def _evidence(outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2)
    log_alpha = outcome["curve_gamma"].coord("ln_alpha")
    best = np.log(outcome["searched_alpha"].values[0])
    left.plot(log_alpha, outcome["curve_gamma"].values, color="C0", label=r"$\gamma$")
    left.plot(log_alpha, outcome["curve_fit"].values, color="C1", label=r"$\alpha\, m^T m$")
    left.set(xlabel=r"$\ln \alpha$", ylim=(0, 1.6 * outcome["curve_gamma"].values.max()))
    right.plot(log_alpha, outcome["curve_log_evidence"].values, color="C2", label="log evidence")
    right.set(xlabel=r"$\ln \alpha$", ylabel="log evidence (nats)")
    for ax in (left, right):
        ax.axvline(best, color="0.5", lw=1, ls="--")
    shared_legend(figure, left, 2)
    return figure


def _prediction(study: EvidenceMaximisation, outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2)
    x = outcome["prediction"].coord("x")
    left.plot(outcome["inputs"].values, outcome["targets"].values, "o", color="C0", ms=4)
    left.plot(outcome["truth"].coord("x"), outcome["truth"].values, color="C2", label="true curve")
    mean, sd = (
        outcome[name].sel(fit="searched").values for name in ("prediction", "prediction_sd")
    )
    left.plot(x, mean, color="C1", label="prediction, one standard deviation")
    fill_band(left, x, mean - sd, mean + sd, color="C1")
    left.set(xlabel="x", ylabel="t")
    for i, name in enumerate(study.methods):
        ratio = np.log(outcome["alpha"].sel(method=name).values / outcome["searched_alpha"].values)
        right.plot(
            i + strip_offsets(ratio.round(9)), np.abs(ratio) + 1e-12, "o", ms=3, color=f"C{i}"
        )
    right.set_xticks(range(len(study.methods)), [_NAMES[name] for name in study.methods])
    right.set_yscale("log")
    right.set_ylabel(r"$|\ln \alpha|$ from the search's, each data set")
    shared_legend(figure, left, 2)
    return figure


def _relevance(study: EvidenceMaximisation, outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2)
    x, t = outcome["inputs"].values, outcome["targets"].values
    left.plot(x, t, "o", color="C0", ms=4, label="data")
    left.plot(outcome["truth"].coord("x"), outcome["truth"].values, color="C2", label="true curve")
    curve = outcome["curve"].sel(method=study.methods[0])
    left.plot(curve.coord("x"), curve.values, color="C1", label="mean prediction")
    gamma = outcome["relevance"].sel(method=study.methods[0])
    if study.basis == "kernels":
        left_over = gamma.values[0, 1:] > 0
        look = {"mfc": "none", "mec": "C3", "ms": 10}
        left.plot(x[left_over], t[left_over], "o", label="relevance vectors", **look)
    left.set(xlabel="x", ylabel="t")
    kept = (gamma.values[:, 1:] > 0).sum(-1)
    counts = np.bincount(kept, minlength=gamma.values.shape[1] + 1)
    right.bar(range(len(counts)), counts, color="C0")
    right.set(xlabel=f"kernels that are left, of {gamma.values.shape[-1] - 1}", ylabel="data sets")
    shared_legend(figure, left, 4)
    return figure
