"""Kernels against their definitions, state by state."""

import numpy as np
import pytest

from bythebook.models.chains import transition_kernels as made
from bythebook.models.types import Floats


@pytest.fixture
def problem() -> made.Problem:
    return made.draw_problems(6, 3, 20, np.random.default_rng(0))


def test_metropolis_and_hastings_by_hand(problem: made.Problem) -> None:
    p, q = problem.p[0], problem.q[0, 0]
    T = made.with_rejections(q, made.hastings_acceptance(p, q))
    for i in range(6):
        for j in range(6):
            if i != j and q[i, j] > 0:
                assert T[i, j] == pytest.approx(min(q[i, j], p[j] * q[j, i] / p[i]))
    assert np.allclose(T.sum(1), 1)
    assert np.abs(made.balance_gap(p, T)).max() < 1e-15


def test_gaps_see_what_they_should() -> None:
    p = np.array([0.25, 0.75])
    T = np.array([[0.5, 0.5], [0.1, 0.9]])
    assert made.balance_gap(p, T) == pytest.approx(np.array([[0, 0.05], [-0.05, 0]]))
    assert made.invariance_gap(p, T) == pytest.approx([-0.05, 0.05])


def test_a_rotation_leaves_the_target_and_has_no_balance(problem: made.Problem) -> None:
    T = made.rotation(problem.p)
    assert np.abs(made.invariance_gap(problem.p, T)).max() < 1e-15
    assert np.abs(made.balance_gap(problem.p, T)).max((1, 2)).min() > 0
    assert T.min() >= 0
    assert np.allclose(T.sum(-1), 1)


@pytest.mark.parametrize("variable", [0, 1])
def test_conditionals_keep_the_other_variable(variable: int) -> None:
    p: Floats = np.random.default_rng(1).dirichlet(np.ones(6))
    T = made.conditional(p, (2, 3), variable).reshape(2, 3, 2, 3)
    table = p.reshape(2, 3)
    for a in range(2):
        for b in range(3):
            for c in range(2):
                for d in range(3):
                    if variable == 0:
                        right = (b == d) * table[c, b] / table[:, b].sum()
                    else:
                        right = (a == c) * table[a, d] / table[a].sum()
                    assert T[a, b, c, d] == pytest.approx(right)


def test_outright_acceptance_is_a_product(problem: made.Problem) -> None:
    p, q = problem.p[3], problem.q[3, 1]
    assert made.outright_acceptance(p, q)[1, 4] == pytest.approx(p[4] * q[4, 1])


def test_of_many_proposals_each_is_rejected_by_its_own_chance(problem: made.Problem) -> None:
    q, accept = problem.q[:4], np.random.default_rng(2).random((4, 3, 6, 6))
    T = made.with_rejections(q, accept)
    assert T.shape == (4, 3, 6, 6)
    for at in np.ndindex(4, 3):
        for i in range(6):
            gone = [q[at][i, j] * accept[at][i, j] for j in range(6)]
            stays = 1 - sum(gone) + gone[i]
            gone[i] = stays
            assert T[at][i] == pytest.approx(gone, rel=1e-12)
