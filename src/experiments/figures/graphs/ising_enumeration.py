"""Distribution of the mean spin on each lattice, coupling by coupling."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.graphs.ising_enumeration import IsingEnumeration


def draw(study: IsingEnumeration, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(1, len(study.graphs), squeeze=False, sharey=True)
    for ax, graph in zip(axes.flat, study.graphs, strict=True):
        for J in study.couplings:
            spread = outcome["spread"].sel(graph=graph, coupling=J)
            ax.step(spread.coord("magnetisation"), spread.values, where="post", label=f"J = {J:g}")
        broken = outcome["broken_links"].sel(graph=graph).values.max()
        ax.set(title=f"{graph}\nlinks broken at best: {broken}", xlabel="mean spin m")
    axes.flat[0].set_ylabel("probability of m or less")
    shared_legend(figure, axes.flat[0], len(study.couplings))
    yield "spins", figure
