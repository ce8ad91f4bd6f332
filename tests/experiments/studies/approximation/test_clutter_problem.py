"""Study `clutter_problem`: agreement without clutter, orders, and recorded quantities."""

from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.clutter_problem import ClutterProblem

Run = Callable[..., Outcome]


def test_with_little_clutter_all_ways_but_one_are_exact(run: Run) -> None:
    found = run(ClutterProblem(share=1e-9, points=[4], sets=3, passes=30))
    centre = found["centre"].values[0]
    assert_allclose(centre[1:5], np.tile(centre[0], (4, 1)), atol=1e-5)
    assert found["total_variation"].values[0, :5].max() < 1e-3
    assert found["clean_gap"].values.max() < 1e-9
    assert found["projection_gap"].values.max() < 1e-5


def test_orders_change_one_pass_and_not_many(run: Run) -> None:
    found = run(ClutterProblem(points=[30], sets=4, passes=40, orders=3))
    one, many = np.ptp(found["order_centre"].values, axis=-1)
    assert (one > 1e-6).all()
    assert (many < 1e-6).any()
    assert_allclose(found["product_of_z"].values, found["log_integral"].values)
    assert "order_centre" not in run(ClutterProblem(points=[3], sets=2, passes=2))


def test_damping_is_an_axis_and_costs_grow_with_points(run: Run) -> None:
    found = run(ClutterProblem(points=[3, 6], sets=2, passes=3, dampings=[0.0, 0.5]))
    assert found["change"].dims == ("points", "damping", "set")
    cost = found["operations"].values
    assert (cost[:, 1] == 2 * cost[:, 0]).all()
