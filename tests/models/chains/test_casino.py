"""Printed values: MLAPP 17.4.1. Others: the catalogue's own recomputation, or closed forms."""

import numpy as np
import pytest

from bythebook.models.chains import baum_welch as bw
from bythebook.models.chains import baum_welch_starts as starts
from bythebook.models.chains import hmm, hmm_recursions
from bythebook.models.chains.casino import (
    LOADED,
    SIX,
    Errors,
    Game,
    all_errors,
    book_game,
    casino,
    count_errors,
    decode,
    entropy,
    error_counts,
    lagged_errors,
    listing_rolls,
    memoryless,
    simulate,
    tally,
)
from bythebook.models.compiled import threads


@pytest.fixture(scope="module")
def many() -> Errors:
    model = casino()
    game = simulate(model, 2000, 300, np.random.default_rng(0))
    return error_counts(model, game, decode(model, game.rolls))


def test_the_book_game_makes_the_printed_errors() -> None:
    game, model = book_game(), casino()
    errors = error_counts(model, game, decode(model, game.rolls))
    assert (errors.filtered, errors.smoothed, errors.viterbi) == (71, 49, 60)  # printed
    assert (errors.memoryless, errors.always_fair) == (91, 122)
    assert "".join(str(face + 1) for face in game.rolls[:18]) == "565413324266212352"
    assert (game.rolls == SIX).sum() == 95
    assert (np.diff(game.dice) != 0).sum() == 21
    assert np.flatnonzero(game.dice == LOADED)[0] == 21


def test_evidence_of_the_book_game() -> None:
    log_evidence = decode(casino(), book_game().rolls).log_evidence
    np.testing.assert_allclose(log_evidence, -513.2868126753885, rtol=1e-14)


def test_listing() -> None:
    rolls = listing_rolls()
    assert (len(rolls), (rolls == SIX).sum()) == (60, 14)  # printed
    decoded = decode(casino(), rolls)
    np.testing.assert_allclose(decoded.log_evidence, -106.93892146, rtol=0, atol=5e-9)
    np.testing.assert_allclose(decoded.filtered[-1], 0.57474108, rtol=0, atol=5e-9)
    np.testing.assert_allclose(decoded.smoothed[0], 0.71787955, rtol=0, atol=5e-9)
    assert (decoded.filtered > 0.5).sum() == 11
    np.testing.assert_array_equal(
        np.flatnonzero(decoded.smoothed > 0.5) + 1, [1, 2, *range(54, 61)]
    )
    assert not decoded.viterbi.any()


def test_mean_errors_lie_where_twenty_thousand_games_put_them(many: Errors) -> None:
    means = Errors(67.91, 54.43, 61.90, 83.74, 101.27)  # of the catalogue
    for errors, expected in zip(many, means, strict=True):
        standard_error = errors.std() / np.sqrt(len(errors))
        assert abs(errors.mean() - expected) < 4.5 * standard_error


def test_order_of_the_estimates_on_average(many: Errors) -> None:
    means = [errors.mean() for errors in many]
    filtered, smoothed, viterbi, memoryless, always_fair = means
    assert smoothed < viterbi < filtered < memoryless < always_fair


def test_errors_fall_with_the_lag() -> None:
    model = casino()
    game = simulate(model, 500, 300, np.random.default_rng(1))
    log_lik = hmm.categorical_log_likelihood(model.B, game.rolls)
    forward = hmm.forward_filter(model.pi, model.A, log_lik)

    def mean_errors(lag: int) -> float:
        lagged = hmm.fixed_lag_smoother(model.A, log_lik, forward, lag)
        return float(count_errors(lagged[..., LOADED], game.dice).mean())

    errors = [mean_errors(lag) for lag in (0, 1, 2, 5, 300)]
    assert errors == sorted(errors, reverse=True)
    decoded = decode(model, game.rolls)
    assert errors[0] == count_errors(decoded.filtered, game.dice).mean()
    assert errors[-1] == count_errors(decoded.smoothed, game.dice).mean()


def test_blocks_of_games_are_decoded_as_if_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    model = casino()
    rolls = simulate(model, 6, 50, np.random.default_rng(5)).rolls.reshape(2, 3, 50)
    monkeypatch.setattr(hmm_recursions, "BLOCK", 100)  # two games
    for limit in (1, 2):
        with threads(limit):
            decoded = decode(model, rolls)
        for game in np.ndindex(2, 3):
            for field, expected in zip(decoded, decode(model, rolls[game]), strict=True):
                np.testing.assert_array_equal(field[game], expected)


def test_prediction_tends_to_the_stationary_distribution() -> None:
    model = casino()
    for horizon in (1, 5, 50):  # the second eigenvalue of A is 0.95 + 0.90 - 1
        loaded = hmm.predict_states(np.array([0.0, 1.0]), model.A, horizon)[LOADED]
        np.testing.assert_allclose(loaded, 1 / 3 + 2 / 3 * 0.85**horizon, rtol=1e-12)
    six = hmm.predict_symbols(np.array([0.0, 1.0]), model.A, model.B, 200)[SIX]
    np.testing.assert_allclose(six, 2 / 3 / 6 + 1 / 3 / 2, rtol=1e-12)


def test_knobs() -> None:
    model = casino(six=0.9, switching=0.25)
    for rows in (model.pi, model.A, model.B):
        np.testing.assert_allclose(rows.sum(axis=-1), 1.0, rtol=1e-15)
    assert (model.B[LOADED, SIX], model.A[0, 1], model.A[1, 0]) == (0.9, 0.0125, 0.025)


def test_simulation_is_a_function_of_the_generator() -> None:
    first, again = (simulate(casino(), 3, 50, np.random.default_rng(2)) for _ in range(2))
    np.testing.assert_array_equal(first.rolls, again.rolls)
    np.testing.assert_array_equal(first.dice, again.dice)
    assert first.rolls.shape == (3, 50)


def test_labels_of_long_games_recover_the_casino() -> None:
    """MLAPP 17.5.1: each estimate is within 4.5 standard errors."""
    model, length = casino(), 10_000
    game = simulate(model, 1, length, np.random.default_rng(3))
    theta = starts.labelled_categorical(game.rolls, bw.one_hot(game.dice, 2)[None], 6)
    visits = np.bincount(game.dice[0])[:, None]
    for estimate, truth in ((theta.A[0], model.A), (theta.B[0], model.B)):
        bound = 4.5 * np.sqrt(truth * (1 - truth) / visits)
        assert (np.abs(estimate - truth) < bound).all()


def test_baum_welch_on_the_book_game() -> None:
    game, model = book_game(), casino()
    truth = bw.CategoricalHMM(model.pi[None], model.A[None], model.B[None])
    labelled = starts.labelled_categorical(game.rolls, bw.one_hot(game.dice, 2)[None, None], 6)
    for start in (truth, labelled):
        fit = bw.baum_welch(start, game.rolls)
        np.testing.assert_allclose(fit.final, -504.814, rtol=0, atol=5e-4)
        A = [[0.877, 0.123], [0.026, 0.974]]
        np.testing.assert_allclose(fit.theta.A[0], A, rtol=0, atol=5e-4)
    trapped = bw.baum_welch(starts.identical_categorical(game.rolls, 2, 6, 1), game.rolls)
    np.testing.assert_allclose(trapped.final, -516.865, rtol=0, atol=5e-4)
    random = starts.random_categorical(2, 6, 20, np.random.default_rng(4))
    fit = bw.baum_welch(random, game.rolls, max_iter=2000)
    assert (np.diff(fit.objective, axis=1)[np.isfinite(fit.objective[:, 1:])] >= -1e-9).all()
    np.testing.assert_allclose(fit.final.max(), -504.814, rtol=0, atol=5e-4)
    assert fit.final.min() < -512  # different starts, different optima


def test_games_are_tallied_by_die() -> None:
    dice = np.array([[0, 0, 0, 1, 1, 0], [1, 1, 1, 1, 0, 0]])
    rolls = np.array([[0, 1, 2, 5, 5, 0], [5, 4, 5, 5, 3, 3]])
    found = tally(Game(dice, rolls))
    np.testing.assert_array_equal(found.faces, [[2, 1, 1, 2, 0, 0], [0, 0, 0, 0, 1, 5]])
    np.testing.assert_array_equal(found.visits, [4, 6])
    np.testing.assert_array_equal(found.leaves, [1, 2])


def test_errors_of_lags_lie_between_filter_and_smoother() -> None:
    model, game = casino(), book_game()
    filtered, smoothed, *_ = all_errors(model, game)
    assert (filtered, smoothed) == (71, 49)
    lagged = lagged_errors(model, game, [1, 300])
    assert lagged[1] == smoothed
    belief = np.array([hmm.smoother(*_first(model, game.rolls, t + 2))[-1][t] for t in range(299)])
    wrong = count_errors(belief[:, LOADED], game.dice[:299])
    assert lagged[0] - wrong in (0, 1)  # the last roll has none after it


def _first(model: bw.CategoricalHMM, rolls: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
    return model.pi, model.A, hmm.categorical_log_likelihood(model.B, rolls[:n])


def test_uncertainty_by_hand() -> None:
    np.testing.assert_allclose(entropy(np.array([0.0, 0.25, 0.5, 1.0])), [0, 0.811278, 1, 0], 1e-6)


def test_a_roll_alone_says_by_bayes_rule() -> None:
    """One third of the time the die is loaded: a six, 1/6 against 1/9, and others, 1/30 and 1/9."""
    six, other = memoryless(casino(), np.array([[SIX, 2]]))[0]
    np.testing.assert_allclose(six, (1 / 6) / (1 / 6 + 1 / 9), rtol=1e-14)
    np.testing.assert_allclose(other, (1 / 30) / (1 / 30 + 1 / 9), rtol=1e-14)
    rare = casino(six=0.9, switching=0.25)
    np.testing.assert_allclose(memoryless(rare, np.array([SIX])), 0.3 / (0.3 + 1 / 9), rtol=1e-14)
