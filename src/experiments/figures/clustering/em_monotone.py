"""The climb of the log likelihood, a panel for each model."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.clusters import grid, spare
from experiments.studies.clustering.em_monotone import EmMonotone

TITLES = {
    "mixture": "Gaussian mixture",
    "factors": "factor analysis",
    "ppca": "probabilistic PCA",
    "bernoulli": "Bernoulli mixture",
    "hmm": "hidden Markov model",
    "lds": "linear dynamical system",
}


def draw(study: EmMonotone, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    columns = min(3, len(study.models))
    figure, axes = grid(-(-len(study.models) // columns), columns, 0.8)
    cells = axes.ravel()
    for ax, name in zip(cells, study.models, strict=False):
        L = outcome["log_likelihood"].at(model=name).values
        for climb, taken in zip(L, outcome["iterations"].at(model=name).values, strict=True):
            ax.plot(climb[: taken + 1], linewidth=1, color="C0", alpha=0.6)
        # The first steps are so large that nothing else would be seen.
        high, low = L.max(), L[:, 1].min()
        room = 0.05 * (high - low)
        ax.set(title=TITLES[name], ylim=(low - room, high + room))
    spare(cells[len(study.models) :])
    figure.supxlabel("Iteration")
    figure.supylabel("Log likelihood")
    yield "climb", figure
