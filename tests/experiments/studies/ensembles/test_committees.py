"""Committees against a plain loop over data sets and members."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.studies.ensembles.committees import Committees
from bythebook.models.types import Floats

SMALL = Committees(n=12, orders=[1, 4], members=[1, 6], repetitions=4, penalty=1e-4)
Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"penalty": 0.0}, "study.penalty"),
        ({"members": [0]}, "study.members"),
        ({"orders": []}, "study.orders"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        dataclasses.replace(SMALL, **knobs)  # type: ignore[arg-type]


def test_bagging_by_a_loop_over_members(run: Run) -> None:
    found = run(SMALL)
    rng = make_rng(0)
    x = np.sort(rng.uniform(0, 1, (4, 12)), axis=-1)
    t = np.sin(2 * np.pi * x) + 0.3 * rng.standard_normal((4, 12))
    own = 20 * 6
    x_own = np.sort(rng.uniform(0, 1, (own, 12)), axis=-1)
    t_own = np.sin(2 * np.pi * x_own) + 0.3 * rng.standard_normal((own, 12))
    grid = np.linspace(0, 1, 101)
    h = np.sin(2 * np.pi * grid)

    def fit(x: Floats, t: Floats, order: int) -> Floats:
        Phi = np.vander(x, order + 1, increasing=True)
        w = np.linalg.solve(Phi.T @ Phi + 1e-4 * np.eye(order + 1), Phi.T @ t)
        return np.asarray(np.vander(grid, order + 1, increasing=True) @ w)

    for order in (1, 4):
        index = rng.integers(12, size=(4, 6, 12))
        for data in range(4):
            y = [fit(x[data][rows], t[data][rows], order) for rows in index[data]]
            expected = {
                "average": np.mean([np.mean((one - h) ** 2) for one in y]),
                "committee": np.mean((np.mean(y, axis=0) - h) ** 2),
            }
            for name, value in expected.items():
                here = found[f"{name}_error"].sel(order=order, members=6, repetition=data)
                assert_allclose(here, value, rtol=1e-6)
            single = np.mean((fit(x[data], t[data], order) - h) ** 2)
            assert_allclose(
                found["single_error"].sel(order=order, repetition=data), single, rtol=1e-6
            )
        y = [fit(x_own[m], t_own[m], order) for m in range(6, 12)]  # the second group
        independent = np.mean((np.mean(y, axis=0) - h) ** 2)
        here = found["independent_error"].sel(order=order, members=6, group=1)
        assert_allclose(here, independent, rtol=1e-6)


def test_members_with_data_of_their_own_gain_more(run: Run) -> None:
    found = run(Committees(orders=[1, 5], members=[1, 50], repetitions=20))
    own, bootstrap = (
        np.median(found[f"{name}_error"].sel(members=50), axis=-1)
        for name in ("independent", "committee")
    )
    assert own[1] < bootstrap[1]
    assert own[1] < own[0]
    flat = Committees(orders=[0], members=[50], repetitions=5)
    rigid = run(flat)["independent_error"]
    assert np.median(rigid) == pytest.approx(0.5, abs=0.03)  # the sine's power
