"""Means of the first data set, iteration by iteration, and draws of their posterior."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.sampling.sampled_em import SampledEm


def draw(study: SampledEm, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    path, exact = outcome["path"], outcome["em_means"].values[0]
    for k, L in enumerate(study.samples):
        steps = path.sel(samples=L).values
        left.plot(steps, color=f"C{k % 8}", lw=1)
        left.plot([], [], color=f"C{k % 8}", label=f"L = {L}")
    for mean in exact:
        left.axhline(mean, color="black", lw=1, ls="--")
    left.plot([], [], color="black", lw=1, ls="--", label="EM")
    left.set(xlabel="iteration", ylabel="means")
    left.legend(fontsize="small")
    right.plot(*outcome["drawn"].values.T, ".", ms=4, label="data augmentation")
    right.plot(*exact, "x", color="black", label="EM")
    mode = outcome["exact_map"].values[0]
    right.plot(*mode, "+", color="C1", ms=9, mew=2, label="mode of the posterior")
    right.set(xlabel="mean 1", ylabel="mean 2")
    right.legend(fontsize="small")
    yield "means", figure
