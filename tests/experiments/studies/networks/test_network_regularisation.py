"""Networks one by one against the batch, and the statements the texts make."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.networks.network_regularisation import NetworkRegularisation
from bythebook.models.datasets import load
from bythebook.models.networks.neural_network import fit_networks, per_layer, predict, random_start
from bythebook.models.types import Floats

TEN = NetworkRegularisation(
    data="curve-fitting", hidden=[2, 8], decays=[0.01, 0.0], starts=3, max_iter=60, validation=30
)


Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"data": "olympics-100m-men"}, "true curve is not known"),
        ({"repetitions": 2}, "is one data set"),
        ({"hidden": [0]}, "study.hidden"),
        ({"decays": [-1.0]}, "study.decays"),
        ({"rate": 0.0}, "study.rate"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        dataclasses.replace(TEN, **knobs)  # type: ignore[arg-type]


def excess(u: float, theta: Floats, sizes: tuple[int, ...]) -> float:
    """The squared error about the sine at one input."""
    y = predict(theta, sizes, np.array([[(u - 0.5) * np.sqrt(12)]]))
    return float((y[0, 0, 0] - np.sin(2 * np.pi * u)) ** 2)


@pytest.mark.parametrize("biases", [False, True])
def test_errors_of_networks_fitted_one_by_one(biases: bool, run: Run) -> None:
    found = run(dataclasses.replace(TEN, penalise_biases=biases))
    rng = make_rng(0)
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
            here = {"hidden": units, "decay": decay}
            assert_allclose(found["training_loss"].sel(**here), train, rtol=1e-4, atol=1e-12)
            assert_allclose(found["test_loss"].sel(**here), test, rtol=1e-3)


def test_decay_cures_what_hidden_units_do(run: Run) -> None:
    study = dataclasses.replace(TEN, hidden=[1, 3, 10], starts=8, max_iter=200, validation=200)
    found = run(study)
    assert found["chosen_decay"].item == 0.01
    training, test = (np.median(found[f"{k}_loss"], axis=-1) for k in ("training", "test"))
    assert training[-1, 0] < training[-1, 1]  # ten units without decay over-fit
    assert test[-1, 0] > test[-1, 1]
    assert test[0, 1] > test[:, 1].min()  # one unit under-fits


def test_early_stopping_finds_the_turn_of_the_validation_error(run: Run) -> None:
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
    found = run(study)
    assert found["largest_training_step"].values.max() <= 0
    path = found["training_path"]
    assert path.coord("shown_epoch")[[0, -1]].tolist() == [0, 3000]
    assert np.all(np.diff(np.median(path, axis=0)) < 0)
    last = found["descent_training_loss"].sel(moment="last")
    assert_allclose(last, path.values[:, -1], rtol=1e-12)
    stopped = found["stopping_epoch"].values
    assert np.all(stopped <= 3000)
    rms = np.sqrt(np.mean(found["descent_test_loss"].sel(moment="stopped")))
    assert rms <= 1.05 * np.sqrt(np.mean(found["descent_test_loss"].sel(moment="last")))
    assert_allclose(found["descent_training_loss"].sel(moment="start"), path.values[:, 0])
    size = found["descent_squared_weights"]
    small = run(dataclasses.replace(study, epochs=3, start_size=1e-3))
    assert_allclose(
        small["descent_squared_weights"].sel(moment="start"), 1e-6 * size.sel(moment="start").values
    )
    assert np.max(small["nonlinearity"].sel(moment="start")) < 1e-6  # tanh near the origin
    assert np.min(found["nonlinearity"].sel(moment="last")) > 0.1  # a sine is no line
    short = run(dataclasses.replace(study, epochs=3))
    shown = short["validation_path"]
    assert shown.coord("shown_epoch").tolist() == [0, 1, 2, 3]
    assert_array_equal(short["stopping_epoch"].values, shown.values.argmin(axis=-1))


def test_a_step_that_is_too_large_is_seen(run: Run) -> None:
    study = dataclasses.replace(TEN, starts=1, max_iter=2, epochs=3, rate=0.12)
    assert run(study)["largest_training_step"].values.max() > 0


def test_drawn_data_sets_have_networks_of_their_own(run: Run) -> None:
    study = NetworkRegularisation(hidden=[2], decays=[0.1], repetitions=3, starts=2, max_iter=20)
    found = run(study)
    assert found["inputs"].values.shape == (25,)
    assert found["test_loss"].values.shape == (1, 1, 6)
    assert np.all(np.isfinite(found["test_loss"]))
