"""The bound of the regression as Q moves off the posterior, below the evidence."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.latent.variational_bound import VariationalBound


def draw(study: VariationalBound, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, ax = panels()
    bound = outcome["regression_bound"]
    for i, scale in enumerate(bound.along("scale")):
        label = "covariance of the posterior" if scale == 1 else f"{scale:g} times that"
        ax.plot(bound.along("shift"), bound.values[i], color=f"C{i}", label=label)
    ax.axhline(outcome["log_evidence"].item, color="0.3", linestyle="--", label="evidence")
    ax.set(xlabel="Mean of Q off the posterior's (standard deviations)")
    ax.set(ylabel="Bound (natural log units)")
    ax.legend(loc="lower center")
    yield "bound", figure
