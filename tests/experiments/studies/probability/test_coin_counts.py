"""The bet by counting tosses; likelihoods and marginal likelihoods by scipy, optima by a search."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.optimize import brentq

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.probability.coin_counts import CoinCounts

Run = Callable[..., Outcome]
PRIORS = {"Beta(1, 1)": (1, 1), "Beta(50, 50)": (50, 50), "Beta(5, 1)": (5, 1)}
NONE: dict[str, Any] = {"alphas": [], "betas": []}


def test_the_heads_of_a_game(run: Run) -> None:
    found = run(CoinCounts(**NONE, r=0.6, game_tosses=7, win_at_most=3))
    won = found["win_probability_of_r"].sel(r=0.6).item
    assert_allclose(won, stats.binom.cdf(3, 7, 0.6), rtol=1e-12)
    assert_allclose(found["game_chance"].values, stats.binom.pmf(range(8), 7, 0.6), rtol=1e-12)
    by_r = found["win_probability_of_r"]
    assert_allclose(by_r.values, stats.binom.cdf(3, 7, by_r.coord("r")), rtol=1e-9, atol=1e-14)
    assert "evidence" not in found


def test_the_most_likely_coin(run: Run) -> None:
    third = run(CoinCounts(heads=[1], tosses=[3]))  # between the points of an even grid
    won = third["win_probability_of_r"].sel(r=1 / 3).item
    assert_allclose(won, stats.binom.cdf(6, 10, 1 / 3), rtol=1e-12)
    assert run(CoinCounts(r=None, heads=[9], tosses=[10]))["r_of_the_coin"].item == 0.9


def test_areas_and_ranges_of_likelihoods(run: Run) -> None:
    found = run(CoinCounts(heads=[6, 70], tosses=[10, 100], negligible=[0.1, 0.01]))
    for y, n, share in ((6, 10, 0.1), (70, 100, 0.1), (70, 100, 0.01)):
        count = f"{y} of {n}"
        assert_allclose(found["area"].sel(seen=count).item, 1 / (n + 1), rtol=1e-5)
        low = stats.binom.pmf(y, n, y / n) * share
        for end, bracket in (("low", (1e-9, y / n)), ("high", (y / n, 1 - 1e-9))):
            edge = brentq(lambda r, y=y, n=n, s=low: stats.binom.pmf(y, n, r) - s, *bracket)
            here = found[f"range_{end}"].sel(seen=count, negligible=share).item
            assert_allclose(here, edge, rtol=0, atol=3e-4)


def test_evidences_and_beliefs_of_every_count(run: Run) -> None:
    found, y = run(CoinCounts(heads=[9], tosses=[20])), np.arange(21)
    for prior, (a, b) in PRIORS.items():
        expected = {
            "evidence": stats.betabinom.pmf(y, 20, a, b),
            "posterior_mean": (a + y) / (a + b + 20),
            "win_probability": stats.betabinom.cdf(6, 10, a + y, b + 20 - y),
        }
        for name, values in expected.items():
            assert_allclose(found[name].sel(prior=prior).values, values, rtol=1e-9, err_msg=name)
    assert "chance" not in found


@pytest.mark.parametrize(("heads", "tosses"), [(14, 20), (2, 9)])
def test_the_optimum_by_search(heads: int, tosses: int, run: Run) -> None:
    found = run(CoinCounts(heads=[heads], tosses=[tosses], alpha_max=12, beta_max=9))
    surface = found["evidence_of_parameters"]
    for a in (1, 7, 12):
        expected = [stats.betabinom.pmf(heads, tosses, a, b) for b in range(1, 10)]
        assert_allclose(surface.sel(alpha=a).values, expected, rtol=1e-10)
    alpha, beta = found["best_parameters"].values
    assert alpha == pytest.approx(12) or beta == pytest.approx(9)
    assert stats.betabinom.pmf(heads, tosses, alpha, beta) >= surface.values.max() * (1 - 1e-12)
    limit = stats.betabinom.pmf(heads, tosses, 1e7 * heads, 1e7 * (tosses - heads))
    assert_allclose(found["likelihood"].values.max(), limit, rtol=1e-5)


def test_averages_over_simulated_tosses(run: Run) -> None:
    found = run(CoinCounts(heads=[], r=0.4, tosses=[12], repetitions=2000))
    y = np.arange(13)
    chance = stats.binom.pmf(y, 12, 0.4)
    assert_allclose(found["chance"].values, chance, rtol=1e-10)
    for prior, (a, b) in PRIORS.items():
        win = stats.betabinom.cdf(6, 10, a + y, b + 12 - y)
        averages = found["average"].sel(prior=prior)
        assert_allclose(averages.sel(averaged="win_probability").item, chance @ win, rtol=1e-10)
        mean = (a + 12 * 0.4) / (a + b + 12)
        assert_allclose(averages.sel(averaged="posterior_mean").item, mean, rtol=1e-10)
        simulated = found["simulated_average"].sel(prior=prior, averaged="win_probability").item
        assert_allclose(simulated, win[found["drawn_heads"].values].mean(), rtol=1e-10)
        error = found["standard_error"].sel(prior=prior, averaged="win_probability").item
        assert_allclose(error, np.sqrt(chance @ (win - chance @ win) ** 2 / 2000), rtol=1e-9)
    gap = np.abs(found["simulated_average"].values - found["average"].values)
    assert np.all(gap <= 4 * found["standard_error"].values + 1e-12)


def test_the_draws_are_binomial(run: Run) -> None:
    heads = run(CoinCounts(heads=[70], tosses=[100], repetitions=10_000))["drawn_heads"].values
    assert abs(heads.mean() - 70) < 4 * np.sqrt(21 / len(heads))
    assert_allclose(heads.var(), 21, rtol=0.08)


@pytest.mark.parametrize(
    "knobs",
    [
        {"heads": [3, 4]},
        {"heads": [21]},
        {"heads": []},
        {"win_at_most": 10},
        {"alphas": [1.0]},
        {"alphas": [1.0, 1.0, 1.0], "betas": [1.0] * 3},
        {"r": 1.5},
        {"tosses": [0]},
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"study.{next(iter(knobs))}"):
        CoinCounts(**knobs)
