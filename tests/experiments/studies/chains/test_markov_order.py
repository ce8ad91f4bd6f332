"""Windows as knobs."""

from collections.abc import Callable

import pytest

from experiments.contract.outcome import Outcome
from experiments.studies.chains.markov_order import MarkovOrder


def test_without_noise_all_is_in_the_first_window(run: Callable[..., Outcome]) -> None:
    found = run(MarkovOrder(noise=0.0, orders=[0, 1, 2], train=500, held=200, sequences=2))
    exact = found["exact_bits"].at(source="hidden").values
    assert exact == pytest.approx(found["exact_bits"].at(source="first order").values)
    assert found["beyond"].at(source="hidden", order=1).item == pytest.approx(0, abs=1e-12)
    assert found["beyond"].at(source="hidden", order=0).item > 0.5
