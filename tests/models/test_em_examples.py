"""The six examples: as many objectives as restarts, from different starts to higher values."""

import numpy as np
import pytest

from models.em_examples import EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_objectives_of_every_restart(name):
    objective = EXAMPLES[name](3, 5, np.random.default_rng(1))
    assert objective.shape == (3, 6)
    assert len(np.unique(objective[:, 0])) == 3
    assert (objective[:, -1] > objective[:, 0]).all()
