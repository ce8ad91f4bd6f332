"""The responsibilities beside the hard assignment."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.clustering.hard_labels import HardLabels


def draw(study: HardLabels, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    q, places = outcome["responsibility"].values, outcome["responsibility"].along("component")
    figure, ax = panels()
    ax.bar(places - 0.2, q, 0.38, color="C0", label="responsibilities")
    ax.bar(places + 0.2, places == places[q.argmax()], 0.38, color="C1", label="hard assignment")
    ax.set(xlabel="Component", ylabel="Probability", xticks=places, ylim=(0, 1.05))
    ax.legend()
    yield "labels", figure
