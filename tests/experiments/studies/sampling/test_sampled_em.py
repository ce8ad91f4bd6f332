"""Recorded quantities of the study of sampled EM."""

from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.sampling.sampled_em import SampledEm

Run = Callable[..., Outcome]


def test_more_samples_come_nearer(run: Run) -> None:
    found = run(SampledEm(30, samples=[1, 400], iterations=30, draws=100, repetitions=6))
    gap = np.abs(found["sampled_means"].values - found["em_means"].values).mean((1, 2))
    assert gap[1] < gap[0] / 3
    off = np.abs(found["q_error"].values).mean(-1)
    assert off[1] < off[0] / 3
    assert_allclose(found["augmented_mean"].values, found["posterior_mean"].values, atol=0.35)
    assert found["path"].values.shape == (2, 31, 2)
