"""Bounds and other estimates of the evidence against the exact one, and the models they prefer."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.clustering import MARKERS, integer_ticks
from bythebook.experiments.studies.clustering.mixture_evidence import MixtureEvidence


def draw(study: MixtureEvidence, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if len(study.k) > 1:
        yield "models", _models(study, outcome)
    yield "errors", _errors(study, outcome)


def _models(study: MixtureEvidence, outcome: Outcome) -> Figure:
    """Log evidence of the last size minus the highest of its data set: medians and quartiles."""
    figure, (left, right) = subplots(1, 2)
    N = study.sizes[-1]
    exact = [outcome["log_evidence"].sel(beta_prior=b, n=N).values for b in study.beta_priors]
    rows = {
        f"evidence, Beta({b:g}, {b:g})": v for b, v in zip(study.beta_priors, exact, strict=True)
    }
    rows["variational bound"] = outcome["bound"].sel(beta_prior=study.beta_priors[0], n=N).values
    rows["maximum likelihood"] = outcome["max_log_likelihood"].sel(n=N).values
    ks = np.array(sorted(study.k))
    for i, (name, values) in enumerate(rows.items()):
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
        look: dict[str, Any] = {"color": f"C{i}", "marker": MARKERS[i], "capsize": 3, "label": name}
        left.errorbar(ks + 0.05 * i, middle, [middle - low, high - middle], **look)
        best = np.bincount(ks[values.argmax(-1)], minlength=ks[-1] + 1)[ks]
        right.bar(ks + 0.2 * (i - (len(rows) - 1) / 2), best, 0.18, color=f"C{i}")
    left.set(xlabel="components K", ylabel="log probability of the data (nats)")
    right.set(xlabel="K that is preferred", ylabel="data sets")
    for ax in (left, right):
        integer_ticks(ax)
    shared_legend(figure, left, 2)
    return figure


def _errors(study: MixtureEvidence, outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2)
    first = study.beta_priors[0]
    for i, K in enumerate(study.k):
        exact = outcome["log_evidence"].sel(beta_prior=first, k=K).values.ravel()
        bound = outcome["bound"].sel(beta_prior=first, k=K).values.ravel()
        information = outcome["bic"].sel(k=K).values.ravel()
        left.plot(exact, bound - exact, MARKERS[i], color="C0", ms=4, label=f"bound, K = {K}")
        left.plot(exact, information - exact, MARKERS[i], color="C1", ms=4, label=f"BIC, K = {K}")
    left.axhline(0, color="0.6", lw=1)
    left.set(xlabel="log evidence (nats)", ylabel="error of its approximation")
    K = study.k[-1]
    if "annealed" in outcome:
        truth = outcome["log_evidence"].sel(beta_prior=first, k=K).values
        off = np.abs(outcome["annealed"].values - truth)
        fit = np.abs(outcome["bound"].sel(beta_prior=first, k=K).values - truth)
        cost = outcome["annealed_evaluations"].values
        for j, n in enumerate(study.sizes):
            look = {"color": f"C{j + 2}"}
            right.plot(cost[:, j], np.median(off[:, j], axis=-1), ".-", label=f"n = {n}", **look)
            spent = np.median(outcome["variational_evaluations"].values[j])
            right.plot(spent, np.median(fit[j]), "*", ms=11, **look)
        right.set(xlabel="evaluations; stars: variational fits", ylabel="median error (nats)")
        right.set_xscale("log")
        right.set_yscale("log")
    else:
        gap = outcome["divergence"].sel(beta_prior=first, k=K).values.ravel()
        exact = outcome["log_evidence"].sel(beta_prior=first, k=K).values.ravel()
        bound = outcome["bound"].sel(beta_prior=first, k=K).values.ravel()
        right.plot(gap, exact - bound, "o", color="C0", ms=4)
        right.axline((0, 0), slope=1, color="0.6", lw=1)
        right.set(xlabel="divergence of q from the posterior", ylabel="log evidence less bound")
    shared_legend(figure, left, 3)
    if "annealed" in outcome:
        right.legend()
    return figure
