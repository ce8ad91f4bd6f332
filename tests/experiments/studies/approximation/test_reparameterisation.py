"""Modes under changes of parameters, by hand."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.reparameterisation import Reparameterisation

Run = Callable[..., Outcome]


def test_no_more_heads_than_tosses() -> None:
    with pytest.raises(InputError, match=r"study.tosses=4"):
        Reparameterisation(heads=5)


def test_modes_by_hand(run: Run) -> None:
    found = run(Reparameterisation([2.0, 2.0], heads=3, tosses=4, repetitions=20))
    # of Beta(5, 3): as it is; times r (1 - r); over r; times (r (1 - r))^(1/2)
    expected = [4 / 6, 5 / 8, 3 / 5, 4.5 / 7]
    assert_allclose(found["most_probable"].values, expected, atol=1e-6)
    assert_allclose(found["best_penalised"].values, 4 / 6, atol=1e-6)
    r = found["jacobian"].coord("r")
    jacobian = found["jacobian"]
    assert_allclose(jacobian.sel(parameter="square").values, 2 * r, rtol=1e-3)
    assert_allclose(jacobian.sel(parameter="log odds").values, 1 / (r * (1 - r)), rtol=1e-3)
    more = found["complex_likelihood"].values > found["simple_likelihood"].values
    assert np.mean(more) > 0.5
