"""The log likelihood from equal components, which stays, and from random ones."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.clusters import SYMBOLS, legend_below
from experiments.studies.clustering.identical_start import SHOWN, IdenticalStart


def draw(study: IdenticalStart, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, ax = panels()
    ax.plot(outcome["random_log_likelihood"].values.T, color="C0", alpha=0.25, linewidth=1)
    ax.plot([], [], color="C0", label="random starts")
    for i, curve in enumerate(outcome["log_likelihood"].values):
        label = f"equal, weights {', '.join(f'{w:.2g}' for w in study.weights[i])}"
        ax.plot(curve, marker=SYMBOLS[i % 8], color=f"C{i + 1}", label=label)
    ax.set(xlabel="Iteration", ylabel="Log likelihood", xlim=(0, SHOWN))
    legend_below(ax, 2)
    yield "objective", figure
