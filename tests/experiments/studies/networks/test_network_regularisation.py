"""Networks one by one against the batch, and the statements the texts make."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.networks.network_regularisation import NetworkRegularisation
from models.datasets import load
from models.networks.neural_network import fit_networks, per_layer, predict, random_start
from models.types import Floats

TEN = NetworkRegularisation(
    data="curve-fitting", hidden=[2, 8], decays=[0.01, 0.0], starts=3, max_iter=60, validation=30
)


def run(study: NetworkRegularisation) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "olympics-100m-men"}, "true curve is not known"),
        ({"repetitions": 2}, "is one data set"),
        ({"hidden": [0]}, "study.hidden"),
        ({"decays": [-1.0]}, "study.decays"),
        ({"rate": 0.0}, "study.rate"),
        ({"low": 2.0}, "low < high"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        dataclasses.replace(TEN, **knobs)  # type: ignore[arg-type]


def excess(u: float, theta: Floats, sizes: tuple[int, ...]) -> float:
    """The squared error about the sine at one input."""
    y = predict(theta, sizes, np.array([[(u - 0.5) * np.sqrt(12)]]))
    return float((y[0, 0, 0] - np.sin(2 * np.pi * u)) ** 2)


@pytest.mark.parametrize("biases", [False, True])
def test_errors_of_networks_fitted_one_by_one(biases: bool) -> None:
    found = run(dataclasses.replace(TEN, penalise_biases=biases)).metrics
    rng = generator(TEN.name, 0)
    rng.uniform(size=30)
    rng.standard_normal(30)  # the validation set comes first
    x, t = load("curve-fitting").xt
    column = (x - 0.5)[:, None] * np.sqrt(12)
    for units in (2, 8):
        sizes = (1, units, 1)
        start = random_start(sizes, 3, rng)
        for decay in (0.0, 0.01):
            penalty = per_layer(sizes, decay, decay if biases else 0.0)
            train, test = [], []
            for one in start:
                theta = fit_networks(one[None], sizes, column, t, decay=penalty, max_iter=60).theta
                train.append(np.mean((predict(theta, sizes, column)[0, :, 0] - t) ** 2))

                test.append(integrate.quad(excess, 0, 1, (theta, sizes), limit=200)[0] + 0.09)
            name = f"rms_hidden_{units}_decay_{decay:g}"
            assert_allclose(found[f"train_{name}"], np.sqrt(np.median(train)), rtol=1e-5, atol=1e-7)
            assert_allclose(found[f"test_{name}"], np.sqrt(np.median(test)), rtol=1e-4)


def test_decay_cures_what_hidden_units_do() -> None:
    study = dataclasses.replace(TEN, hidden=[1, 3, 10], starts=8, max_iter=200, validation=200)
    outcome = run(study)
    found = outcome.metrics
    assert found["largest_network_overfits"] is True
    assert found["smallest_network_underfits"] is True
    assert found["decay_helps_largest_network"] is True
    assert found["decay_is_a_gaussian_prior"] is True
    assert found["chosen_decay"] == 0.01
    assert list(study.draw(outcome)) == ["hidden", "fits"]


def test_early_stopping_finds_the_turn_of_the_validation_error() -> None:
    study = NetworkRegularisation(
        data="curve-fitting",
        hidden=[10],
        decays=[0.0],
        starts=6,
        max_iter=5,
        validation=200,
        epochs=3000,
        descent_hidden=10,
        rate=0.02,
    )
    outcome = run(study)
    found = outcome.metrics
    assert found["training_never_rises"] is True
    table = outcome.tables["epochs"]
    assert table["epoch"][0] == 0
    assert table["epoch"][-1] == 3000
    assert np.all(np.diff(table["training_median"]) < 0)
    assert float(found["stopped_test_rms"]) <= float(found["final_test_rms"]) * 1.05
    assert list(study.draw(outcome)) == ["epochs"]
    short = run(dataclasses.replace(study, epochs=3)).metrics
    assert short["mean_validation_turns"] is False  # after three epochs nothing has turned
    assert short["stopping_early_helps"] is False


def test_a_step_that_is_too_large_is_seen() -> None:
    study = dataclasses.replace(TEN, starts=1, max_iter=2, epochs=3, rate=0.12)
    assert run(study).metrics["training_never_rises"] is False


def test_drawn_data_sets_have_networks_of_their_own() -> None:
    study = NetworkRegularisation(hidden=[2], decays=[0.1], repetitions=3, starts=2, max_iter=20)
    outcome = run(study)
    assert outcome.arrays["x"].shape == (25,)
    assert np.isfinite(float(outcome.metrics["test_rms_hidden_2_decay_0.1"]))
