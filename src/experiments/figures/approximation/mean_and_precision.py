"""The posterior and its factors stage by stage; without a prior, precisions against variances."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import gamma, norm

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import column_panels, panel_grid
from bythebook.experiments.studies.approximation.mean_and_precision import MeanAndPrecision

LEVELS = np.exp([-4.5, -2.0, -0.5])  # of the largest: 3, 2 and 1 standard deviations


def draw(study: MeanAndPrecision, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if "shown_mass" in outcome:
        yield "stages", _stages(outcome)
    else:
        yield "variances", _variances(outcome)


def _stages(outcome: Outcome) -> Figure:
    mass, factors = outcome["shown_mass"], outcome["shown_factors"]
    mu, tau = mass.coord("mu"), mass.coord("tau")
    p = mass.values / tau  # the lattice is even in the logarithm
    near = p > 1e-3 * p.max()
    figure, axes = column_panels(4, 2, 0.8, sharex=True, sharey=True)
    for ax, stage in zip(axes, factors.coord("stage"), strict=True):
        mean, precision, a, b = factors.sel(stage=stage).values
        q = norm.pdf(mu, mean, precision**-0.5)[:, None] * gamma.pdf(tau, a, scale=1 / b)
        for values, colour, label in ((p, "C2", "posterior"), (q, "C0", "q(μ) q(τ)")):
            levels = values.max() * LEVELS
            ax.contour(mu, tau, values.T, levels, colors=colour, linewidths=1.3)
            ax.plot([], [], color=colour, label=label)
        ax.set_title(stage)
    room = 0.5 * np.ptp(mu[near.any(1)])
    axes[0].set_xlim(mu[near.any(1)].min() - room, mu[near.any(1)].max() + room)
    axes[0].set_ylim(0, 1.6 * tau[near.any(0)].max())
    for ax in axes[2:]:
        ax.set_xlabel("μ")
    for ax in axes[::2]:
        ax.set_ylabel("τ")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _variances(outcome: Outcome) -> Figure:
    figure, axes = panel_grid(1, 1, 0.7)
    ax, tau = axes[0, 0], outcome["tau_mean"]
    sizes = tau.coord("points")
    for k, form in enumerate(tau.coord("form")):
        middle = (1 / tau.sel(form=form).values).mean(-1)
        ax.semilogx(sizes, middle, "osD"[k] + "-:-"[k], color=f"C{k}", label=f"1 / E[τ], {form}")
    biased = outcome["biased_variance"].values.mean(-1)
    ax.semilogx(sizes, biased, "k--", lw=1, label="maximum likelihood")
    ax.axhline(1, color="0.6", lw=1)
    ax.set_xticks(sizes, [f"{n:g}" for n in sizes])
    ax.set_xticks([], minor=True)
    ax.set(xlabel="points", ylabel="variance, mean over data sets")
    ax.legend()
    return figure
