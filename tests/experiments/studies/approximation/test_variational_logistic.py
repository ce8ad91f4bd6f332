"""Study `variational_logistic`: the boundary, the contours and the predictions."""

from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.variational_logistic import VariationalLogistic

Run = Callable[..., Outcome]


def test_two_data_sets(run: Run) -> None:
    found = run(VariationalLogistic(repetitions=2, samples=4000))
    crossing = found["crossing"].values
    assert ((crossing > 0) & (crossing < 1)).all()
    assert (np.diff(found["contour_distance"].values, axis=-1) > 0).all()
    assert (np.diff(found["bound_history"].values, axis=-1) > -1e-9).all()
    x, t = found["inputs"].values, found["labels"].values
    side = x @ [1, -1]
    assert side[t == 0].max() < side[t == 1].min()
    means = [x[t == k].mean(0) for k in (0, 1)]
    assert_allclose(means, [[-2, 2], [2, -2]], atol=4.5 * 0.8 / np.sqrt(10))
    w, plane = found["sampled_weights"].values, found["predictive"]
    for one, two in ((-6.0, 6.0), (1.0, 0.2), (6.0, 2.0)):  # the closed form is approximate
        average = (1 / (1 + np.exp(-w @ [1, one, two]))).mean()
        assert_allclose(plane.sel(x1=one, x2=two).item, average, atol=0.03)
