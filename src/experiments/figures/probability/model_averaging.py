"""Posterior of a model by number of points, next to its weight in a mixture."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import merged_legend, subplots
from bythebook.experiments.studies.probability.model_averaging import ModelAveraging

_NAMES = {"gaussians": "mixture of Gaussians", "cauchys": "mixture of Cauchys", "both": "both"}


def draw(study: ModelAveraging, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(1, len(study.truths) + 1, squeeze=False)
    way = outcome["first_posterior"]
    for ax, truth in zip(axes[0], study.truths, strict=False):
        for h, name in enumerate(study.models):
            values = way.sel(truth=truth, model=name).values
            ax.semilogx(way.coord("point"), values, color=f"C{h}", label=_NAMES.get(name, name))
        ax.set(xlabel="points seen", title=f"data: {_NAMES.get(truth, truth)}", ylim=(-0.03, 1.03))
    axes[0, 0].set_ylabel("posterior of the model, one data set")
    last = axes[0, -1]
    for i, truth in enumerate(study.truths):
        for name, style in (("posterior", "o-"), ("mixture_weight", "s--")):
            largest = outcome[name].sel(truth=truth).values.max(-1).mean(-1)
            what = "posterior" if name == "posterior" else "weight in the mixture"
            label = f"{what}, data: {_NAMES.get(truth, truth)}"
            last.semilogx(sorted(study.sizes), largest, style, ms=4, color=f"C{i + 3}", label=label)
    last.set(xlabel="points n", ylabel="the largest share, mean over data sets", ylim=(0, 1.03))
    merged_legend(figure, axes[0], 3)
    yield "posterior", figure
