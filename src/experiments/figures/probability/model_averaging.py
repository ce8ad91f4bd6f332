"""Posterior of a model point by point beside the weights that a mixture gives it."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import legend_once, panels
from experiments.studies.probability.model_averaging import ModelAveraging

_NAMES = {"gaussians": "mixture of Gaussians", "cauchys": "mixture of Cauchys", "both": "both"}


def draw(study: ModelAveraging, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panels(1, len(study.truths) + 1, squeeze=False)
    way = outcome["first_posterior"]
    for ax, truth in zip(axes[0], study.truths, strict=False):
        for h, name in enumerate(study.models):
            values = way.at(truth=truth, model=name).values
            ax.semilogx(way.along("point"), values, color=f"C{h}", label=_NAMES.get(name, name))
        ax.set(xlabel="points seen", title=f"data: {_NAMES.get(truth, truth)}", ylim=(-0.03, 1.03))
    axes[0, 0].set_ylabel("posterior of the model, one data set")
    last = axes[0, -1]
    for i, truth in enumerate(study.truths):
        for name, style in (("posterior", "o-"), ("mixture_weight", "s--")):
            largest = outcome[name].at(truth=truth).values.max(-1).mean(-1)
            what = "posterior" if name == "posterior" else "weight in the mixture"
            label = f"{what}, data: {_NAMES.get(truth, truth)}"
            last.semilogx(sorted(study.sizes), largest, style, ms=4, color=f"C{i + 3}", label=label)
    last.set(xlabel="points n", ylabel="the largest share, mean over data sets", ylim=(0, 1.03))
    legend_once(figure, axes[0], 3)
    yield "posterior", figure
