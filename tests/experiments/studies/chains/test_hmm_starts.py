"""EM's starts against a naive evidence, exact zeros and counts."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import diff_outcomes
from bythebook.experiments.studies.chains.hmm_starts import HmmStarts
from bythebook.models.chains.casino import book_game
from bythebook.models.chains.named_starts import GAUSSIAN, ONCE
from bythebook.models.types import Floats

Run = Callable[..., Any]
SMALL: dict[str, Any] = {"chain": "lilypad", "length": 60, "restarts": 4, "max_iter": 200}


def naive_log_evidence(rolls: list[int], pi: Floats, A: Floats, B: Floats) -> float:
    total, belief = 0.0, pi
    for t, x in enumerate(rolls):
        joint = (belief if t == 0 else belief @ A) * B[:, x]
        total += math.log(joint.sum())
        belief = joint / joint.sum()
    return total


def test_starts_and_optima_on_the_book_game(run: Run) -> None:
    kinds = ["random", "truth", "labelled", "identical", "perturbed", "zeros"]
    outcome = run(HmmStarts(starts=kinds, restarts=12))
    final, first = outcome["final"], outcome["objective"].sel(curve=0, iteration=0)
    rolls = book_game().rolls.tolist()
    A = np.array([[0.95, 0.05], [0.10, 0.90]])
    B = np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]])
    truth = naive_log_evidence(rolls, np.array([0.5, 0.5]), A, B)
    assert first.sel(start="truth").item == pytest.approx(truth, rel=1e-13)
    ended = {kind: final.sel(start=kind, sequence=0).values for kind in kinds}
    assert ended["truth"] == pytest.approx(-504.814, abs=5e-4)  # the catalogue's
    counts = np.bincount(rolls)
    independent = float((counts * np.log(counts / 300)).sum())
    assert ended["identical"] == pytest.approx(independent, rel=1e-12)
    assert first.sel(start="identical").item == pytest.approx(independent, rel=1e-12)
    assert outcome["best"].sel(sequence=0).item == final.values.max()
    assert not outcome["grown_zeros"].values.any()
    assert outcome["smallest_gain"].values.min() > -1e-9
    distinct = np.sum(np.diff(np.sort(ended["random"])) > 0.05) + 1
    assert outcome["optima"].sel(start="random").item == distinct > 1
    for kind in ONCE:  # one run represents all restarts, and one curve is recorded
        assert np.ptp(ended[kind]) == 0
        assert outcome["optima"].sel(start=kind).item == 1
        assert np.isnan(outcome["objective"].sel(start=kind).values[1:]).all()


def test_curves_end_where_the_runs_do(run: Run) -> None:
    outcome = run(HmmStarts(length=60, restarts=3, max_iter=30))
    for r, curve in enumerate(outcome["objective"].sel(start="random").values[:3]):
        steps = outcome["iterations"].sel(start="random", sequence=0, restart=r).item
        assert curve[steps] == outcome["final"].sel(start="random", sequence=0, restart=r).item
        assert np.isnan(curve[steps + 1 :]).all()


@pytest.mark.parametrize("start", GAUSSIAN)
def test_every_gaussian_start_runs(run: Run, start: str) -> None:
    outcome = run(HmmStarts(**SMALL, starts=[start], regularised=True))
    assert np.isfinite(outcome["best"].values).all()
    assert outcome["smallest_gain"].values.min() > -1e-9
    assert not outcome["grown_zeros"].values.any()


def test_labels_and_clusters_find_the_optimum_of_separate_clusters(run: Run) -> None:
    kinds = ["labelled", "kmeans", "mixture", "truth"]
    outcome = run(HmmStarts(chain="three-regions", length=300, restarts=4, starts=kinds))
    gap = outcome["best"].values[:, None] - outcome["final"].values
    assert gap.min(axis=-1) == pytest.approx(0, abs=1e-3)  # the best of four
    for kind in ("labelled", "truth"):  # without chance
        assert gap[kinds.index(kind)] == pytest.approx(0, abs=1e-3)
    assert 0.8 < outcome["best_stay_probability"].item < 1


def test_data_sets_have_each_their_best(run: Run) -> None:
    outcome = run(HmmStarts(**SMALL, sequences=3, starts=["truth", "random"]))
    assert_array_equal(outcome["best"].values, outcome["final"].values.max(axis=(0, 2)))
    assert len(set(outcome["best"].values)) == 3


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"starts": ["kmeans"]}, "kmeans is not for casino-book"),
        ({"length": 301}, "one game of 300 rolls"),
        ({"sequences": 2}, "one game of 300 rolls"),
        ({"labels": 200, "length": 100}, "study.labels=200"),
        ({"starts": []}, "study.starts"),
        ({"tol": 0.0}, "study.tol"),
    ],
)
def test_starts_have_rules(knobs: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        HmmStarts(**knobs)


@pytest.mark.parametrize("knobs", [{"length": 60, "restarts": 3, "max_iter": 30}, SMALL])
def test_runs_repeat(run: Run, knobs: dict[str, Any]) -> None:
    study = HmmStarts(**knobs)
    assert not diff_outcomes(run(study), run(study))
