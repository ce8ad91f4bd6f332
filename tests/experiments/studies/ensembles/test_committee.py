"""Committees against a plain loop over data sets and members, and against arithmetic."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, generator
from experiments.studies import committee
from experiments.studies.ensembles.committee import Bagging, CommitteeError
from models.types import Floats

SMALL = Bagging(n=12, orders=[1, 4], members=[1, 6], repetitions=4, penalty=1e-4)


def run(study: Study) -> Outcome:
    return study.run(generator(study.name, 0))


@pytest.mark.parametrize(
    ("study", "knobs", "complaint"),
    [
        (SMALL, {"penalty": 0.0}, "study.penalty"),
        (SMALL, {"members": [0]}, "study.members"),
        (SMALL, {"orders": []}, "is empty"),
        (SMALL, {"high": 0.0}, "low < high"),
        (CommitteeError(), {"members": [100], "points": 100}, "< study.points=100"),
        (CommitteeError(), {"correlations": [1.5]}, "study.correlations"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(
    study: Study, knobs: dict[str, object], complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint):
        dataclasses.replace(study, **knobs)


def test_bagging_by_a_loop_over_members() -> None:
    found = run(SMALL)
    rng = generator(SMALL.name, 0)
    x = np.sort(rng.uniform(0, 1, (4, 12)), axis=-1)
    t = np.sin(2 * np.pi * x) + 0.3 * rng.standard_normal((4, 12))
    own = 20 * 6
    rng.uniform(size=(own, 12))
    rng.standard_normal((own, 12))
    grid = np.linspace(0, 1, 101)
    h = np.sin(2 * np.pi * grid)

    def fit(x: Floats, t: Floats, order: int) -> Floats:
        Phi = np.vander(x, order + 1, increasing=True)
        w = np.linalg.solve(Phi.T @ Phi + 1e-4 * np.eye(order + 1), Phi.T @ t)
        return np.asarray(np.vander(grid, order + 1, increasing=True) @ w)

    for order in (1, 4):
        index = rng.integers(12, size=(4, 6, 12))
        average, together, single = [], [], []
        for data in range(4):
            y = [fit(x[data][rows], t[data][rows], order) for rows in index[data]]
            average.append(np.mean([np.mean((one - h) ** 2) for one in y]))
            together.append(np.mean((np.mean(y, axis=0) - h) ** 2))
            single.append(np.mean((fit(x[data], t[data], order) - h) ** 2))
        metrics = found.metrics
        assert_allclose(metrics[f"average_order_{order}"], np.median(average), rtol=1e-6)
        assert_allclose(metrics[f"committee_order_{order}"], np.median(together), rtol=1e-6)
        assert_allclose(metrics[f"single_order_{order}"], np.median(single), rtol=1e-6)
        gain = np.median(np.array(average) / together)
        assert_allclose(metrics[f"gain_order_{order}"], gain, rtol=1e-6)
        ratio = np.median(np.array(together) / average)
        assert_allclose(metrics[f"correlation_order_{order}"], (6 * ratio - 1) / 5, rtol=1e-6)
    assert metrics["committee_never_worse"] is True


def test_members_with_data_of_their_own_gain_more() -> None:
    found = run(Bagging(orders=[1, 5], members=[1, 50], repetitions=20)).metrics
    assert float(found["independent_order_5"]) < float(found["committee_order_5"])
    assert found["flexible_independent_committee_beats_rigid"] is True
    rigid = run(Bagging(orders=[5, 0], members=[50], repetitions=5)).metrics
    assert float(rigid["independent_order_0"]) == pytest.approx(0.5, abs=0.03)  # the sine's power


def test_ratios_are_those_of_the_formula() -> None:
    study = CommitteeError(members=[10, 1], correlations=[0.0, 0.5], points=40_000)
    outcome = run(study)
    found = outcome.metrics
    assert_allclose(found["gain_10_members_correlation_0"], 10, rtol=0.05)
    assert_allclose(found["gain_10_members_correlation_0.5"], 1 / 0.55, rtol=0.05)
    assert_allclose(found["gain_1_members_correlation_0"], 1, rtol=1e-12)
    assert outcome.series["ratio_correlation_0.5"].steps == [1, 10]
    for name in (
        "division_by_members_holds",
        "never_worse_any_convex",
        "simulation_agrees",
        "convex_weights_stay_inside",
        "weights_stay_inside_only_if_convex",
    ):
        assert found[name] is True, name
    assert found["never_worse_root"] is False  # a loss that is not convex: the theorem needs it


def test_what_the_checks_would_catch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A committee that is not the mean, and a loss that is not convex, must not pass."""
    study = CommitteeError(members=[3], correlations=[0.0], points=5000)
    monkeypatch.setitem(committee._LOSSES, "root", lambda e: np.sqrt(np.abs(e)))
    assert run(study).metrics["never_worse_any_convex"] is False
    weights = np.array([[0.5, 0.6], [1.5, -0.5], [0.5, 0.5]])
    inside = committee._between(weights, np.array([[1.0, 1.0], [0.0, 1.0], [3.0, 4.0]]))
    assert inside.tolist() == [False, False, True]
