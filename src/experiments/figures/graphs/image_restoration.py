"""The original, the noisy and the restored images; agreement over all that were drawn."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import hide_unused
from bythebook.experiments.studies.graphs.image_restoration import METHODS, ImageRestoration

TITLES = {
    "original": "original",
    "noisy": "noisy",
    "modes": "iterated conditional modes",
    "messages": "max-product",
    "cut": "graph cut",
}


def draw(study: ImageRestoration, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(2, 3)
    hide_unused(axes.flat[len(TITLES) :])
    for ax, (name, title) in zip(axes.flat, TITLES.items(), strict=False):
        ax.imshow(outcome["picture"].sel(image=name).values, cmap="cividis", vmin=-1, vmax=1)
        share = outcome["agreement"].sel(method=name, draw=0).item if name in METHODS else None
        ax.set_title(title if share is None else f"{title}: {100 * float(share):.1f} %")
        ax.set_axis_off()
    yield "images", figure

    figure, ax = subplots()
    for k, name in enumerate(METHODS):
        shares = 100 * outcome["agreement"].sel(method=name).values
        ax.plot(shares, [k] * len(shares), ".", ms=6, alpha=0.7)
    ax.set_yticks(range(len(METHODS)), [TITLES[name] for name in METHODS])
    ax.set(xlabel=f"pixels that agree with the original, %, of {study.draws} images")
    ax.grid(axis="y", visible=False)
    yield "agreement", figure
