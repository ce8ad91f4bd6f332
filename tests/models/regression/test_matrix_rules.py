"""Identities that hold, one rule that does not, and the size of its error."""

import numpy as np
from numpy.testing import assert_allclose

from bythebook.models.datasets import load
from bythebook.models.regression import matrix_rules
from bythebook.models.regression.linear import line


def gaps(sides: matrix_rules.Sides) -> dict[str, float]:
    """How far the sides are apart at most, relative to the largest number of the first."""
    return {name: np.abs(a - b).max() / np.abs(a).max() for name, (a, b) in sides.items()}


def test_the_identities_hold_to_rounding() -> None:
    x, t = load("olympics-100m-men").xt
    found = gaps(matrix_rules.identities(line(x), t, 100, np.random.default_rng(1)))
    rng = np.random.default_rng(1).spawn(1)[0]
    A = rng.standard_normal((2, 2))
    B = rng.standard_normal((2, 3))
    off = np.abs((A[1] - A[0]) @ B).max() / np.abs(A @ B).max()  # as printed: twice the first row
    assert_allclose(found.pop("example of a product"), off, rtol=1e-12)
    assert list(found) == ["quadratic form", "transpose", "inputs times targets", "outer products"]
    assert max(found.values()) < 1e-12


def test_the_rule_for_any_form_is_off_by_what_symmetry_would_hide() -> None:
    """The gradient is (C + C^T) w, so 2 C w is off by (C^T - C) w."""
    sides = matrix_rules.gradients(50, np.random.default_rng(2))
    by_differences, rule = sides.pop("any form")
    rng = np.random.default_rng(2)
    C = rng.standard_normal((50, 3, 3))
    w, _ = rng.standard_normal((2, 50, 3))
    off = np.einsum("sij,sj->si", np.swapaxes(C, -1, -2) - C, w)
    assert_allclose(by_differences - rule, off, atol=1e-6)
    assert max(gaps(sides).values()) < 1e-7


def test_the_brackets_without_their_factor_are_the_total_loss() -> None:
    x, t = load("olympics-100m-men").xt
    found = gaps(matrix_rules.losses(line(x), t, 100, np.random.default_rng(3)))
    assert_allclose(found.pop("product of the brackets"), len(t) - 1, rtol=1e-12)
    assert max(found.values()) < 1e-12


def test_slopes_are_those_of_the_residuals_except_the_one_without_inputs() -> None:
    """The gradient is -2/N X^T (t - X w); the average of t instead of x t shifts it."""
    x, t = load("fcml-toy-regression").xt
    X = line(x)
    found = gaps(matrix_rules.slopes(X, t, 100, np.random.default_rng(4)))
    W = np.random.default_rng(4).standard_normal((100, 2))
    largest = np.abs(-2 / 3 * (t - W @ X.T) @ X).max(0)[1]
    assert_allclose(found.pop("in averages, w_1"), 2 * (124.7 / 3 - 11.1) / largest, rtol=1e-9)
    assert max(found.values()) < 1e-12


def test_curvatures_are_twice_the_mean_squares() -> None:
    x, t = load("fcml-toy-regression").xt
    X = line(x)
    assert max(gaps(matrix_rules.curvatures(X, t, 100, np.random.default_rng(5))).values()) < 1e-9
    off = gaps(matrix_rules.curvatures(2 * X, t, 100, np.random.default_rng(5)))
    assert_allclose(
        list(off.values()), [3 / 4, 0], atol=1e-9
    )  # a column of twos, four times the first
