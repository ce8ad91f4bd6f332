"""One game's beliefs against loops that write the sums out, closed forms, and printed counts."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import diff_outcomes
from bythebook.experiments.studies.chains.casino_beliefs import CasinoBeliefs

Run = Callable[..., Any]
Rolls = tuple[list[int], list[int]]
PI = [0.5, 0.5]
A = [[0.95, 0.05], [0.10, 0.90]]
B = [[1 / 6] * 6, [0.1] * 5 + [0.5]]


def test_the_book_game_is_decoded_as_by_hand_and_as_printed(
    run: Run, by_hand: Callable[..., Any], book_rolls: Rolls
) -> None:
    dice, rolls = book_rolls
    filtered, smoothed, path, log_evidence = by_hand(rolls)
    outcome = run(CasinoBeliefs())
    assert_array_equal(outcome["rolls"].values, np.array(rolls) + 1)
    assert_array_equal(outcome["truly_loaded"].values, np.array(dice) == 1)
    assert_allclose(outcome["loaded"].sel(belief="filtered").values, filtered, rtol=1e-11)
    assert_allclose(outcome["loaded"].sel(belief="smoothed").values, smoothed, rtol=1e-10)
    assert_array_equal(outcome["path_loaded"].values, np.array(path) == 1)
    assert outcome["log_evidence"].item == pytest.approx(log_evidence, rel=1e-13)
    for name, errors in {"filtered": 71, "smoothed": 49, "viterbi": 60}.items():
        assert outcome["errors"].sel(estimate=name).item == errors


def test_games_may_be_cut_short_or_drawn_anew(run: Run, book_rolls: Rolls) -> None:
    short = run(CasinoBeliefs(length=40))
    assert_array_equal(short["rolls"].values, np.array(book_rolls[1][:40]) + 1)
    listing = run(CasinoBeliefs(game="listing", length=60, samples=100))
    assert not {"truly_loaded", "errors", "mode_errors"} & set(listing)
    drawn = [run(CasinoBeliefs(game="simulated", length=500), seed) for seed in (0, 0, 1)]
    assert len(drawn[0]["rolls"]) == 500
    assert not diff_outcomes(drawn[0], drawn[1])
    assert diff_outcomes(drawn[0], drawn[2])


@pytest.mark.parametrize(
    ("knobs", "named"),
    [
        ({"game": "listing", "length": 61}, "study.length=61"),
        ({"length": 301}, "study.length=301"),
        ({"game": "poker"}, "study.game"),
        ({"six": 1.5}, "study.six"),
        ({"switching": 11.0}, "study.switching"),
        ({"samples": 10}, "study.samples=10"),
        ({"ahead": -1}, "study.ahead"),
    ],
)
def test_knobs_have_bounds(knobs: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named.replace(".", r"\.")):
        CasinoBeliefs(**knobs)


def test_sampled_paths_have_the_posterior_of_all_paths(run: Run, book_rolls: Rolls) -> None:
    rolls = book_rolls[1][:6]
    weight = {}
    for z in itertools.product((0, 1), repeat=6):
        weight[z] = PI[z[0]] * math.prod(B[k][x] for k, x in zip(z, rolls, strict=True))
        weight[z] *= math.prod(A[i][j] for i, j in itertools.pairwise(z))
    total = sum(weight.values())
    switches = sum(w * sum(i != j for i, j in itertools.pairwise(z)) for z, w in weight.items())
    outcome = run(CasinoBeliefs(samples=20_000, length=6))
    assert outcome["expected_switches"].item == pytest.approx(switches / total, rel=1e-12)
    assert outcome["sampled_switches"].values.mean() == pytest.approx(switches / total, abs=0.02)
    smoothed = outcome["loaded"].sel(belief="smoothed").values
    for t in range(6):
        p = sum(w for z, w in weight.items() if z[t] == 1) / total
        assert smoothed[t] == pytest.approx(p, rel=1e-12)
    noise = 4.5 * 0.5 / np.sqrt(20_000)
    assert np.abs(outcome["sampled_share"].values - smoothed).max() < noise
    paths = outcome["sampled_paths"]
    assert paths.values.shape == (30, 6)
    assert outcome["mode_errors"].values.shape == (200,)
    one_by_one = sum(p * (1 - q) + q * (1 - p) for p, q in itertools.pairwise(smoothed))
    assert outcome["independent_switches"].item == pytest.approx(one_by_one, rel=1e-12)


def test_predictions_decay_as_the_second_eigenvalue(
    run: Run, by_hand: Callable[..., Any], book_rolls: Rolls
) -> None:
    outcome = run(CasinoBeliefs(length=20, ahead=3))
    belief = by_hand(book_rolls[1][:20])[0][-1]
    for start, p in (("rolls", belief), ("fair", 0.0), ("loaded", 1.0)):
        for h in range(4):
            loaded = 1 / 3 + (p - 1 / 3) * 0.85**h
            found = outcome["predicted_loaded"].sel(horizon=h, start=start).item
            assert found == pytest.approx(loaded, rel=1e-12, abs=1e-15)
            six = outcome["predicted_six"].sel(horizon=h, start=start).item
            assert six == pytest.approx(loaded / 2 + (1 - loaded) / 6, rel=1e-12)
    assert outcome["stationary_loaded"].item == pytest.approx(1 / 3, rel=1e-12)
