"""Objects by cluster: each where it is, in the colour and symbol of its cluster."""

import numpy as np
from matplotlib.figure import Figure

from experiments.drawing.latent import curve_between, objects

POINTS = np.arange(18.0).reshape(6, 3)
LABELS = np.array([2, 0, 1, 0, 2, 1])


def test_clusters_are_told_apart_and_a_third_coordinate_is_not_drawn() -> None:
    ax = Figure().subplots()
    objects(ax, POINTS, LABELS, "a title", "y_%d")
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines}) == 3
    for k, line in enumerate(ax.lines):
        np.testing.assert_array_equal(line.get_xydata(), POINTS[k == LABELS, :2])
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("$y_1$", "$y_2$", "a title")


def test_a_curve_has_room_between_the_objects() -> None:
    figure, before, curve, after = curve_between(POINTS, LABELS, xlabel="step", ylabel="bound")
    assert figure.axes == [before, curve, after]
    assert sum(len(line.get_xdata()) for line in before.lines) == len(POINTS)
    assert (len(curve.lines), len(after.lines)) == (0, 0)
    curve.plot([1, 2, 3], [4, 5, 6])
    ticks = curve.get_xticks()
    np.testing.assert_array_equal(ticks, np.round(ticks))  # steps are whole
