"""Simulated games against the sum over all games, closed forms and the model's own numbers."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.chains import casino_games
from bythebook.experiments.studies.chains.casino_games import CasinoGames

Run = Callable[..., Any]


def test_mean_errors_are_those_of_all_games(run: Run, by_hand: Callable[..., Any]) -> None:
    expected = dict.fromkeys(("filtered", "smoothed", "viterbi"), 0.0)
    for rolls in itertools.product(range(6), repeat=4):
        filtered, smoothed, path, log_evidence = by_hand(list(rolls))
        # p(loaded | all rolls) is an estimate's chance of being wrong, or right
        for name, loaded in (("filtered", filtered), ("smoothed", smoothed), ("viterbi", path)):
            wrong = sum(1 - p if z > 0.5 else p for z, p in zip(loaded, smoothed, strict=True))
            expected[name] += math.exp(log_evidence) * wrong
    outcome = run(CasinoGames(games=20_000, length=4))
    for name, mean in expected.items():
        errors = outcome["errors"].sel(estimate=name).values
        assert abs(errors.mean() - mean) < 4.5 * errors.std() / np.sqrt(errors.size)


def test_errors_without_memory_have_closed_forms(run: Run) -> None:
    outcome = run(CasinoGames(games=3000, length=300, lags=[300, 1]))
    loaded = 1 / 3 + (0.5 - 1 / 3) * 0.85 ** np.arange(300)
    expected = {"always_fair": loaded.sum(), "memoryless": (loaded / 2 + (1 - loaded) / 6).sum()}
    for name, mean in expected.items():
        errors = outcome["errors"].sel(estimate=name).values
        assert abs(errors.mean() - mean) < 4.5 * errors.std() / np.sqrt(errors.size)
    filtered, smoothed = (
        outcome["errors"].sel(estimate=name).values for name in ("filtered", "smoothed")
    )
    one, whole = outcome["lagged_errors"].values
    assert_array_equal(whole, smoothed)
    assert smoothed.mean() < one.mean() < filtered.mean()
    printed = [outcome["book_errors"].sel(estimate=e).item for e in ("filtered", "smoothed")]
    assert printed == [71, 49]


def test_a_die_that_is_not_loaded_cannot_be_found_out(run: Run) -> None:
    outcome = run(CasinoGames(games=50, length=30, six=1 / 6, lags=[2]))
    filtered, smoothed = (
        outcome["errors"].sel(estimate=name).values for name in ("filtered", "smoothed")
    )
    assert filtered.mean() == smoothed.mean() == outcome["lagged_errors"].values.mean()
    loaded = 1 / 3 + (0.5 - 1 / 3) * 0.85 ** np.arange(30)  # all that is ever known
    bits = -np.mean(loaded * np.log2(loaded) + (1 - loaded) * np.log2(1 - loaded))
    assert_allclose(outcome["uncertainty"], np.full((2, 50), bits), rtol=1e-12)


def test_games_have_the_runs_and_faces_of_the_model(run: Run) -> None:
    outcome = run(CasinoGames(games=500, switching=2.0, six=0.7))
    assert_allclose(outcome["mean_run"].values, [10, 5], rtol=0.05)
    faces = outcome["face_counts"].sel(die="loaded").values
    assert faces[5] / faces.sum() == pytest.approx(0.7, abs=0.02)
    assert outcome["face_counts"].values.sum() == 500 * 300
    never = run(CasinoGames(games=500, six=0.0))
    assert never["face_counts"].sel(die="loaded", face=6).item == 0


def test_games_are_counted_roll_by_roll_across_chunks(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(casino_games, "CHUNK", 7)
    seen = []
    simulate = casino_games.casino.simulate

    def keep(*options: Any) -> Any:
        seen.append(simulate(*options))
        return seen[-1]

    monkeypatch.setattr(casino_games.casino, "simulate", keep)
    outcome = run(CasinoGames(games=20, length=30))
    assert len(seen) == 3
    assert outcome["errors"].values.shape == (5, 20)
    games = [zip(*rows, strict=True) for part in seen for rows in zip(*part, strict=True)]
    rolls = [list(game) for game in games]
    for k, die in enumerate(("fair", "loaded")):
        faces = np.bincount([x for game in rolls for z, x in game if z == k], minlength=6)
        assert_array_equal(outcome["face_counts"].sel(die=die).values, faces)
        pairs = [(a[0], b[0]) for game in rolls for a, b in itertools.pairwise(game) if a[0] == k]
        run_length = len(pairs) / sum(a != b for a, b in pairs)
        assert outcome["mean_run"].sel(die=die).item == pytest.approx(run_length, rel=1e-12)


@pytest.mark.parametrize(
    ("knobs", "named"),
    [
        ({"six": 1.5}, "study.six"),
        ({"switching": 11.0}, "study.switching"),
        ({"lags": [3, 3]}, "study.lags"),
        ({"lags": [0]}, "study.lags"),
        ({"games": 1}, "study.games"),
    ],
)
def test_knobs_have_bounds(knobs: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named.replace(".", r"\.")):
        CasinoGames(**knobs)
