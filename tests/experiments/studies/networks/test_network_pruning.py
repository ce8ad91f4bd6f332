"""Pruning: connections counted by hand, and a network that no penalty of this size prunes."""

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.execution.worker import single_threaded
from bythebook.experiments.figures.networks.network_pruning import draw
from bythebook.experiments.studies.networks.network_pruning import NetworkPruning
from bythebook.models.networks.neural_network import error_and_gradient, fit_network, predict
from bythebook.models.regression.random_curves import random_curves

SMALL = NetworkPruning(
    hidden=[3, 2], penalties=[1.0, 0.01, 100.0], n=20, repetitions=2, max_iter=80, rounds=2
)


Run = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def single_thread() -> Iterator[None]:
    """As in a run: many small products are slower by far on threads that wait for each other."""
    with single_threaded():
        yield


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"hidden": []}, "is empty"),
        ({"penalties": [0.0]}, "study.penalties"),
        ({"rounds": 0}, "study.rounds"),
        ({"threshold": -1.0}, "study.threshold"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        dataclasses.replace(SMALL, **knobs)  # type: ignore[arg-type]


def test_the_fits_one_by_one(run: Run) -> None:
    found = run(SMALL)
    rng, sizes = make_rng(0), (1, 3, 2, 1)
    data = random_curves(2, 20, rng)
    start = rng.standard_normal((2, 17))
    for penalty in (0.01, 1.0):
        left, misfit = [], []
        for s in range(2):
            x, t, theta = data.x[s][:, None], data.t[s][:, None], start[s : s + 1]
            for _ in range(2):
                theta = fit_network(theta, sizes, x, t, decay=1e-3, l1=penalty, max_iter=80).theta
            left.append(np.count_nonzero(np.abs(theta) > 1e-4))
            misfit.append(np.std(predict(theta, sizes, x)[0] - t) / np.std(t))
            if penalty == 1.0 and s == 0:
                assert_allclose(found["weight"], theta[0], rtol=1e-9, atol=1e-12)
        assert found["connections"].sel(penalty=penalty).values.tolist() == left
        assert_allclose(found["misfit"].sel(penalty=penalty), misfit, rtol=1e-9)
    assert found["connections_at_start"].item == 17
    connections = found["connections"].values.mean(axis=1)
    assert np.all(np.diff(connections) < 0)
    assert connections[-1] <= 1  # at most the mean of the data is left


def test_restarts_go_on_from_where_the_last_stopped(run: Run) -> None:
    """The penalised error after more rounds is no larger."""

    def objective(study: NetworkPruning) -> float:
        found = run(study)
        x, t, theta = (found[name].values for name in ("inputs", "targets", "weight"))
        error, _ = error_and_gradient(theta, (1, 3, 2, 1), x[:, None], t[:, None])
        return float(error + 0.5e-3 * (theta**2).sum() + np.abs(theta).sum())

    once = dataclasses.replace(SMALL, repetitions=1, rounds=1, max_iter=40)
    assert objective(dataclasses.replace(once, rounds=5)) < objective(once)


def test_the_figure_draws_the_connections_that_are_left(run: Run) -> None:
    found = run(dataclasses.replace(SMALL, repetitions=1))
    left = np.count_nonzero(np.abs(found["weight"]) > 1e-4)
    axes = dict(draw(SMALL, found))["network"].axes[0]
    edges = [
        line for line in axes.lines if np.size(line.get_xdata()) == 2 and line.get_zorder() == 1
    ]
    assert len(edges) == left
