"""Study `sigmoid_integral`: settings and results."""

from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.sigmoid_integral import SigmoidIntegral

Run = Callable[..., Outcome]


def test_ways_and_contacts(run: Run) -> None:
    knobs = {"contacts": [0.0, 1.0], "samples": 3000, "repetitions": 4}
    found = run(SigmoidIntegral([0.0, 2.0], [1.0], **knobs))  # type: ignore[arg-type]
    assert_allclose(found["integral"].values[0], 0.5)
    assert_allclose(found["sampled"].values.mean(-1), found["integral"].values, atol=0.02)
    assert found["touching"].values.tolist() == [2]
    assert_allclose(found["bound"].values, found["bound_quadrature"].values, rtol=1e-8)
    assert np.ptp(found["error_printed"].values, axis=0).max() < 1e-12
    assert np.ptp(found["error_corrected"].values, axis=0).max() > 1
    wrong, right = np.abs(found["expansion_gap"].values).max(-1)
    assert right < 1e-12 < wrong
    assert "sampled" not in run(SigmoidIntegral())
