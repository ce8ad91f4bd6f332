"""The ratio of density and distribution function against SciPy."""

import numpy as np
import pytest
from scipy.stats import norm

from bythebook.models.probability.truncated_gaussian import hazard


def test_the_ratio_far_out():
    t = np.array([-50.0, -5.0, 0.0, 5.0, 60.0])
    with np.errstate(all="ignore"):
        expected = np.exp(norm.logpdf(t) - norm.logcdf(t))
    np.testing.assert_allclose(hazard(t), expected, rtol=1e-9, atol=1e-300)
    assert hazard(np.array(-1e5)) == pytest.approx(1e5, rel=1e-6)  # phi/Phi tends to -t
