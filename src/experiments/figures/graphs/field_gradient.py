"""Expected features against the slope of log Z; divergence by hidden units."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.field_gradient import FieldGradient


def draw(study: FieldGradient, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    x, y = outcome["expected_feature"].values.ravel(), outcome["slope_of_log_Z"].values.ravel()
    left.plot([x.min(), x.max()], [x.min(), x.max()], color="0.6", lw=1)
    left.plot(x, y, ".", ms=5)
    left.set(xlabel="expected feature", ylabel="slope of log Z, by differences")
    right.semilogy(study.hidden_units, outcome["divergence"].values, "o-")
    right.set(xlabel="hidden units", ylabel="divergence from a parity, nats")
    right.set_xticks(study.hidden_units)
    yield "gradients", figure
