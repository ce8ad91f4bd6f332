"""Study `sigmoid_integral`: integrals, and a network by its samples."""

from collections.abc import Callable

import pytest
from numpy.testing import assert_allclose
from scipy.integrate import dblquad
from scipy.special import expit
from scipy.stats import norm

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.sigmoid_integral import SigmoidIntegral

Run = Callable[..., Outcome]


def test_integrals_and_a_network(run: Run) -> None:
    found = run(SigmoidIntegral([0.0, 2.0], [1.0], samples=3000, repetitions=4))
    assert_allclose(found["integral"].values[0], 0.5)
    exact = found["network_exact"].item
    assert_allclose(found["network_sampled"].values, exact, atol=0.03)


def test_the_network_against_scipy(run: Run) -> None:
    found = run(SigmoidIntegral(weights=[0.3, 1.5], input=0.8))

    def f(b: float, a: float) -> float:
        return float(expit(b * _tanh(0.8 * a)) * norm.pdf(a, 0.3) * norm.pdf(b, 1.5))

    assert_allclose(found["network_exact"].item, dblquad(f, -8, 8, -7, 9)[0], rtol=1e-7)
    unit = _tanh(0.24)
    variance = (1.5 * (1 - unit**2) * 0.8) ** 2 + unit**2
    expected = expit(1.5 * unit / (1 + 3.141592653589793 * variance / 8) ** 0.5)
    assert_allclose(found["network_moderated"].item, expected)


def _tanh(a: float) -> float:
    return float(2 * expit(2 * a) - 1)


def test_two_weights() -> None:
    with pytest.raises(InputError, match="two"):
        SigmoidIntegral(weights=[1.0])
