"""What the figures of the clustering studies share: contours, mixed inks, legends below."""

from collections.abc import Iterable, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from models.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SYMBOLS = ("o", "^", "s", "D", "v", "P", "X", "*")  # a second cue beside the colour


def grid(rows: int, columns: int, ratio: float = 0.7, **options: Any) -> "tuple[Figure, Any]":
    """Panels on a page that is not too wide for its letters; `ratio` is a panel's height to width.

    Axes come as an array of `rows` by `columns`.
    """
    from matplotlib import rcParams

    from experiments.drawing.canvas import panels

    figure, axes = panels(rows, columns, squeeze=False, **options)
    unit = rcParams["figure.figsize"][0]
    wide = min(figure.get_size_inches()[0], 1.5 * unit)
    figure.set_size_inches(wide, rows * wide / columns * ratio + 0.08 * unit)
    return figure, axes


def cells(
    count: int, columns: int, ratio: float = 0.7, **options: Any
) -> "tuple[Figure, list[Axes]]":
    """So many panels in rows of some columns at most; those that are left over stay empty."""
    columns = min(columns, count)
    figure, axes = grid(-(-count // columns), columns, ratio, **options)
    spare(axes.flat[count:])
    return figure, list(axes.flat[:count])


def whole_steps(ax: "Axes") -> None:
    """Ticks of the horizontal axis at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


def inks(gamma: Floats) -> Floats:
    """A colour for every point, shape (N, 3): the cycle's colours mixed as gamma (N, K) says."""
    from matplotlib.colors import to_rgb

    palette = np.array([to_rgb(f"C{k}") for k in range(gamma.shape[1])])
    return np.asarray(np.clip(gamma @ palette, 0, 1))


def contour(ax: "Axes", mu: Floats, Sigma: Floats, colour: str, **options: Any) -> None:
    """The one standard deviation contour of a Gaussian in the plane, and its centre."""
    turn = np.linspace(0, 2 * np.pi, 120)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    curve = mu[:, None] + np.linalg.cholesky(Sigma) @ circle
    ax.plot(*curve, color=colour, **options)
    ax.plot(*mu, marker="+", color=colour, markersize=8, markeredgewidth=1.6, **options)


def mixture_panel(ax: "Axes", X: Floats, gamma: Floats | None, mu: Floats, Sigma: Floats) -> None:
    """Points in the ink of their components (grey before the first E step), and the contours."""
    colours: Any = "0.6" if gamma is None else inks(gamma)
    ax.scatter(X[:, 0], X[:, 1], c=colours, s=7, linewidths=0, alpha=0.85)
    for k, (centre, covariance) in enumerate(zip(mu, Sigma, strict=True)):
        contour(ax, centre, covariance, f"C{k}")
    ax.set_aspect("equal")


def sides(values: Floats, width: float = 0.6) -> Floats:
    """Horizontal offsets that keep equal values apart: a strip of dots without random jitter."""
    offsets = np.zeros(len(values))
    if not len(values):
        return offsets
    if np.ptp(values) > 0:
        bins = np.floor((values - values.min()) / np.ptp(values) * 40).astype(int)
    else:
        bins = np.zeros(len(values), dtype=int)
    most = max(np.bincount(bins))
    for b in np.unique(bins):
        members = np.flatnonzero(bins == b)
        spread = width * len(members) / most
        offsets[members] = np.linspace(-spread / 2, spread / 2, len(members) + 2)[1:-1]
    return offsets


def climbs(ax: "Axes", curves: Floats, label: str, alpha: float = 0.2) -> None:
    """Log likelihoods (R, T) along EM from random starts: thin lines, one entry in the legend."""
    ax.plot(curves.T, color="C0", alpha=alpha, linewidth=1)
    ax.plot([], [], color="C0", label=label)
    ax.set(xlabel="Iteration", ylabel="Log likelihood")


def legend_below(ax: "Axes", columns: int = 3, **options: Any) -> None:
    """A legend under the axis, where it covers no data."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=columns, **options)


def spare(axes: Iterable["Axes"]) -> None:
    """Hide the panels of a grid that have nothing to show."""
    for ax in axes:
        ax.set_axis_off()


def sequence(
    titles: Sequence[str], names: tuple[str, str], ratio: float = 0.7
) -> "tuple[Figure, list[Axes]]":
    """Panels (a), (b), ... of one plane, step after step, in rows of three or four."""
    columns = min((3, 4), key=lambda wide: -len(titles) % wide)  # where fewer places stay empty
    figure, shown = cells(len(titles), columns, ratio, sharex=True, sharey=True)
    for ax, letter, title in zip(shown, ascii_lowercase, titles, strict=False):
        ax.set_title(f"({letter}) {title}")
    figure.supxlabel(names[0])
    figure.supylabel(names[1])
    return figure, shown
