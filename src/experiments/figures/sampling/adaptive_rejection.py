"""Tangents above the log of a density, and the decreasing rate of rejections."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.sampling.adaptive_rejection import AdaptiveRejection


def draw(study: AdaptiveRejection, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    target, envelope = outcome["log_target"], outcome["log_envelope"]
    left.plot(target.coord("z"), target.values, color="C2", label="ln p(z)")
    for k, count in enumerate(envelope.coord("grid_points")):
        lines = envelope.sel(grid_points=count)
        left.plot(lines.coord("z"), lines.values, "-" if k else "--", color="C1", lw=1)
        left.plot([], [], "-" if k else "--", color="C1", label=f"tangents, {count} points")
    left.set(xlabel="z", ylabel="log density", title=study.targets[0])
    left.legend(fontsize="small")
    chance = outcome["rejection_probability"].values.mean((1, 2))
    points = outcome["rejected"].coord("points")
    for k, name in enumerate(study.targets):
        counted = outcome["rejected"].sel(target=name).values.mean(0)
        right.semilogy(points, chance[k], "-", lw=1, color=f"C{k % 8}")
        right.semilogy(points, counted, "o", ms=4, color=f"C{k % 8}", label=name)
    right.plot([], [], "-", color="0.4", lw=1, label="by the areas")
    right.set(xlabel="grid points", ylabel="share that is rejected")
    right.legend(fontsize="small")
    yield "tangents", figure
