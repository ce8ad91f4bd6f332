"""Study `alpha_divergence`: supports of the best q."""

from collections.abc import Callable

import numpy as np

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.alpha_divergence import AlphaDivergence

Run = Callable[..., Outcome]


def test_supports(run: Run) -> None:
    found = run(AlphaDivergence(alphas=[-3.0, -1.0, 1.0, 3.0], pairs=5, repetitions=8))
    assert np.isfinite(found["divergence"].values).all()
    assert found["support"].values.tolist() == [8] * 8
    covered = found["covered"].values
    assert (covered[2:] == 11).all()
    assert (covered[:2] <= 4).all()
    p, q, mass = (found[name].values for name in ("first_p", "first_q", "block_mass"))
    inside = [p[:4].sum() if row[:4].any() else p[7:].sum() for row in q[:2]]
    assert np.allclose(mass[:2, 0], inside)
    assert np.allclose(found["missed"].values[:, 0], [p[row == 0].sum() for row in q])
