"""Study `alpha_divergence`: settings and results."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.alpha_divergence import AlphaDivergence

Run = Callable[..., Outcome]


def test_limits_are_no_members() -> None:
    with pytest.raises(InputError, match="limits"):
        AlphaDivergence(alphas=[0.0, 1.0])


def test_supports_and_triangles(run: Run) -> None:
    found = run(AlphaDivergence(alphas=[-3.0, 0.0, 3.0], pairs=5, blocks=8))
    assert np.isfinite(found["divergence"].values).all()
    assert found["triangle_slack"].values.min() > 0
    assert found["held_states"].values.tolist() == [8] * 8
    assert (found["avoiding_states"].values == 11).all()
    assert (found["forced_states"].values <= 4).all()
    assert ((found["forced_block_mass"].values > 0) & (found["forced_block_mass"].values < 1)).all()
