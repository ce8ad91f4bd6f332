"""The links, the ranks, and the convergence of the power method and of the surfers."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.chains.page_rank import PageRank

FEW = 30  # pages at most, for names below their bars


def draw(study: PageRank, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    _ranks(left, study, outcome)
    for k, p in enumerate(study.follows):
        error = outcome["power_error"].sel(follow=p)
        seen = np.maximum(error.values, 1e-17)
        right.semilogy(error.coord("iteration"), seen, color=f"C{k}", label=f"p = {p:g}")
    right.set(xlabel="iteration", ylabel="sum of absolute errors")
    right.legend()
    yield "ranks", figure
    if study.surfers:
        figure, ax = subplots()
        error = outcome["surfer_error"]
        visits = error.coord("visits")
        ax.loglog(visits, error.values.T, color="C0", lw=0.5, alpha=0.5)
        middle = error.values.mean(0)
        ax.loglog(visits, middle, "ko-", label="mean of the surfers")
        ax.loglog(visits, middle[0] * (visits / visits[0]) ** -0.5, "k:", label="one over the root")
        ax.set(xlabel="pages visited", ylabel="sum of absolute errors of the shares")
        ax.legend()
        yield "surfers", figure


def _ranks(ax: Axes, study: PageRank, outcome: Outcome) -> None:
    rank = outcome["rank"].sel(follow=study.follows[0])
    places = np.arange(1, len(rank) + 1)
    if len(places) <= FEW:
        ax.bar(places, rank.values)
        ax.set_xticks(places, [str(name) for name in rank.coord("page")])
    else:
        ax.vlines(places, 0, rank.values, lw=0.8)
    ax.set(xlabel="page", ylabel=f"PageRank, p = {study.follows[0]:g}")
