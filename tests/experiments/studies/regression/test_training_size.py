"""The batch over repetitions against a plain loop."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.regression.training_size import TrainingSize


def run(study: TrainingSize) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize("design", ["grid", "uniform"])
def test_medians_are_those_of_a_plain_loop(design: str) -> None:
    study = TrainingSize(order=4, sizes=[30, 8], show=[8], repetitions=7, design=design)
    outcome = run(study)
    rng, u = generator(study.name, 0), np.linspace(0, 1, 100_001)
    for row, n in enumerate([8, 30]):
        x, t = study.sample(rng, 7, n)
        rms = []
        for r in range(7):
            fit = Polynomial.fit(x[r], t[r], 4)
            loss = np.trapezoid((fit(u) - np.sin(2 * np.pi * u)) ** 2, u) + 0.09
            rms.append([np.sqrt(np.mean((t[r] - fit(x[r])) ** 2)), np.sqrt(loss)])
        training, test = np.median(rms, axis=0)
        assert_allclose(outcome.tables["sizes"]["training_rms"][row], training, rtol=1e-8)
        assert_allclose(outcome.metrics[f"test_rms_n_{n}"], test, rtol=1e-6)


def test_random_inputs_make_few_points_much_worse() -> None:
    """Ten equally spaced points give 0.67 or so, ten random ones are at the mercy of the gaps."""
    grid, uniform = (
        run(TrainingSize(sizes=[10, 100], show=[10], design=d)).metrics["test_rms_n_10"]
        for d in ("grid", "uniform")
    )
    assert 0.6 < grid < 0.75
    assert uniform > 50


def test_figures_are_drawn() -> None:
    study = TrainingSize(sizes=[10, 20, 40], show=[10, 40], repetitions=5)
    with style("screen"):
        assert list(study.draw(run(study))) == ["error", "fits"]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"sizes": [9, 20], "show": [20]}, "order 9 needs 10 points"),
        ({"sizes": []}, "is empty"),
        ({"show": [11]}, "study.show"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        TrainingSize(**knobs)  # type: ignore[arg-type]
