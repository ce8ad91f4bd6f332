"""Objects by cluster: position, colour and symbol."""

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.plotting.latent import before_curve_after, plot_objects

POINTS = np.arange(18.0).reshape(6, 3)
LABELS = np.array([2, 0, 1, 0, 2, 1])


def test_clusters_are_distinguished_by_colour_and_symbol() -> None:
    ax = Figure().subplots()
    plot_objects(ax, POINTS, LABELS, "a title", "y_%d")
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines}) == 3
    for k, line in enumerate(ax.lines):
        np.testing.assert_array_equal(line.get_xydata(), POINTS[k == LABELS, :2])
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("$y_1$", "$y_2$", "a title")


def test_the_curve_panel_is_between_the_object_panels() -> None:
    figure, before, curve, after = before_curve_after(POINTS, LABELS, xlabel="step", ylabel="bound")
    assert figure.axes == [before, curve, after]
    assert sum(len(line.get_xdata()) for line in before.lines) == len(POINTS)
    assert (len(curve.lines), len(after.lines)) == (0, 0)
    curve.plot([1, 2, 3], [4, 5, 6])
    ticks = curve.get_xticks()
    np.testing.assert_array_equal(ticks, np.round(ticks))  # steps are integers
