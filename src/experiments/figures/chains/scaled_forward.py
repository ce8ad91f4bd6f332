"""The log evidence along the chain, and where unscaled messages lose it."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.chains.scaled_forward import ScaledForward


def draw(study: ScaledForward, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    floor = np.log(np.nextafter(0, 1))
    figure, ax = panels()
    curves, lost = outcome["first_log_evidence"], outcome["underflow"].values
    labels = ["casino's dice", *(f"Gaussian, {D}-d" for D in study.dimensions)]
    for i, (curve, ends, label) in enumerate(zip(curves.values, lost, labels, strict=True)):
        shown = f"{label}: lost after {np.median(ends):.0f} steps (median)"
        ax.plot(curves.along("step"), curve, color=f"C{i}", label=shown)
        if np.isfinite(ends[0]):
            ax.plot(ends[0], curve[int(ends[0]) - 1], "X", color=f"C{i}", markersize=8)
    ax.axhline(floor, color="0.4", linestyle=":", linewidth=1)
    furthest = max((end for end in lost[:, 0] if np.isfinite(end)), default=study.length)
    right = min(1.25 * furthest, study.length)
    ax.set(xlabel="Steps of the chain", ylabel="Log evidence so far (nats)", xlim=(0, right))
    ax.set_ylim(-1000, 20)
    ax.text(right, floor + 10, "smallest double", color="0.3", fontsize=9, ha="right")
    ax.legend(loc="upper right")
    yield "underflow", figure
