"""Variational logistic regression on separable data: identities, contours, searches."""

from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.variational_logistic import VariationalLogistic

Run = Callable[..., Outcome]


def test_two_data_sets(run: Run) -> None:
    found = run(VariationalLogistic(sets=2, orders=2))
    right, wrong = np.abs(found["closed_gap"].values).max(-1)
    assert right < 1e-8 < 0.1 < wrong
    right, wrong = found["slope_at_rest"].values.max(-1)
    assert right < 1e-4 < wrong
    assert found["m_step_gap"].values.max() < 1e-5
    assert found["joint_slack"].values.min() > 0
    crossing = found["crossing"].values
    assert ((crossing > 0) & (crossing < 1)).all()
    assert (np.diff(found["contour_distance"].values, axis=-1) > 0).all()
    x, t = found["place"].values, found["class_of"].values
    side = x @ [1, -1]
    assert side[t == 0].max() < side[t == 1].min()
    plane = found["predictive"]
    low = plane.values[np.argmin(plane.coord("x_1")), np.argmax(plane.coord("x_2"))]
    assert low < 0.5
    assert_allclose(found["lambda_slope"].values[0], 0, atol=1e-3)
