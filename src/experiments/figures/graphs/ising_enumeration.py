"""How the mean spin is distributed on each lattice, coupling by coupling."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import legend_of, panels
from experiments.studies.graphs.ising_enumeration import IsingEnumeration


def draw(study: IsingEnumeration, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panels(1, len(study.graphs), squeeze=False, sharey=True)
    for ax, graph in zip(axes.flat, study.graphs, strict=True):
        for k, J in enumerate(study.couplings):
            spread = outcome["spread"].at(graph=graph, coupling=J)
            broken = outcome["broken_links"].at(graph=graph, coupling=J).item
            ax.plot(spread.along("magnetisation"), spread.values, ".-", label=f"J = {J:g}")
            if broken:
                height = 0.93 - 0.08 * k
                said = f"J = {J:g}: {broken} links broken"
                ax.text(0.5, height, said, ha="center", transform=ax.transAxes, fontsize="small")
        ax.set(title=graph, xlabel="mean spin")
    axes.flat[0].set_ylabel("probability")
    legend_of(figure, axes.flat[0], len(study.couplings))
    yield "spins", figure
