"""The EM loop, on Dempster, Laird and Rubin's genetic linkage: a quadratic gives the maximum."""

import warnings
from typing import NamedTuple

import numpy as np
import pytest

from bythebook.models.convergence import NotConverged
from bythebook.models.em import (
    EMFit,
    count_optima,
    expectation_maximisation,
    first_reached,
    held,
    path,
    smallest_gain,
    take,
)

COUNTS = np.array([125.0, 18.0, 20.0, 34.0])  # cells 1/2 + t/4, (1 - t)/4, (1 - t)/4, t/4
# 197 t^2 - 15 t - 68 = 0, the score equation of the four counts
MAXIMUM = (15 + np.sqrt(15**2 + 4 * 197 * 68)) / (2 * 197)


class Linkage(NamedTuple):
    t: np.ndarray


class Expected(NamedTuple):
    recombined: np.ndarray


def e_step(theta):
    t = theta.t
    cells = np.stack([0.5 + t / 4, (1 - t) / 4, (1 - t) / 4, t / 4], axis=1)
    return Expected(COUNTS[0] * (t / 4) / (0.5 + t / 4)), (COUNTS * np.log(cells)).sum(1)


def m_step(theta, q):
    return Linkage((q.recombined + COUNTS[3]) / (q.recombined + COUNTS[1:].sum()))


def start(*values):
    return Linkage(np.array(values))


def climb(theta, e_step, m_step, tol=1e-8, max_iter=500, snapshots=()):
    return expectation_maximisation(
        theta, e_step, m_step, tol=tol, max_iter=max_iter, snapshots=snapshots
    )


def test_every_restart_reaches_the_closed_form_maximum():
    fit = climb(start(0.05, 0.5, 0.95), e_step, m_step, tol=1e-13)
    np.testing.assert_allclose(fit.theta.t, MAXIMUM, rtol=1e-6)
    assert fit.converged.all()
    for history, iterations in zip(fit.objective, fit.iterations, strict=True):
        assert np.all(np.diff(history[: iterations + 1]) >= -1e-12)
        assert np.isnan(history[iterations + 1 :]).all()


def test_a_batch_gives_what_each_restart_gives_alone():
    values = (0.01, 0.3, MAXIMUM, 0.99)
    together = climb(start(*values), e_step, m_step, snapshots=(0, 2))
    assert len(set(together.iterations)) > 1  # they leave the batch one after the other
    for r, value in enumerate(values):
        alone = climb(start(value), e_step, m_step, snapshots=(0, 2))
        assert alone.iterations[0] == together.iterations[r]
        assert alone.theta.t[0] == together.theta.t[r]
        np.testing.assert_array_equal(
            alone.objective[0], together.objective[r, : alone.objective.shape[1]]
        )
        assert alone.snapshots[2].t[0] == together.snapshots[2].t[r]


def test_it_stops_at_the_first_gain_within_the_tolerance():
    fit = climb(start(0.05), e_step, m_step, tol=1e-3)
    gains = np.diff(fit.objective[0])
    assert np.all(gains[:-1] > 1e-3)
    assert gains[-1] <= 1e-3


def test_without_tolerance_it_takes_exactly_the_requested_iterations():
    fit = climb(start(0.05, MAXIMUM), e_step, m_step, tol=-np.inf, max_iter=40)
    assert fit.iterations.tolist() == [40, 40]
    assert not fit.converged.any()
    assert fit.objective.shape == (2, 41)
    np.testing.assert_array_equal(fit.final, fit.objective[:, 40])


def test_no_iterations_leave_the_start():
    fit = climb(start(0.2), e_step, m_step, max_iter=0, snapshots=(0,))
    assert fit.theta.t.tolist() == fit.snapshots[0].t.tolist() == [0.2]
    assert fit.objective.shape == (1, 1)


def test_the_start_is_not_written_to():
    theta = start(0.05, 0.5)
    climb(theta, e_step, m_step)
    assert theta.t.tolist() == [0.05, 0.5]


def test_snapshots_follow_the_path():
    fit = climb(start(0.1, 0.9), e_step, m_step, snapshots=range(4))
    theta = start(0.1, 0.9)
    for iteration in range(4):
        np.testing.assert_array_equal(fit.snapshots[iteration].t, theta.t)
        theta = m_step(theta, e_step(theta)[0])


def test_snapshots_after_the_end_are_the_end_whether_or_not_another_restart_goes_on():
    together = climb(start(0.001, MAXIMUM), e_step, m_step, snapshots=(3, 400))
    assert together.iterations[1] < 3 < together.iterations[0]
    alone = climb(start(MAXIMUM), e_step, m_step, snapshots=(3, 400))
    assert together.snapshots[3].t[1] == alone.snapshots[3].t[0] == alone.theta.t[0]
    np.testing.assert_array_equal(together.snapshots[400].t, together.theta.t)


def test_an_undefined_objective_ends_its_restart_and_no_other():
    def fragile(theta):  # undefined from 0.7 on, also at the start
        q, objective = e_step(theta)
        return q, np.where(theta.t > 0.7, np.nan, objective)

    def overshooting(theta, q):
        stepped = m_step(theta, q).t
        return Linkage(np.where(theta.t < 0.1, 0.8, stepped))

    fit = climb(start(0.05, 0.5, 0.9), fragile, overshooting)
    assert fit.iterations.tolist()[::2] == [1, 0]
    assert fit.theta.t.tolist()[::2] == [0.8, 0.9]
    assert fit.converged.tolist() == [False, True, False]
    assert np.isnan(fit.final).tolist() == [True, False, True]
    assert smallest_gain(np.full((2, 3), np.nan)) == np.inf
    assert fit.best == 1  # argmax alone would point at NaN
    np.testing.assert_allclose(fit.theta.t[1], MAXIMUM, rtol=1e-4)


def test_a_likelihood_of_zero_is_left_if_em_can_leave_it():
    def impossible_at_half(theta):
        q, objective = e_step(theta)
        return q, np.where(theta.t == 0.5, -np.inf, objective)

    fit = climb(start(0.5), impossible_at_half, m_step)
    assert fit.converged.all()
    stuck = climb(start(0.5), impossible_at_half, lambda theta, q: theta)
    assert stuck.iterations.tolist() == [1]
    assert not stuck.converged.any()


@pytest.mark.parametrize("chosen", [1, [0, 2], slice(1, None), np.array([True, False, True])])
def test_take_selects_restarts(chosen):
    theta = start(0.1, 0.2, 0.3)
    np.testing.assert_array_equal(take(theta, chosen).t, theta.t[chosen])
    assert isinstance(take(theta, chosen), Linkage)


def test_restarts_that_have_stopped_hold_their_value() -> None:
    objective = np.array([[-3.0, -2.0, np.nan, np.nan], [-5.0, -4.0, -3.0, -3.5]])
    np.testing.assert_array_equal(
        held(objective, 5), [[-3, -2, -2, -2, -2], [-5, -4, -3, -3.5, -3.5]]
    )
    assert smallest_gain(objective) == -0.5 / 5
    assert smallest_gain(objective[:1]) == 1 / 3


def test_a_path_of_no_steps_is_the_start():
    fit = climb(start(0.1, 0.9), e_step, m_step, max_iter=0, snapshots=[0])
    assert path(fit, 0).t.tolist() == [0.1]


def test_the_path_of_the_first_restart():
    fit = climb(start(0.1, 0.9), e_step, m_step, max_iter=3, snapshots=range(4))
    theta = start(0.1)
    for value in path(fit, 3).t:
        assert value == theta.t[0]
        theta = m_step(theta, e_step(theta)[0])


def test_optima_are_counted_where_they_lie_apart():
    def count(*values, resolution=0.1):
        R = len(values)
        ends, converged = np.reshape(values, (R, 1)), np.ones(R, dtype=bool)
        return count_optima(EMFit((), ends, np.zeros(R, dtype=int), converged, {}), resolution)

    assert count(-1.0, -1.05, -3.0, -3.02) == 2
    assert count() == 0
    assert count(-3.0, -1.0, -2.0) == 3
    assert count(-2.0, -1.0, -2.5, resolution=0.5) == 2  # exactly so far apart is not more


def test_a_level_that_is_never_reached_counts_as_one_place_more():
    rows = np.array([[0.0, 1.0, 2.0, 1.5], [0.0, 0.5, 0.9, 0.99], [3.0, 3.0, 3.0, 3.0]])
    assert first_reached(rows, 1.0).tolist() == [1, 4, 0]


def test_without_a_limit_of_ones_own_it_is_five_hundred():
    fit = climb(start(0.5), e_step, m_step, tol=-np.inf)
    assert fit.iterations.tolist() == [500]
    assert not fit.converged.any()


def test_restarts_at_the_limit_give_a_warning() -> None:
    starts = Linkage(np.array([0.1, 0.5, MAXIMUM]))
    with pytest.warns(NotConverged, match="limit of 2 iterations in 2 fits"):
        expectation_maximisation(starts, e_step, m_step, tol=1e-9, max_iter=2)
    with warnings.catch_warnings(action="error"):
        expectation_maximisation(starts, e_step, m_step, tol=1e-9, max_iter=100)
        expectation_maximisation(starts, e_step, m_step, tol=-np.inf, max_iter=2)  # on purpose
