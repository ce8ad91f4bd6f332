"""The study of Gaussians in the plane: conditionals by simulation, and its rules."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.probability.gaussian_plane import GaussianPlane


def run(study: GaussianPlane) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"mean": [1.0]}, "study.mean"),
        ({"covariances": [[1.0, 1.0, 1.0]]}, "positive definite"),
        ({"covariances": [[1.0, 0.0]]}, "three numbers"),
        ({"diagonals": [[1.0, 0.0]]}, "variances > 0"),
        ({"given": [1.0, 1.0]}, "repeats"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        GaussianPlane(**knobs)  # type: ignore[arg-type]


def test_the_books_two_gaussians() -> None:
    outcome = run(GaussianPlane())
    found = outcome.metrics
    law = multivariate_normal([2, 1], [[1, 0.8], [0.8, 1]])
    rng = np.random.default_rng(1)
    X = law.rvs(400_000, random_state=rng)
    near = X[np.abs(X[:, 0] - 3) < 0.05, 1]
    assert_allclose(found["mean_of_x2_given_3_2"], near.mean(), atol=0.03)
    assert_allclose(found["variance_of_x2_given_3_2"], near.var(), rtol=0.05)
    assert_allclose(outcome.arrays["densities"][1].max(), law.pdf([2, 1]), rtol=1e-12)
    assert [found["factorises_1"], found["factorises_2"]] == [True, False]
    assert [found["x2_depends_on_x1_1"], found["x2_depends_on_x1_2"]] == [False, True]


def test_diagonals_factorise_in_any_dimension() -> None:
    study = GaussianPlane(diagonals=[[1.0, 2.0, 3.0, 4.0]], given=[])
    outcome = run(study)
    assert outcome.metrics["diagonal_1_factorises"] is True
    assert "mean_of_x2_given_1_1" not in outcome.metrics
    assert study.draw(outcome)["densities"].axes
