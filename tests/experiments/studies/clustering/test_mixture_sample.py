"""Draws from a mixture."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.drawing.registry import figures
from experiments.studies.clustering.mixture_sample import MixtureSample

Run = Callable[..., Outcome]


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


def test_counts_are_binomial_and_moments_those_of_the_knobs(run: Run) -> None:
    outcome = run(MixtureSample(repetitions=4000))
    z = outcome["chosen"].values
    counts = np.bincount((z[:, :5] == 1).sum(axis=1), minlength=6) / 4000
    np.testing.assert_allclose(counts, binom.pmf(range(6), 5, 0.7), atol=0.03)
    X = run(MixtureSample(repetitions=1, show=[20_000]))
    second = X["objects"].values[X["chosen"].values[0] == 2]
    np.testing.assert_allclose(second.mean(axis=0), [1, -3], atol=0.05)
    np.testing.assert_allclose(second.var(axis=0), [2, 1], rtol=0.05)


def test_the_hard_label_is_the_most_probable(run: Run) -> None:
    study = MixtureSample(weights=[0.1, 0.2, 0.7], means=[])
    outcome = run(study)
    assert "objects" not in outcome
    soft, hard = figures(study, outcome)["labels"].axes[0].containers
    assert [bar.get_height() for bar in soft] == [0.1, 0.2, 0.7]
    assert [bar.get_height() for bar in hard] == [0, 0, 1]
