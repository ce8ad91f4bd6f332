"""A density and its Gaussian approximations: curves in one variable, contours in two."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.marks import Panel, ellipse, line

NAMES = {"laplace": "Laplace", "variational": "smallest KL(q||p)", "inclusive": "smallest KL(p||q)"}
COLOURS = {"laplace": "C3", "variational": "C2", "inclusive": "C0"}
Z = "place[:, :, 1]"
LOG_Q = (
    "-(place[:, :, 1] - fit_mean[:, '{0}', 0, 1]) ** 2 / (2 * covariance[:, '{0}', 0, 1, 1])"
    " - log(2 * pi * covariance[:, '{0}', 0, 1, 1]) / 2"
)


def curves() -> Iterator[Panel]:
    """A density of one variable, and minus its logarithm, as in PRML Figure 10.14."""
    for form, label, top in (("exp({})", "density", 1.0), ("-({})", "minus its logarithm", 25)):
        yield Panel(
            line(form.format("log_density"), x=Z, color="0.7", linewidth=4, label="density"),
            *(
                line(form.format(LOG_Q.format(m)), x=Z, color=COLOURS[m], label=name)
                for m, name in NAMES.items()
            ),
            x="z",
            y=label,
            xlimits=(-2, 4),
            ylimits=(0, top),
        )


def contours(*densities: str) -> Iterator[Panel]:
    """The first draw of each density: the smallest KL(p||q), and all minima of KL(q||p)."""
    for name in densities:
        for mean, cov, color, title in (
            (
                f"fit_mean['{name}', 'inclusive', 0]",
                f"covariance['{name}', 'inclusive', 0]",
                "C0",
                "smallest KL(p||q)",
            ),
            (
                f"start_mean['{name}']",
                f"start_covariance['{name}']",
                "C2",
                "minima of KL(q||p) from all starts",
            ),
        ):
            yield Panel(
                ellipse(mean, cov=cov, label="", color=color),
                ellipse(mean, cov=f"4 * {cov}", label="", color=color),
                title=f"{name}: {title}",
                x="first variable",
                y="second variable",
                columns=2,
                finish=_Contours(name),
            )


class _Contours:
    """Contours of a density that is given on a lattice, as a list of places."""

    def __init__(self, density: str) -> None:
        self.density = density

    def __call__(self, ax: Axes, found: Outcome) -> None:
        x, y = found["place"].sel(density=self.density).values.T
        side = round(len(x) ** 0.5)
        log_p = found["log_density"].sel(density=self.density).values
        ax.contour(
            *(values.reshape(side, side) for values in (x, y, log_p)),
            levels=log_p.max() - np.array([4.5, 2.0, 0.5]),
            colors="0.45",
            linestyles="solid",
            linewidths=1.2,
        )
        seen = log_p > log_p.max() - 8
        for values, limit in ((x, ax.set_xlim), (y, ax.set_ylim)):
            margin = 0.15 * np.ptp(values[seen])
            limit(values[seen].min() - margin, values[seen].max() + margin)
