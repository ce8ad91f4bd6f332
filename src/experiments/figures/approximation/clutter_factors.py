"""Two factors of the first data set, with what stands for them and where it was fitted."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import legend_of
from experiments.drawing.clusters import grid
from experiments.studies.approximation.clutter_factors import ClutterFactors


def draw(study: ClutterFactors, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    precision, theta = outcome["factor_precision"].values, outcome["context"].along("theta")
    chosen = [int(np.argmax(precision)), int(np.argmin(precision))]
    figure, axes = grid(1, 2, 0.85)
    for ax, n in zip(axes[0], chosen, strict=True):
        f, fit, context = (
            outcome[name].values[n] for name in ("true_factor", "fitted_factor", "context")
        )
        ax.plot(theta, f, color="C0", label="factor")
        ax.plot(theta, fit, "--", color="C3", label="Gaussian in its place")
        ax.plot(theta, context / context.max() * f.max(), ":", color="C2", label="cavity, scaled")
        ax.set(xlabel="θ", ylim=(0, 1.5 * f.max()), title=f"1/v = {precision[n]:.2f}")
    axes[0, 0].set_ylabel("p(x | θ)")
    legend_of(figure, axes[0, 0], 3)
    yield "factors", figure
