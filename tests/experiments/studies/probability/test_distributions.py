"""The study of popular distributions against formulas written out, and its rules."""

from collections.abc import Callable
from math import comb, exp, factorial, pi, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.probability.distributions import Distributions

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"family": "cauchy"}, "study.family=cauchy"),
        ({"parameters": [[50.0]]}, "allowed: N, q"),
        ({"parameters": [[50.0, 1.2]]}, "not parameters of binomial"),
        ({"family": "gaussian", "parameters": [[0.0, -1.0]]}, "not parameters of gaussian"),
        ({"family": "beta", "parameters": [[-0.1, 1.0]]}, "not parameters of beta"),
        ({"family": "uniform", "parameters": [[8.0, 3.0]]}, "not parameters of uniform"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Distributions(**knobs)  # type: ignore[arg-type]


def test_probabilities_by_hand(run: Run) -> None:
    found = run(Distributions(parameters=[[10.0, 0.3]]))["probability"]
    for y in range(11):
        assert_allclose(found.sel(y=y).item, comb(10, y) * 0.3**y * 0.7 ** (10 - y), rtol=1e-9)
    counts = run(Distributions(family="poisson", parameters=[[5.0], [2.0]]))
    assert_allclose(counts["expected_value"], [5, 2])
    assert_allclose(counts["deviation"], np.sqrt([5, 2]))
    found = counts["probability"].sel(curve="5")
    assert_allclose(found.sel(y=3).item, 5**3 * exp(-5) / factorial(3), rtol=1e-9)


def test_densities_by_hand(run: Run) -> None:
    gauss = run(Distributions(family="gaussian", parameters=[[5.0, 4.0], [-2.0, 0.3]]))["density"]
    x = gauss.coord("x")
    expected = np.exp(-((x - 5) ** 2) / 8) / sqrt(8 * pi)
    assert_allclose(gauss.sel(curve="5, 4"), expected, atol=1e-12)
    flat = run(Distributions(family="uniform", parameters=[[3.0, 8.0]]))["density"]
    assert_allclose(flat.values, 0.2)
    found = run(Distributions(family="beta", parameters=[[5.0, 1.0]]))
    assert_allclose(found["density"].values[0], 5 * found["density"].coord("x") ** 4, rtol=1e-9)
    assert_allclose(found["expected_value"], [5 / 6])
