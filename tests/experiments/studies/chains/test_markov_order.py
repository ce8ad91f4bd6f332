"""Study `markov_order`: settings and results."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.chains.markov_order import MarkovOrder


def test_without_noise_all_is_in_the_first_window(run: Callable[..., Outcome]) -> None:
    found = run(MarkovOrder(noise=0.0, orders=[0, 1, 2], train=500, held=200, sequences=2))
    exact = found["exact_bits"].sel(source="hidden").values
    assert exact == pytest.approx(found["exact_bits"].sel(source="first order").values)
    assert found["beyond"].sel(source="hidden", order=1).item == pytest.approx(0, abs=1e-12)
    assert found["beyond"].sel(source="hidden", order=0).item > 0.5
