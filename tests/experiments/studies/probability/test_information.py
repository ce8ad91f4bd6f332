"""Study `information`: codes by hand, and bounds that hold in every draw."""

from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import entropy

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.probability.information import Information


def test_bounds_that_hold_in_every_draw(run: Callable[..., Outcome]) -> None:
    found = run(Information(repetitions=10, new=50, training=[500, 5]))
    p = make_rng(0).dirichlet(np.ones(4), 10)
    assert_allclose(found["entropy_bits"], entropy(p, base=2, axis=1))
    assert (found["huffman_bits"].values >= found["entropy_bits"].values - 1e-12).all()
    assert_allclose(found["huffman_bits"].sel(block=1), found["best_code_bits"])
    assert found["model_divergence"].coord("training").tolist() == [5, 500]
    # On average, 50 symbols need 50 times entropy plus divergence, and at most two bits more.
    cost = 50 * (found["entropy_bits"].values + found["model_divergence"].values)
    excess = found["sent_bits"].values - cost
    assert abs(excess.mean()) < 10
    assert np.ptp(excess) > 0
