"""Chains whose classes, periods and limits are known, and random ones by other means."""

from math import gcd

import numpy as np
import pytest

from bythebook.models.chains import markov_chain as markov

THREE = np.array([[0, 1, 0], [0.5, 0, 0.5], [1, 0, 0]])
FOUR = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0.25, 0.25, 0, 0.5], [0, 0, 0, 1]])


def test_classes_and_periods_of_a_reducible_chain() -> None:
    known = markov.structure(FOUR)
    assert known.recurrent.tolist() == [True, True, False, True]
    assert np.flatnonzero(known.closed).tolist() == [0, 3]
    assert known.first.sum() == 3
    assert known.period.tolist() == [2, 2, 0, 1]
    assert not known.irreducible


def test_distributions_of_closed_classes_and_ways_into_them() -> None:
    rows = np.array([[0.5, 0.5, 0, 0], [0, 0, 0, 1]])
    assert np.allclose(markov.closed_distributions(FOUR), rows)
    ways = np.array([[1, 0], [1, 0], [0.5, 0.5], [0, 1]])
    assert np.allclose(markov.absorption(FOUR), ways)
    assert np.allclose(markov.return_probability(FOUR), [1, 1, 0, 1])


@pytest.mark.parametrize("column", [0, 1, 2])
def test_any_column_may_give_way(column: int) -> None:
    assert np.allclose(markov.stationary(THREE, column), [0.4, 0.4, 0.2])


def test_periods_of_random_chains_are_gcds_of_return_times() -> None:
    A = markov.draw_chains(4, 60, np.random.default_rng(1))
    known = markov.structure(A)
    for chain, periods in zip(A, known.period, strict=True):
        step, found = np.eye(4), [0] * 4
        for t in range(1, 25):
            step = step @ chain
            found = [gcd(d, t) if step[i, i] > 0 else d for i, d in enumerate(found)]
        assert periods.tolist() == found


def test_irreducible_is_a_sum_of_powers_without_zeros() -> None:
    A = markov.draw_chains(4, 60, np.random.default_rng(2))
    reach = np.sum([np.linalg.matrix_power(A, n) for n in range(4)], axis=0)
    assert (markov.structure(A).irreducible == (reach > 0).all((1, 2))).all()
    regular = (np.linalg.matrix_power(A, 40) > 0).all((1, 2))
    assert (markov.is_regular(A) == regular).all()
    assert regular.any()
    assert not regular.all()


def test_a_power_without_zeros_may_come_as_late_as_it_can() -> None:
    """Wielandt's chain, a circle with one short cut, and the circle alone."""
    circle = np.roll(np.eye(5), 1, axis=1)
    late = circle.copy()
    late[4] = [0.5, 0.5, 0, 0, 0]
    assert (np.linalg.matrix_power(late, 16) == 0).any()
    assert (np.linalg.matrix_power(late, 17) > 0).all()
    assert markov.is_regular(np.stack([late, circle])).tolist() == [True, False]
    assert markov.is_regular(late)


def test_the_limit_of_averages_is_stationary_and_keeps_no_period() -> None:
    flip = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert np.allclose(markov.average_limit(flip), 0.5)
    assert np.allclose(markov.limit(flip, 3), np.eye(2))
    assert np.allclose(markov.average_limit(THREE), [0.4, 0.4, 0.2])


def test_transient_states_return_as_often_as_they_should() -> None:
    A = np.array([[0.3, 0.7, 0.0], [0.2, 0.2, 0.6], [0.0, 0.0, 1.0]])
    # from 0: stay, or to 1 and back before 2 takes over
    back_from_one = 0.2 / 0.8
    assert markov.return_probability(A)[0] == pytest.approx(0.3 + 0.7 * back_from_one)


def test_closed_classes_are_counted_by_the_null_space() -> None:
    A = markov.draw_chains(5, 80, np.random.default_rng(3))
    assert (markov.structure(A).closed.sum(1) == markov.null_dimension(A)).all()
    assert np.allclose(A.sum(-1), 1)
