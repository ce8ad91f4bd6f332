"""Study `clutter_problem`: little clutter, orders, and factors in their contexts."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.clutter_problem import ClutterProblem

Run = Callable[..., Outcome]


def test_with_little_clutter_all_methods_but_one_are_exact(run: Run) -> None:
    found = run(ClutterProblem(share=1e-9, points=[4], repetitions=3, iterations=30))
    mean = found["posterior_mean"].values[0]
    assert_allclose(mean[1:5], np.tile(mean[0], (4, 1)), atol=1e-5)
    assert found["total_variation"].values[0, :5].max() < 1e-3


def test_orders_change_one_pass_and_not_many(run: Run) -> None:
    found = run(ClutterProblem(points=[30], repetitions=4, iterations=40, orders=3))
    one, many = np.ptp(found["order_mean"].values, axis=-1)
    assert (one > 1e-6).all()
    assert (many < 1e-6).any()
    assert "order_mean" not in run(ClutterProblem(points=[3], repetitions=2, iterations=2))


def test_a_share_of_the_old_factor_stays(run: Run) -> None:
    ends = [
        run(ClutterProblem(points=[30], repetitions=3, iterations=80, damping=damping))
        for damping in (0.0, 0.5)
    ]
    means = [found["posterior_mean"].values[0, 1] for found in ends]
    assert_allclose(means[0], means[1], atol=1e-6)
    histories = [found["mean_history"].values[0, 0, :, 0] for found in ends]
    assert abs(histories[0] - histories[1]).min() > 1e-6


def test_factors_and_their_contexts(run: Run) -> None:
    found = run(
        ClutterProblem(points=[12], repetitions=6, contexts=[[-1.0, 0.5], [2.0, 0.5]], orders=0)
    )
    assert found["negative_factors"].values.max() > 0
    assert (found["own_error"].values < found["other_error"].values).mean() > 0.9
    theta, context = found["context"].coord("theta"), found["context"].values
    assert_allclose(context.sum(-1) * (theta[1] - theta[0]), 1, atol=1e-3)
    truth, fitted = found["factor"].values, found["fitted_factor"].values
    floor = 0.5 * stats.norm(0, 10**0.5).pdf(np.linspace(-20, 20, 81)).max()
    assert (truth.min(-1) <= floor + 1e-12).all()
    for power in range(3):  # what the fit keeps of the factor, under its context
        kept = ((fitted - truth) * context * theta**power).sum(-1)
        assert_allclose(kept / (truth * context).sum(-1), 0, atol=1e-4)


@pytest.mark.parametrize("context", [[1.0], [1.0, 0.0]])
def test_a_context_is_a_mean_and_a_variance(context: list[float]) -> None:
    with pytest.raises(InputError, match="pairs of a mean and a variance"):
        ClutterProblem(contexts=[context])
