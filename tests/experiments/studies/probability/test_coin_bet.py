"""The bet by counting tosses; the likelihood by scipy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.optimize import brentq

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.probability.coin_bet import CoinBet


def run(study: CoinBet) -> Outcome:
    return study.run(generator(study.name, 0))


def test_the_value_of_a_game() -> None:
    study = CoinBet(r=0.6, game_tosses=7, win_at_most=3, stake=1.5, payout=4, games=20)
    found = run(study).metrics
    win = stats.binom.cdf(3, 7, 0.6)
    assert_allclose(found["win_probability"], win, rtol=1e-12)
    assert_allclose(found["expected_return"], 4 * win, rtol=1e-12)
    assert_allclose(found["profit_per_game"], 4 * win - 1.5, rtol=1e-12)
    assert_allclose(found["profit_of_20_games"], 20 * (4 * win - 1.5), rtol=1e-12)
    for y in range(8):
        assert_allclose(found[f"probability_of_{y}_heads"], stats.binom.pmf(y, 7, 0.6), rtol=1e-12)


def test_the_most_likely_coin_and_the_one_compared_with() -> None:
    found = run(CoinBet(r=None, heads=[9], tosses=[10], compared_win=0.4)).metrics
    assert found["r"] == 0.9
    expected = brentq(lambda r: stats.binom.cdf(6, 10, r) - 0.4, 0, 1)
    assert_allclose(found["r_of_compared_win"], expected, rtol=1e-9)
    assert found["win_is_lower_than_compared"] is True


def test_areas_and_ranges_of_likelihoods() -> None:
    found = run(CoinBet(heads=[6, 70], tosses=[10, 100], negligible=0.1)).metrics
    for y, n in ((6, 10), (70, 100)):
        assert_allclose(found[f"area_{y}_of_{n}"], 1 / (n + 1), rtol=1e-5)
        share = stats.binom.pmf(y, n, y / n) * 0.1
        for end, bracket in (("low", (1e-9, y / n)), ("high", (y / n, 1 - 1e-9))):
            edge = brentq(lambda r, y=y, n=n, s=share: stats.binom.pmf(y, n, r) - s, *bracket)
            assert_allclose(found[f"{end}_{y}_of_{n}"], edge, rtol=0, atol=3e-4)
    assert found["no_area_is_one"] is True


def test_figures_are_drawn() -> None:
    study = CoinBet(heads=[6], tosses=[10], show=["heads", "likelihood"])
    with style("screen"):
        assert list(study.draw(run(study))) == ["heads", "likelihood"]


@pytest.mark.parametrize(
    "knobs",
    [
        {"heads": [3], "tosses": []},
        {"heads": [11], "tosses": [10]},
        {"win_at_most": 10},
        {"r": 1.5},
        {"heads": [], "r": None},
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object]) -> None:
    with pytest.raises(BadInput, match=f"study.{next(iter(knobs))}"):
        CoinBet(**knobs)  # type: ignore[arg-type]


def test_no_likelihood_without_a_count() -> None:
    assert np.shape(run(CoinBet()).arrays["likelihood"]) == (0, 4001)
    with pytest.raises(BadInput, match="likelihood need a count"):
        CoinBet(show=["likelihood"])
