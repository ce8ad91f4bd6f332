"""Densities that are hard to sample: knob rules, and acceptance rates against quadrature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.sampling.hard_densities import HardDensities


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"modes": [[0.0, 0.0]]}, "two points"),
        ({"modes": [[0.0, 0.0], [1.0]]}, "two points"),
        ({"correlation": 1.0}, "study.correlation"),
        ({"spread": 0.0}, "study.spread"),
        ({"samples": 100_000, "chains": 500}, "allowed: <= 5000000"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        HardDensities(**knobs)  # type: ignore[arg-type]


def test_acceptance_is_the_average_ratio() -> None:
    """Of a stationary chain: E{min(1, p(w + e) / p(w))}, here by plain Monte Carlo."""
    study = HardDensities(step_sds=[0.3, 1.0], samples=2000, chains=40, correlation=0.9)
    outcome = study.run(generator(study.name, 0))
    rng = np.random.default_rng(1)
    precision = np.linalg.inv([[1.0, 0.9], [0.9, 1.0]])
    w = rng.multivariate_normal([0, 0], [[1.0, 0.9], [0.9, 1.0]], 200_000)
    for step in (0.3, 1.0):
        moved = w + step * rng.standard_normal(w.shape)
        change = ((w @ precision) * w).sum(-1) - ((moved @ precision) * moved).sum(-1)
        expected = np.exp(np.minimum(change / 2, 0)).mean()
        found = outcome.metrics[f"correlated_acceptance_step_{step:g}"]
        assert_allclose(found, expected, atol=0.01)
    assert outcome.metrics["correlation_costs_acceptance_at_every_step"] is True
    with style("screen"):
        assert list(study.draw(outcome)) == ["densities"]


def test_modes_that_are_close_are_both_found() -> None:
    near = HardDensities(
        modes=[[0.0, 0.0], [1.0, 0.0]], spread=0.5, step_sds=[0.5], samples=500, chains=5
    )
    far = HardDensities(modes=[[0.0, 0.0], [9.0, 0.0]], step_sds=[0.5], samples=500, chains=5)
    found = near.run(generator(near.name, 0)).metrics
    assert found["finds_other_mode_step_0.5"] == 1
    assert found["switches_step_0.5"] > 10
    assert far.run(generator(far.name, 0)).metrics["finds_other_mode_step_0.5"] == 0
