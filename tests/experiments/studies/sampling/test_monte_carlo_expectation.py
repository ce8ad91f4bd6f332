"""The study of a Monte Carlo average against a plain loop, and its rules."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.sampling.monte_carlo_expectation import MonteCarloExpectation

STUDY = MonteCarloExpectation(samples=500, sequences=60, look_at=[10, 500])


def run(study: MonteCarloExpectation) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"low": 1.0}, "low < high"),
        ({"look_at": [20_000]}, "<= 10000, the samples drawn"),
        ({"function": "cube"}, "study.function=cube"),
        ({"samples": 1_000_000, "sequences": 100}, "<= 20000000"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        MonteCarloExpectation(**knobs)  # type: ignore[arg-type]


def test_errors_by_a_loop_over_sequences() -> None:
    outcome = run(STUDY)
    rng = generator(STUDY.name, 0)
    sequences = [rng.uniform(0, 1, 500) for _ in range(60)]
    averages = [np.mean(y[:10] ** 2) for y in sequences]
    rms = np.sqrt(np.mean([(a - 1 / 3) ** 2 for a in averages]))
    assert_allclose(outcome.metrics["relative_error_10"], 3 * rms, rtol=1e-9)
    assert_allclose(outcome.arrays["estimates_10"], averages, rtol=1e-12)
    assert outcome.metrics["reciprocal_expectation"] == pytest.approx(3)
    assert outcome.metrics["variance_of_f"] == pytest.approx(4 / 45)
    assert outcome.metrics["error_falls"] is True
    assert len(STUDY.draw(outcome)["convergence"].axes) == 2


def test_a_wrong_expectation_stops_the_decay(monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments.studies.sampling import monte_carlo_expectation as module

    entry = module.INTEGRANDS["square"]
    wrong = entry._replace(mean=lambda a, b: 0.36)
    monkeypatch.setitem(module.INTEGRANDS, "square", wrong)
    found = run(MonteCarloExpectation()).metrics
    assert float(found["rate_of_decay"]) > -0.45
    assert found["errors_as_theory"] is False
