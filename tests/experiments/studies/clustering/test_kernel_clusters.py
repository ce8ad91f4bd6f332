"""Kernel K-means on the ring and the disc."""

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.kernel_clusters import KernelClusters


def test_knobs_that_make_no_sense_are_refused() -> None:
    with pytest.raises(BadInput, match=r"study\.gamma"):
        KernelClusters(gamma=0.0)
    with pytest.raises(BadInput, match=r"study\.show"):
        KernelClusters(show=[1, 1])


def test_the_disc_is_found_from_its_middle() -> None:
    study = KernelClusters(starts=3, gammas=[1.0, 50.0], show=[1, 30])
    outcome = study.run(generator(study.name, 0))
    X = outcome.arrays["X"]
    final = outcome.arrays["shown"][-1]
    np.testing.assert_array_equal(final == 1, np.linalg.norm(X, axis=1) < 0.9)
    assert outcome.metrics["agreement"] == 1
    assert outcome.series["small_cluster"].values[0] == 1
    assert outcome.metrics["final_size"] == 499
    assert outcome.tables["gamma"]["agreement"][0] == 1
    assert outcome.tables["gamma"]["agreement"][1] < 0.9
    assert list(study.draw(outcome)) == ["iterations", "choices"]
