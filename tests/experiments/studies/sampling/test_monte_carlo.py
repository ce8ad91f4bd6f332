"""Monte Carlo averages against a plain loop and the square-root law, and the study's rules."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.sampling import monte_carlo as module
from bythebook.experiments.studies.sampling.monte_carlo import MonteCarlo

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"low": 1.0}, "low < high"),
        ({"look_at": [20_000]}, "<= 10000, the samples drawn"),
        ({"function": "cube"}, "study.function=cube"),
        ({"samples": 1_000_000, "repetitions": 100}, "<= 10000000"),
        ({"skills": [0.0]}, "study.skills"),
        ({"function": "projection", "correlations": [0.5]}, "the first is 0"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        MonteCarlo(**knobs)  # type: ignore[arg-type]


def test_errors_by_a_loop_over_sequences(run: Run) -> None:
    study = MonteCarlo(samples=500, repetitions=60, look_at=[10, 500])
    found, rng = run(study), make_rng(0)
    sequences = [rng.uniform(0, 1, 500) for _ in range(60)]
    averages = [np.mean(y[:10] ** 2) for y in sequences]
    rms = np.sqrt(np.mean([(a - 1 / 3) ** 2 for a in averages]))
    here = {"expectation": "square", "n": 10}
    assert_allclose(found["rms_error"].sel(**here).item, rms, rtol=1e-9)
    assert_allclose(found["estimate"].sel(**here).values, averages, rtol=1e-12)
    assert found["exact"].values.tolist() == pytest.approx([1 / 3])
    assert_allclose(found["error_sd"].sel(**here).item, np.sqrt(4 / 45 / 10))


def test_a_wrong_expectation_stops_the_decay(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    wrong = module.INTEGRANDS["square"]._replace(mean=lambda a, b: 0.36)
    monkeypatch.setitem(module.INTEGRANDS, "square", wrong)
    found = run(MonteCarlo())
    assert np.abs(found["rms_error"].values / found["error_sd"].values - 1).max() > 1


def test_pi(run: Run) -> None:
    study = MonteCarlo("quarter-circle", times=4, samples=1000, repetitions=1000, look_at=[1000])
    found = run(study)
    assert_allclose(found["exact"].values, [np.pi], rtol=1e-12)
    assert_allclose(found["estimate"].sel(n=1000).values.mean(), np.pi, atol=0.01)
    # four times the share of n has the variance 16 p (1 - p) / n = pi (4 - pi) / n
    expected = np.sqrt(np.pi * (4 - np.pi) / 1000)
    assert_allclose(found["rms_error"].sel(n=1000).values, [expected], rtol=0.08)
    assert_allclose(found["error_sd"].sel(n=1000).values, [expected], rtol=1e-12)


def test_darts(run: Run) -> None:
    found = run(MonteCarlo("double-20", skills=[50.0, 15.0], samples=2000, look_at=[2000]))
    poor, good = found["exact"].values
    assert good > poor
    estimates = found["estimate"].sel(expectation="sd 15 mm", n=2000).values
    assert_allclose(estimates.mean(), good, atol=0.003)


def test_dependent_samples_are_worth_less(run: Run) -> None:
    study = MonteCarlo(
        "projection", dimensions=[2, 5], correlations=[0.0, 0.8], samples=50, look_at=[50]
    )
    found = run(study)
    names = found["exact"].coord("expectation").tolist()
    assert names == ["D = 2", "D = 5", "D = 2, correlation 0.8", "z < 1", "z > 3"]
    ratio = (found["rms_error"].sel(n=50).values / found["error_sd"].sel(n=50).values)[:3]
    # (1 + 0.64) / (1 - 0.64), less the ends
    assert_allclose(ratio, [1, 1, 2.05], rtol=0.25)
