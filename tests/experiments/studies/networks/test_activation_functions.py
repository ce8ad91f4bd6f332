"""Study `activation_functions`: slopes against differences."""

from collections.abc import Callable

import numpy as np

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.networks.activation_functions import ActivationFunctions


def test_the_slopes_are_those_of_the_functions(run: Callable[..., Outcome]) -> None:
    found = run(ActivationFunctions(reach=1.0))
    step = 2.0 / 80
    differences = np.gradient(found["activation"].values, step, axis=1)[:, 1:-1]
    assert np.allclose(found["slope"].values[:, 1:-1], differences, atol=step**2)
