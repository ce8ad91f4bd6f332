"""Frequencies of samples against the joint table; acceptance and effective samples."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import graphs
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs._scopes import split
from bythebook.experiments.studies.graphs.network_sampling import NetworkSampling


def draw(study: NetworkSampling, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield "networks", _networks(study)
    if study.observed:
        yield "evidence", _evidence(outcome)
    else:
        yield "samples", _samples(study, outcome)


def _networks(study: NetworkSampling) -> Figure:
    figure, axes = subplots(1, len(study.known), squeeze=False)
    for ax, (name, scopes) in zip(axes.flat, study.known.items(), strict=True):
        above = {split(scope)[0][0]: split(scope)[1] for scope in scopes}
        places = graphs.layered_layout(above)
        graphs.arrows(ax, places, [(p, node) for node, given in above.items() for p in given])
        graphs.nodes(ax, places, study.observed)
        ax.set_title(name)
    return figure


def _samples(study: NetworkSampling, outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2)
    for k, name in enumerate(study.known):
        far = outcome["joint_distance"].sel(network=name).values
        left.loglog(study.samples, far.mean(1), "os^v"[k % 4] + "-", label=name)
        p = outcome["joint_p_value"].sel(network=name, samples=max(study.samples)).values
        right.plot(np.sort(p), (np.arange(len(p)) + 1) / len(p), drawstyle="steps-post", label=name)
    left.set(xlabel="samples", ylabel="distance from the joint table")
    left.set_xticks(study.samples, [str(count) for count in study.samples])
    left.xaxis.set_minor_locator(NullLocator())
    left.legend()
    right.axline((0, 0), slope=1, color="0.6", lw=1, label="samples that are right")
    right.set(xlabel="p-value of the samples", ylabel="share of networks below", xlim=(0, 1))
    right.legend()
    return figure


def _evidence(outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2)
    accepted = outcome["acceptance"]
    for k, states in enumerate(accepted.coord("K")):
        rate = accepted.sel(K=int(states)).values.mean(1)
        left.semilogy(
            accepted.coord("observed"), rate, "os^"[k % 3] + "-", label=f"{states} states"
        )
    left.set(xlabel="nodes observed", ylabel="accepted by logic sampling")
    left.xaxis.get_major_locator().set_params(integer=True)
    left.legend()
    share = outcome["effective_share"]
    flat, x = share.coord("concentration"), np.arange(len(share.coord("concentration")))
    for k, way in enumerate(share.coord("method")):
        values = share.sel(method=str(way)).values
        aside = x + 0.2 * (k - 0.5)
        right.plot(np.repeat(aside, values.shape[1]), values.ravel(), ".", color=f"C{k}", alpha=0.4)
        right.plot(aside, values.mean(1), "D", color=f"C{k}", mec="black", label=str(way))
    right.set_xticks(x, [f"{c:g}" for c in flat])
    right.set(xlabel="concentration of tables: peaked to flat", ylabel="effective share of samples")
    right.legend()
    return figure
