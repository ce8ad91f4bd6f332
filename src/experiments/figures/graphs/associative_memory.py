"""An image, its visible part, and its completion by each rule; small networks by load."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.associative_memory import RULES, STAGES, AssociativeMemory


def draw(study: AssociativeMemory, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(len(RULES), 1 + len(STAGES))
    for line, rule in zip(axes, RULES, strict=True):
        line[0].imshow(outcome["original"].values, cmap="cividis", vmin=-1, vmax=1)
        line[0].set_title(f"learned: {rule}")
        for ax, stage in zip(line[1:], STAGES, strict=True):
            image = outcome["picture"].sel(rule=rule, stage=stage).values
            share = outcome["wrong"].sel(rule=rule, draw=0, stage=stage).item
            ax.imshow(image, cmap="cividis", vmin=-1, vmax=1)
            ax.set_title(f"{stage}: {100 * float(share):.1f} % wrong")
        for ax in line:
            ax.set_axis_off()
    yield "images", figure

    figure, ax = subplots()
    for k, rule in enumerate(RULES):
        shares = 100 * outcome["small_wrong"].sel(rule=rule).values
        spread = shares.std(-1) / study.small_draws**0.5
        ax.errorbar(study.loads, shares.mean(-1), spread, fmt=("o-", "^-")[k], label=rule)
    ax.set(xlabel=f"patterns of {study.units} units", ylabel="hidden units wrong, %")
    ax.set_xticks(study.loads)
    ax.legend()
    yield "loads", figure
