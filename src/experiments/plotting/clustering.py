"""Plots for the clustering studies: panels, Gaussian contours, mixed colours, legends."""

from collections.abc import Iterable, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from bythebook.models.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")  # distinguish clusters without colour


def panel_grid(rows: int, columns: int, ratio: float = 0.7, **options: Any) -> "tuple[Figure, Any]":
    """A figure of limited width and its axes as an array of `rows` by `columns`.

    `ratio` is the height of a panel divided by its width.
    """
    from matplotlib import rcParams

    from bythebook.experiments.plotting.canvas import subplots

    figure, axes = subplots(rows, columns, squeeze=False, **options)
    unit = rcParams["figure.figsize"][0]
    wide = min(figure.get_size_inches()[0], 1.5 * unit)
    figure.set_size_inches(wide, rows * wide / columns * ratio + 0.08 * unit)
    return figure, axes


def column_panels(
    count: int, columns: int, ratio: float = 0.7, **options: Any
) -> "tuple[Figure, list[Axes]]":
    """A figure with `count` panels in at most `columns` columns; unused panels are hidden."""
    columns = min(columns, count)
    figure, axes = panel_grid(-(-count // columns), columns, ratio, **options)
    hide_unused(axes.flat[count:])
    return figure, list(axes.flat[:count])


def integer_ticks(ax: "Axes") -> None:
    """Ticks of the horizontal axis at integers only."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


def cluster_colours(gamma: Floats) -> Floats:
    """Colours (N, 3) of points: the colours of the cycle, weighted by gamma (N, K)."""
    from matplotlib.colors import to_rgb

    palette = np.array([to_rgb(f"C{k}") for k in range(gamma.shape[1])])
    return np.asarray(np.clip(gamma @ palette, 0, 1))


def covariance_contour(ax: "Axes", mu: Floats, Sigma: Floats, colour: str, **options: Any) -> None:
    """The contour of a bivariate Gaussian at one standard deviation, and its centre.

    A white edge separates both from the points below them.
    """
    from matplotlib.patheffects import Normal, Stroke

    edge = [Stroke(linewidth=4, foreground="white"), Normal()]
    options = {"zorder": 3, "path_effects": edge, **options}
    angles = np.linspace(0, 2 * np.pi, 120)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    curve = mu[:, None] + np.linalg.cholesky(Sigma) @ circle
    ax.plot(*curve, color=colour, **options)
    ax.plot(*mu, marker="+", color=colour, markersize=8, markeredgewidth=1.6, **options)


def plot_mixture(ax: "Axes", X: Floats, gamma: Floats | None, mu: Floats, Sigma: Floats) -> None:
    """Points in the colours of their components, grey without gamma, and the contours."""
    colours: Any = "0.6" if gamma is None else cluster_colours(gamma)
    ax.scatter(X[:, 0], X[:, 1], c=colours, s=6, linewidths=0, alpha=0.6)
    for k, (centre, covariance) in enumerate(zip(mu, Sigma, strict=True)):
        covariance_contour(ax, centre, covariance, f"C{k}")
    ax.set_aspect("equal")


def strip_offsets(values: Floats, width: float = 0.6) -> Floats:
    """Horizontal offsets that separate equal values in a strip of dots, without random jitter."""
    offsets = np.zeros(len(values))
    if not len(values):
        return offsets
    if np.ptp(values) > 0:
        bins = np.floor((values - values.min()) / np.ptp(values) * 40).astype(int)
    else:
        bins = np.zeros(len(values), dtype=int)
    largest = max(np.bincount(bins))
    for b in np.unique(bins):
        members = np.flatnonzero(bins == b)
        spread = width * len(members) / largest
        offsets[members] = np.linspace(-spread / 2, spread / 2, len(members) + 2)[1:-1]
    return offsets


def plot_traces(ax: "Axes", curves: Floats, label: str, alpha: float = 0.2) -> None:
    """Log likelihoods (R, T) of EM runs as thin lines with one entry in the legend."""
    ax.plot(curves.T, color="C0", alpha=alpha, linewidth=1)
    ax.plot([], [], color="C0", label=label)
    ax.set(xlabel="Iteration", ylabel="Log likelihood")


def legend_below(ax: "Axes", columns: int = 3, **options: Any) -> None:
    """A legend below the axes, where it covers no data."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=columns, **options)


def hide_unused(axes: Iterable["Axes"]) -> None:
    """Hide unused panels of a grid."""
    for ax in axes:
        ax.set_axis_off()


def panel_sequence(
    titles: Sequence[str], names: tuple[str, str], ratio: float = 0.7
) -> "tuple[Figure, list[Axes]]":
    """Panels (a), (b), ... with common axes, in rows of three or four."""
    columns = min(
        (3, 4), key=lambda wide: -len(titles) % wide
    )  # the number with fewer unused panels
    figure, panels = column_panels(len(titles), columns, ratio, sharex=True, sharey=True)
    for ax, letter, title in zip(panels, ascii_lowercase, titles, strict=False):
        ax.set_title(f"({letter}) {title}")
    figure.supxlabel(names[0])
    figure.supylabel(names[1])
    return figure, panels
