"""The study of Gaussians in the plane: conditionals by simulation, and its rules."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.probability.gaussian_plane import GaussianPlane

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"mean": [1.0]}, "study.mean"),
        ({"covariances": [[1.0, 1.0, 1.0]]}, "positive definite"),
        ({"covariances": [[1.0, 0.0]]}, "three numbers"),
        ({"given": [1.0, 1.0]}, "repeats"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        GaussianPlane(**knobs)  # type: ignore[arg-type]


def test_the_books_two_gaussians(run: Run) -> None:
    found = run(GaussianPlane())
    law = multivariate_normal([2, 1], [[1, 0.8], [0.8, 1]])
    X = law.rvs(400_000, random_state=np.random.default_rng(1))
    near = X[np.abs(X[:, 0] - 3) < 0.05, 1]
    here = {"gaussian": 2, "given": 3.0}
    assert_allclose(found["conditional_mean"].sel(**here).item, near.mean(), atol=0.03)
    assert found["conditional_mean"].sel(gaussian=1).values.tolist() == [1, 1]
    density = found["density"].sel(gaussian=2)
    assert_allclose(density.values.max(), law.pdf([2, 1]), rtol=1e-12)
    x1, x2 = density.coord("x1")[7], density.coord("x2")[90]
    assert_allclose(density.sel(x1=x1, x2=x2).item, law.pdf([x1, x2]), rtol=1e-10)
