"""Word probabilities of a small class by hand."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.studies.probability.dirichlet_multinomial import DirichletMultinomial


def test_a_small_class_by_hand(run: Callable[..., Outcome]) -> None:
    study = DirichletMultinomial(counts=[2, 1, 0], new=[1, 0, 1], alphas=[2.0], draws=20_000)
    found = run(study)
    assert_allclose(found["map_estimate"].values, [[3 / 6, 2 / 6, 1 / 6]])  # FCML 5.8
    assert_allclose(found["map_by_search"].values, found["map_estimate"].values, atol=1e-6)
    assert_allclose(found["ml_by_search"].values, [2 / 3, 1 / 3, 0], atol=1e-5)
    assert_allclose(found["map_likelihood"].values, [2 * 3 / 6 * 1 / 6])  # two orders
    # two orders of two words: 2 E{q_1 q_3} = 2 * 4 * 2 / (9 * 10) under Dirichlet(4, 3, 2)
    assert_allclose(found["expected_likelihood"].values, [2 * 4 * 2 / 90])
    assert found["ml_likelihood"].item == 0
    for sampled, exact in (
        ("sampled_likelihood", "expected_likelihood"),
        ("sampled_mean", "posterior_mean"),
    ):
        gap = np.abs(found[sampled].values - found[exact].values)
        assert np.all(gap < 4 * found[f"{sampled}_error"].values)


def test_texts_of_another_vocabulary_are_refused() -> None:
    with pytest.raises(BadInput, match="equally many"):
        DirichletMultinomial(new=[1])
