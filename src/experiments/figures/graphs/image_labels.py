"""Observed, true and estimated labels; wrong pixels by strength and round."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.image_labels import ImageLabels


def draw(study: ImageLabels, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(1, 2 + len(study.edges))
    axes[0].imshow(outcome["seen"].values, cmap="Greys")
    axes[0].set_title("seen")
    images = [("true", outcome["true_label"].values)]
    found = f"{study.methods[-1]}, strength {study.strengths[len(study.strengths) // 2]:g}"
    for kind in study.edges:
        images.append((f"{kind} links:\n{found}", outcome["picture"].sel(edges=kind).values))
    for ax, (title, labels) in zip(axes[1:], images, strict=True):
        ax.imshow(labels, cmap="cividis", vmin=0, vmax=study.labels - 1)
        ax.set_title(title)
    for ax in axes:
        ax.set_axis_off()
    yield "images", figure

    figure, axes = subplots(1, 2 if "round_wrong" in outcome else 1, squeeze=False)
    left = axes.flat[0]
    for style, kind in zip(("-", "--", ":"), study.edges, strict=False):
        for k, method in enumerate(study.methods):
            share = outcome["wrong"].sel(edges=kind, method=method).values.mean(-1)
            label = method if len(study.edges) == 1 else f"{method}, {kind}"
            left.plot(study.strengths, 100 * share, f"{style}o", ms=4, color=f"C{k}", label=label)
    left.set(xlabel="strength of links", ylabel="pixels wrong, %")
    left.legend()
    if "round_wrong" in outcome:
        for style, kind in zip(("-", "--", ":"), study.edges, strict=False):
            rounds = outcome["round_wrong"].sel(edges=kind)
            share = rounds.values.mean(-1)
            axes.flat[1].plot(rounds.coord("round"), 100 * share, style, color="C1", label=kind)
        axes.flat[1].set(xlabel="rounds of messages", ylabel="pixels wrong, %")
        axes.flat[1].legend()
    yield "wrong", figure
