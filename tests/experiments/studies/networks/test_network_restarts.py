"""Study `network_restarts`: averages of weights and of outputs."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.networks.network_restarts import NetworkRestarts


def test_the_losses_are_those_of_the_drawn_curves(run: Callable[..., Outcome]) -> None:
    found = run(NetworkRestarts(hidden=2, points=10, repetitions=2, restarts=4))
    truth = np.sin(np.pi * found["fit"].coord("x"))
    curves = {"averaged_outputs_loss": found["fit"].values.mean(0)}
    curves["averaged_weights_loss"] = found["of_mean_weights"].values
    for name, curve in curves.items():
        assert found[name].values[0] == pytest.approx(((curve - truth) ** 2).mean())
    assert (found["error_spread"].values >= 0).all()
