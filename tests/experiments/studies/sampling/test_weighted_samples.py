"""Importance weights in closed form, and the study's rules."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.sampling.weighted_samples import WeightedSamples

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"targets": ["cauchy"]}, "cauchy; allowed: gaussian"),
        ({"proposals": ["1 -1"]}, "1 -1; allowed"),
        ({"n": [100_000], "repetitions": 1000}, "<= 5000000"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        WeightedSamples(**knobs)  # type: ignore[arg-type]


def test_effective_sizes_and_estimates(run: Run) -> None:
    study = WeightedSamples(["gaussian", "bumps 3"], ["0 1.5", "0 1"], n=[50, 400])
    found = run(study)
    worth = found["effective_size"].sel(target="gaussian", n=400).values.mean(-1) / 400
    # 1 / E r^2 = sqrt(2 s^2 - 1) / s^2 for a proposal of deviation s
    assert_allclose(worth, [np.sqrt(3.5) / 2.25, 1], rtol=0.02)
    here = {"proposal": "0 1.5", "function": "square", "n": 400}
    for name, exact in (("gaussian", 1.0), ("bumps 3", 5.5)):
        estimates = found["estimate"].sel(target=name, **here).values
        assert_allclose(estimates.mean(), exact, atol=5 * estimates.std() / np.sqrt(200))
    drawn = found["plain_average"]
    assert_allclose(drawn.values[0], drawn.values[1])  # the same draws for both targets
    below = found["weighted_distribution"].sel(target="gaussian", proposal="0 1", n=400)
    expected = found["exact_distribution"].sel(target="gaussian").values
    assert_allclose(below.values.mean(0), expected, atol=0.005)
    assert found["contributing"].values.shape == (0, 200)
    assert_allclose(
        found["proposal_density"].values[0], stats.norm(0, 1.5).pdf(found["density"].coord("z"))
    )
