"""Study `backpropagation`: settings and results."""

from collections.abc import Callable

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.networks.backpropagation import Backpropagation


def test_gradients_agree_and_printed_ones_do_not(run: Callable[..., Outcome]) -> None:
    found = run(Backpropagation(draws=2, hidden=2, cases=3, widths=[2, 4]))
    assert found["gradient_gap"].values.max() < 1e-6
    assert found["printed_signal_gap"].sel(output="regression").values.min() > 1
    assert found["weights"].values.tolist() == [2 * 3 + 3 * 3, 4 * 3 + 3 * 5]
    assert found["descended_gradient"].values.max() < 1e-4
