"""Both estimates against each other, and divergences from the true distribution."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.field_learning import FieldLearning


def draw(study: FieldLearning, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(1, 3)
    names = ("likelihood", "pseudo")
    estimate = [outcome["estimate"].sel(estimator=name).values.ravel() for name in names]
    loss = [outcome["divergence"].sel(estimator=name).values for name in names]
    for ax, (x, y) in zip(axes[:2], (estimate, loss), strict=True):
        ends = [min(x.min(), y.min()), max(x.max(), y.max())]
        ax.plot(ends, ends, color="0.6", lw=1)
        ax.plot(x, y, ".", ms=4)
        ax.set(xlabel="maximum likelihood", ylabel="pseudo-likelihood")
    axes[0].set_title("weights and fields")
    axes[1].set_title("divergence from the truth, nats")
    for k, name in enumerate(names):
        weights = [
            outcome[f"{kind}_weight"].sel(estimator=name) for kind in ("neighbour", "evidence")
        ]
        axes[2].plot(weights[0].values, weights[1].values, "o^"[k], ms=4, label=name)
    axes[2].set(xlabel="weight of the neighbour", ylabel="weight of the evidence")
    axes[2].set_title("a neighbour that is always right")
    axes[2].legend()
    yield "estimates", figure
