"""Kernel K-means on the ring and the disc."""

from collections.abc import Callable

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.studies.clustering.kernel_clusters import KernelClusters

Run = Callable[..., Outcome]


def test_knobs_that_make_no_sense_are_refused() -> None:
    with pytest.raises(BadInput, match=r"study\.gamma"):
        KernelClusters(gamma=0.0)
    with pytest.raises(BadInput, match=r"study\.show"):
        KernelClusters(show=[1, 1])


def test_the_disc_is_found_from_its_middle(run: Run) -> None:
    outcome = run(KernelClusters(starts=3, gammas=[1.0, 50.0], show=[1, 30]))
    X = outcome["points"].values
    final = outcome["labels"].values[-1]
    np.testing.assert_array_equal(final == 1, np.linalg.norm(X, axis=1) < 0.9)
    assert outcome["agreement"].at(start="middle").item == 1
    assert outcome["small_cluster"].values[[0, -1]].tolist() == [1, 499]
    assert outcome["random_agreement"].values.shape == (2, 3)
    right, wrong = outcome["agreement_by_gamma"].values
    assert right == 1
    assert wrong < 0.9
