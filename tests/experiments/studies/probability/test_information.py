"""Study `information`: settings and results."""

from collections.abc import Callable

import numpy as np

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.probability.information import Information


def test_bounds_that_hold_in_every_draw(run: Callable[..., Outcome]) -> None:
    found = run(Information(draws=10, new=50, training=[5, 500], deviations=[1.0, 2.0]))
    assert (found["huffman_bits"].values >= found["entropy_bits"].values - 1e-12).all()
    assert (found["arithmetic_excess"].values > -1e-3).all()
    assert found["sampled_sum"].values.shape == (2, 10)
    wider = np.diff(found["density_entropy"].values, axis=1)
    assert np.allclose(wider, np.log(2))
