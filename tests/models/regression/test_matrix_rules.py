"""Identities that hold, one rule that does not, and by how much it fails."""

import numpy as np
from numpy.testing import assert_allclose

from models.datasets import load
from models.regression import matrix_rules
from models.regression.linear import line


def test_the_identities_hold_to_rounding() -> None:
    x, t = load("olympics-100m-men").xt
    found = matrix_rules.identities(line(x), t, 100, np.random.default_rng(1))
    assert list(found) == ["quadratic form", "transpose", "inputs times targets", "outer products"]
    assert max(found.values()) < 1e-12


def test_the_rule_for_any_form_is_off_by_what_symmetry_would_hide() -> None:
    """The gradient is (C + C^T) w, so 2 C w is off by (C^T - C) w."""
    found = matrix_rules.gradients(50, np.random.default_rng(2))
    rng = np.random.default_rng(2)
    C = rng.standard_normal((50, 3, 3))
    w, _ = rng.standard_normal((2, 50, 3))
    off = np.einsum("sij,sj->si", np.swapaxes(C, -1, -2) - C, w)
    assert_allclose(found.pop("any form"), np.abs(off).max(), rtol=1e-6)
    assert max(found.values()) < 1e-7
