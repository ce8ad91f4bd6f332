"""How the mean spin is distributed on each lattice, coupling by coupling."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import legend_of, panels
from experiments.studies.graphs.ising_enumeration import IsingEnumeration


def draw(study: IsingEnumeration, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panels(1, len(study.graphs), squeeze=False, sharey=True)
    for ax, graph in zip(axes.flat, study.graphs, strict=True):
        for J in study.couplings:
            spread = outcome["spread"].at(graph=graph, coupling=J)
            ax.step(spread.along("magnetisation"), spread.values, where="post", label=f"J = {J:g}")
        broken = outcome["broken_links"].at(graph=graph).values.max()
        ax.set(title=f"{graph}\nlinks broken at best: {broken}", xlabel="mean spin m")
    axes.flat[0].set_ylabel("probability of m or less")
    legend_of(figure, axes.flat[0], len(study.couplings))
    yield "spins", figure
