"""Joint, marginal and reversed tables by counting equally likely cases."""

from fractions import Fraction

import numpy as np
from numpy.testing import assert_allclose

from models.probability.discrete_pair import pair


def test_tables_by_counting_cases() -> None:
    # Twelve cases (x, y), equally likely; every table is a share of them.
    cases = [(0, 0)] * 3 + [(0, 1)] * 1 + [(1, 0)] * 2 + [(1, 2)] * 6
    share = lambda wanted: Fraction(sum(wanted(*case) for case in cases), 12)  # noqa: E731
    prior = [share(lambda x, _, k=k: x == k) for k in range(2)]
    joint = [[share(lambda x, y, i=i, j=j: (x, y) == (i, j)) for j in range(3)] for i in range(2)]
    conditional = [[p / prior[i] for p in row] for i, row in enumerate(joint)]
    found = pair(np.array(prior, dtype=float), np.array(conditional, dtype=float))
    assert_allclose(found.joint, np.array(joint, dtype=float), rtol=1e-12)
    assert_allclose(found.marginal, [5 / 12, 1 / 12, 6 / 12], rtol=1e-12)
    assert_allclose(found.reverse, [[3 / 5, 1, 0], [2 / 5, 0, 1]], rtol=1e-12)


def test_an_outcome_that_cannot_happen_says_nothing_of_the_other() -> None:
    found = pair(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert found.marginal.tolist() == [1, 0]
    assert np.isnan(found.reverse[:, 1]).all()
