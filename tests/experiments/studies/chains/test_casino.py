"""The casino's studies against loops that write the sums out, closed forms, and printed counts."""

import itertools
import math

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome, differences
from experiments.contract.study import Study, generator
from experiments.drawing.canvas import style
from experiments.studies.chains.casino import CasinoDecoding, CasinoGames
from experiments.studies.chains.casino_beliefs import CasinoPrediction, PosteriorSamples
from experiments.studies.chains.casino_errors import CasinoErrors

PI = [0.5, 0.5]
A = [[0.95, 0.05], [0.10, 0.90]]
B = [[1 / 6] * 6, [0.1] * 5 + [0.5]]


def run(study: Study, seed: int = 0) -> Outcome:
    return study.run(generator(study.name, seed))


def book_rolls() -> tuple[list[int], list[int]]:
    """The 300 dice and rolls of MLAPP Figure 17.10, drawn one by one."""
    stream = np.random.RandomState(1)
    dice: list[int] = []
    for u in stream.random_sample(300):
        stay = PI[0] if not dice else A[dice[-1]][0]
        dice.append(int(u > stay))
    rolls = []
    for die, u in zip(dice, stream.random_sample(300), strict=True):
        rolls.append(sum(u > sum(B[die][: face + 1]) for face in range(5)))
    return dice, rolls


def by_hand(rolls: list[int]) -> tuple[list[float], list[float], list[int], float]:
    """Filtered and smoothed probabilities of the loaded die, the best path, the log evidence."""
    alpha, scale = [], []
    belief = PI
    for t, x in enumerate(rolls):
        ahead = belief if t == 0 else [sum(belief[i] * A[i][j] for i in (0, 1)) for j in (0, 1)]
        joint = [ahead[j] * B[j][x] for j in (0, 1)]
        scale.append(sum(joint))
        belief = [p / scale[-1] for p in joint]
        alpha.append(belief)
    beta, smoothed = [1.0, 1.0], [0.0] * len(rolls)
    for t in reversed(range(len(rolls))):
        weight = [alpha[t][j] * beta[j] for j in (0, 1)]
        smoothed[t] = weight[1] / sum(weight)
        beta = [sum(A[i][j] * B[j][rolls[t]] * beta[j] for j in (0, 1)) for i in (0, 1)]
        beta = [b / sum(beta) for b in beta]
    value, back = [math.log(PI[j] * B[j][rolls[0]]) for j in (0, 1)], []
    for x in rolls[1:]:
        came = [max((0, 1), key=lambda i, j=j: value[i] + math.log(A[i][j])) for j in (0, 1)]
        value = [value[came[j]] + math.log(A[came[j]][j] * B[j][x]) for j in (0, 1)]
        back.append(came)
    path = [int(value[1] > value[0])]
    for came in reversed(back):
        path.append(came[path[-1]])
    return [a[1] for a in alpha], smoothed, path[::-1], sum(map(math.log, scale))


def test_the_book_game_is_decoded_as_by_hand_and_as_printed() -> None:
    dice, rolls = book_rolls()
    filtered, smoothed, path, log_evidence = by_hand(rolls)
    outcome = run(CasinoDecoding())
    np.testing.assert_array_equal(outcome.arrays["rolls"], rolls)
    np.testing.assert_array_equal(outcome.arrays["dice"], dice)
    np.testing.assert_allclose(outcome.arrays["filtered"], filtered, rtol=1e-11)
    np.testing.assert_allclose(outcome.arrays["smoothed"], smoothed, rtol=1e-10)
    np.testing.assert_array_equal(outcome.arrays["viterbi"], path)
    metrics = outcome.metrics
    assert metrics["log_evidence"] == pytest.approx(log_evidence, rel=1e-13)
    printed = {"filtered": 71, "smoothed": 49, "viterbi": 60}
    for name, errors in printed.items():
        assert metrics[f"errors_{name}"] == errors
    for name, p in (("filtered", filtered), ("smoothed", smoothed)):
        variation = sum(abs(a - b) for a, b in itertools.pairwise(p))
        assert metrics[f"total_variation_{name}"] == pytest.approx(variation, rel=1e-10)
        bits = [-(q * math.log2(q) + (1 - q) * math.log2(1 - q)) for q in p]
        assert metrics[f"uncertainty_{name}"] == pytest.approx(sum(bits) / 300, rel=1e-10)


def test_games_may_be_cut_short_or_drawn_anew() -> None:
    short = run(CasinoDecoding(game="book", length=40))
    np.testing.assert_array_equal(short.arrays["rolls"], book_rolls()[1][:40])
    listing = run(CasinoDecoding(game="listing", length=60))
    assert "dice" not in listing.arrays
    assert "errors_filtered" not in listing.metrics
    drawn = [run(CasinoDecoding(game="simulated", length=500), seed) for seed in (0, 0, 1)]
    assert drawn[0].metrics["rolls"] == 500
    assert not differences(drawn[0], drawn[1])
    assert differences(drawn[0], drawn[2])


@pytest.mark.parametrize(
    ("study", "knobs", "named"),
    [
        (CasinoDecoding, {"game": "listing", "length": 61}, "study.length=61"),
        (CasinoDecoding, {"length": 301}, "study.length=301"),
        (CasinoDecoding, {"game": "poker"}, "study.game"),
        (CasinoGames, {"six": 1.5}, "study.six"),
        (CasinoGames, {"switching": 11.0}, "study.switching"),
        (CasinoErrors, {"lags": [3, 3]}, "study.lags"),
        (CasinoErrors, {"lags": [0]}, "study.lags"),
        (PosteriorSamples, {"samples": 10}, "study.samples"),
        (PosteriorSamples, {"length": 301}, "study.length"),
        (CasinoPrediction, {"horizons": []}, "study.horizons"),
    ],
)
def test_knobs_have_bounds(study: type[Study], knobs: dict[str, object], named: str) -> None:
    with pytest.raises(BadInput, match=named.replace(".", r"\.")):
        study(**knobs)


def expected_errors(length: int) -> dict[str, float]:
    """Mean errors in games of so many rolls: the sum over all dice and all rolls."""
    totals = dict.fromkeys(("filtered", "smoothed", "viterbi"), 0.0)
    for rolls in itertools.product(range(6), repeat=length):
        filtered, smoothed, path, log_evidence = by_hand(list(rolls))
        posterior = smoothed  # p(loaded | all rolls): an estimate's chance of being wrong
        for name, calls in (
            ("filtered", [p > 0.5 for p in filtered]),
            ("smoothed", [p > 0.5 for p in smoothed]),
            ("viterbi", [z == 1 for z in path]),
        ):
            wrong = sum(1 - p if call else p for call, p in zip(calls, posterior, strict=True))
            totals[name] += math.exp(log_evidence) * wrong
    return totals


def test_mean_errors_are_those_of_all_games() -> None:
    outcome = run(CasinoErrors(games=20_000, length=4))
    for name, expected in expected_errors(4).items():
        errors = outcome.arrays[f"errors_{name}"]
        assert abs(errors.mean() - expected) < 4.5 * errors.std() / np.sqrt(errors.size)
        assert outcome.metrics[f"mean_errors_{name}"] == pytest.approx(errors.mean(), rel=1e-12)


def test_errors_without_memory_have_closed_forms() -> None:
    outcome = run(CasinoErrors(games=3000, length=300, lags=[1, 300]))
    loaded = 1 / 3 + (0.5 - 1 / 3) * 0.85 ** np.arange(300)
    expected = {"always_fair": loaded.sum(), "memoryless": (loaded / 2 + (1 - loaded) / 6).sum()}
    for name, mean in expected.items():
        errors = outcome.arrays[f"errors_{name}"]
        assert abs(errors.mean() - mean) < 4.5 * errors.std() / np.sqrt(errors.size)
    whole = outcome.arrays["errors_lag_300"]
    np.testing.assert_array_equal(whole, outcome.arrays["errors_smoothed"])
    assert outcome.metrics["share_of_gain_lag_300"] == pytest.approx(1.0, rel=1e-12)
    between = outcome.metrics["mean_errors_lag_1"]
    assert whole.mean() < between < outcome.arrays["errors_filtered"].mean()
    assert outcome.metrics["order_on_average"] is True


def test_a_die_that_is_not_loaded_cannot_be_found_out() -> None:
    metrics = run(CasinoErrors(games=50, length=30, six=1 / 6, lags=[2])).metrics
    assert metrics["mean_errors_smoothed"] == metrics["mean_errors_filtered"]
    assert metrics["smoothing_beats_filtering"] is False
    assert metrics["every_lag_beats_filtering"] is False


def test_games_have_the_runs_and_faces_of_the_model() -> None:
    metrics = run(CasinoGames(games=500, switching=2.0, six=0.7)).metrics
    assert metrics["stationary_loaded"] == pytest.approx(1 / 3, rel=1e-12)
    assert metrics["expected_run_fair"] == pytest.approx(10, rel=1e-12)
    assert metrics["expected_run_loaded"] == pytest.approx(5, rel=1e-12)
    assert metrics["run_fair"] == pytest.approx(10, rel=0.05)
    assert metrics["run_loaded"] == pytest.approx(5, rel=0.05)
    assert metrics["six_frequency_loaded"] == pytest.approx(0.7, abs=0.02)
    assert run(CasinoGames(games=500, six=0.0)).metrics["loaded_die_favours_six"] is False


def test_sampled_paths_have_the_posterior_of_all_paths() -> None:
    rolls = book_rolls()[1][:6]
    weight = {}
    for z in itertools.product((0, 1), repeat=6):
        weight[z] = PI[z[0]] * math.prod(B[k][x] for k, x in zip(z, rolls, strict=True))
        weight[z] *= math.prod(A[i][j] for i, j in itertools.pairwise(z))
    total = sum(weight.values())
    switches = sum(w * sum(i != j for i, j in itertools.pairwise(z)) for z, w in weight.items())
    outcome = run(PosteriorSamples(samples=20_000, length=6))
    assert outcome.metrics["switches_expected"] == pytest.approx(switches / total, rel=1e-12)
    assert outcome.metrics["switches_sampled"] == pytest.approx(switches / total, abs=0.02)
    for t in range(6):
        p = sum(w for z, w in weight.items() if z[t] == 1) / total
        assert outcome.arrays["smoothed"][t] == pytest.approx(p, rel=1e-12)
    assert outcome.metrics["marginal_error"] < 4.5 * 0.5 / np.sqrt(20_000)
    assert outcome.metrics["pair_error"] < 4.5 * 0.5 / np.sqrt(20_000)
    assert outcome.arrays["mode_errors"].shape == (200,)


def test_predictions_decay_as_the_second_eigenvalue() -> None:
    outcome = run(CasinoPrediction(horizons=[3, 1], after=20))
    belief = by_hand(book_rolls()[1][:20])[0][-1]
    assert outcome.metrics["belief_loaded"] == pytest.approx(belief, rel=1e-12)
    for h in (1, 3):
        loaded = 1 / 3 + (belief - 1 / 3) * 0.85**h
        assert outcome.metrics[f"loaded_in_{h}"] == pytest.approx(loaded, rel=1e-12)
        six = loaded / 2 + (1 - loaded) / 6
        assert outcome.metrics[f"six_in_{h}"] == pytest.approx(six, rel=1e-12)
    assert outcome.tables["predictions"]["horizon"] == [1, 3]
    assert outcome.metrics["enumeration_error"] < 1e-14


@pytest.mark.parametrize(
    "study",
    [
        CasinoGames(games=20, length=50),
        CasinoDecoding(),
        CasinoDecoding(game="listing", length=60),
        CasinoErrors(games=50, length=20, lags=[1, 5]),
        PosteriorSamples(samples=100, length=30),
        CasinoPrediction(),
    ],
    ids=lambda study: study.name,
)
def test_figures_name_their_axes(study: Study) -> None:
    outcome = run(study)
    with style("screen"):
        figures = study.draw(outcome)
        assert figures
        for figure in figures.values():
            figure.draw_without_rendering()
            assert all(ax.get_ylabel() for ax in figure.axes)
            assert figure.axes[-1].get_xlabel()
