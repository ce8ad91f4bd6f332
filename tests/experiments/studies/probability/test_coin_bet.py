"""The bet by counting tosses; the likelihood by scipy."""

from collections.abc import Callable

import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.optimize import brentq

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.studies.probability.coin_bet import CoinBet

Run = Callable[..., Outcome]


def test_the_heads_of_a_game(run: Run) -> None:
    found = run(CoinBet(r=0.6, game_tosses=7, win_at_most=3))
    assert_allclose(found["win_probability"].item, stats.binom.cdf(3, 7, 0.6), rtol=1e-12)
    assert_allclose(found["probability"].values, stats.binom.pmf(range(8), 7, 0.6), rtol=1e-12)
    by_r = found["win_probability_of_r"]
    assert_allclose(by_r.values, stats.binom.cdf(3, 7, by_r.along("r")), rtol=1e-9, atol=1e-14)
    assert "likelihood" not in found


def test_the_most_likely_coin(run: Run) -> None:
    assert run(CoinBet(r=None, heads=[9], tosses=[10]))["r_of_the_coin"].item == 0.9


def test_areas_and_ranges_of_likelihoods(run: Run) -> None:
    found = run(CoinBet(heads=[6, 70], tosses=[10, 100], negligible=0.1))
    for y, n in ((6, 10), (70, 100)):
        count = f"{y} of {n}"
        assert_allclose(found["area"].at(count=count).item, 1 / (n + 1), rtol=1e-5)
        share = stats.binom.pmf(y, n, y / n) * 0.1
        for end, bracket in (("from", (1e-9, y / n)), ("to", (y / n, 1 - 1e-9))):
            edge = brentq(lambda r, y=y, n=n, s=share: stats.binom.pmf(y, n, r) - s, *bracket)
            here = found[f"not_negligible_{end}"].at(count=count).item
            assert_allclose(here, edge, rtol=0, atol=3e-4)


@pytest.mark.parametrize(
    "knobs",
    [
        {"heads": [3], "tosses": []},
        {"heads": [11], "tosses": [10]},
        {"win_at_most": 10},
        {"r": 1.5},
        {"heads": [], "r": None},
        {"heads": [], "show": ["likelihood"]},
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object]) -> None:
    with pytest.raises(BadInput, match=f"study.{next(iter(knobs))}"):
        CoinBet(**knobs)  # type: ignore[arg-type]
