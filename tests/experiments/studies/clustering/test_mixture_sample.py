"""Draws from a mixture, and hard labels."""

import numpy as np
import pytest
from scipy.stats import binom, entropy

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.mixture_sample import HardLabels, MixtureSample


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"weights": [0.7, 0.4]}, "sum to 1.1"),
        ({"means": [[1.0, 2.0]]}, "study.means"),
        ({"variances": [[1.0, 0.0], [1.0, 1.0]]}, "study.variances"),
        ({"show": [5, 5]}, "study.show"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        MixtureSample(**knobs)  # type: ignore[arg-type]


def test_counts_are_binomial_and_moments_those_of_the_knobs() -> None:
    study = MixtureSample(repetitions=4000)
    outcome = study.run(generator(study.name, 0))
    counts = np.bincount(outcome.arrays["from_first_5"], minlength=6) / 4000
    np.testing.assert_allclose(counts, binom.pmf(range(6), 5, 0.7), atol=0.03)
    assert outcome.metrics["mean_2_2"] == pytest.approx(-3, abs=0.03)
    assert outcome.metrics["variance_1_2"] == pytest.approx(2, rel=0.03)
    assert list(study.draw(outcome)) == ["sample"]


def test_the_hard_label_is_the_most_probable() -> None:
    study = HardLabels(responsibilities=[0.1, 0.2, 0.7])
    outcome = study.run(generator(study.name, 0))
    assert outcome.metrics["hard_label"] == 3
    assert outcome.metrics["runner_up"] == 2
    assert outcome.metrics["probability_lost"] == pytest.approx(0.3)
    assert outcome.metrics["entropy_bits"] == pytest.approx(entropy([0.1, 0.2, 0.7], base=2))
    assert list(study.draw(outcome)) == ["labels"]
    with pytest.raises(BadInput, match="sum to"):
        HardLabels(responsibilities=[0.5, 0.6])
