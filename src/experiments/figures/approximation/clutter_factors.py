"""Two factors of the first data set, with their approximations and contexts."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.studies.approximation.clutter_factors import ClutterFactors


def draw(study: ClutterFactors, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    precision, theta = outcome["factor_precision"].values, outcome["context"].coord("theta")
    chosen = [int(np.argmax(precision)), int(np.argmin(precision))]
    figure, axes = panel_grid(1, 2, 0.85)
    for ax, n in zip(axes[0], chosen, strict=True):
        f, fit, context = (
            outcome[name].values[n] for name in ("true_factor", "fitted_factor", "context")
        )
        ax.plot(theta, f, color="C0", label="factor")
        ax.plot(theta, fit, "--", color="C3", label="Gaussian approximation")
        ax.plot(theta, context / context.max() * f.max(), ":", color="C2", label="cavity, scaled")
        ax.set(xlabel="θ", ylim=(0, 1.5 * f.max()), title=f"1/v = {precision[n]:.2f}")
    axes[0, 0].set_ylabel("p(x | θ)")
    shared_legend(figure, axes[0, 0], 3)
    yield "factors", figure
