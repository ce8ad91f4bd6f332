"""Beliefs toss by toss against scipy.stats and plain counting."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.probability.coin_game import CoinGame

TOSSES = [1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1]  # FCML 3.3.1
THREE = {"alphas": [1.0, 50.0, 5.0], "betas": [1.0, 50.0, 1.0]}


def run(study: CoinGame) -> Outcome:
    return study.run(generator(study.name, 0))


def test_beliefs_and_bets_are_those_of_scipy() -> None:
    stages = [0, 3, 10, 20]
    study = CoinGame(**THREE, customers=[1, 2], stages=stages, interval=[0.3, 0.7])  # type: ignore[arg-type]
    found = run(study).metrics
    for a, b in ((1, 1), (50, 50), (5, 1)):
        for n in stages:
            y, tag = sum(TOSSES[:n]), f"prior_{a}_{b}_n_{n}"
            belief = stats.beta(a + y, b + n - y)
            win = stats.betabinom.cdf(6, 10, a + y, b + n - y)
            plugin = stats.binom.cdf(6, 10, belief.mean())
            expected = {
                "posterior_alpha": a + y,
                "posterior_beta": b + n - y,
                "mean": belief.mean(),
                "variance": belief.var(),
                "mass_in_interval": belief.cdf(0.7) - belief.cdf(0.3),
                "mass_above_half": belief.sf(0.5),
                "win": win,
                "lose": 1 - win,
                "plugin_win": plugin,
                "plugin_lose": 1 - plugin,
                "profit": 2 * win - 1,
                "evidence": stats.betabinom.pmf(y, n, a, b),
            }
            for name, value in expected.items():
                assert_allclose(found[f"{name}_{tag}"], value, rtol=1e-9, err_msg=name)
            assert_allclose(found[f"gap_{tag}"], abs(win - plugin), rtol=1e-7)
            sd = belief.expect(lambda r: stats.binom.cdf(6, 10, r) ** 2) - win**2
            assert_allclose(found[f"win_standard_deviation_{tag}"] ** 2, sd, rtol=1e-5)
            assert found[f"heads_n_{n}"] == y
    assert found["quadrature_agrees"] is True
    assert (found["heads_customer_1"], found["heads_customer_2"]) == (6, 8)


def test_the_variance_along_the_tosses() -> None:
    found = run(CoinGame(**THREE, customers=[1, 2])).metrics  # type: ignore[arg-type]
    for a, b in ((1, 1), (50, 50), (5, 1)):
        variances = [
            stats.beta(a + sum(TOSSES[:n]), b + n - sum(TOSSES[:n])).var() for n in range(21)
        ]
        rises = [n for n in range(1, 21) if variances[n] > variances[n - 1] * (1 + 1e-12)]
        name = f"prior_{a}_{b}"
        assert found[f"variance_rises_{name}"] == len(rises)
        assert found.get(f"variance_first_rise_{name}") == (rises[0] if rises else None)
        assert found[f"variance_moves_{name}"] == pytest.approx(max(variances) - min(variances))
        tails = [n for n in range(1, 21) if not TOSSES[n - 1]]
        assert found[f"variance_rises_at_every_tail_{name}"] is (set(tails) <= set(rises))
        assert found[f"variance_rises_only_at_tails_{name}"] is (set(rises) <= set(tails))
    assert found["moves_less_than_uniform_prior_50_50"] is True
    assert found["moves_less_than_uniform_prior_1_1"] is False


def test_priors_compared() -> None:
    found = run(CoinGame(**THREE, customers=[1, 2], stages=[10, 20])).metrics  # type: ignore[arg-type]
    evidence = {k: stats.betabinom.pmf(14, 20, *k) for k in ((1, 1), (50, 50), (5, 1))}
    for rank, (a, b) in enumerate(sorted(evidence, key=lambda k: -evidence[k]), 1):
        assert found[f"evidence_rank_prior_{a}_{b}_n_20"] == rank
    assert [found[f"variance_rank_prior_{k}_n_20"] for k in ("50_50", "5_1", "1_1")] == [1, 2, 3]
    apart = abs(15 / 22 - 19 / 26) / stats.beta(15, 7).std()
    assert_allclose(found["sd_apart_prior_1_1_prior_5_1_n_20"], apart, rtol=1e-12)
    # FCML 3.3.2 has it the other way round, from ten tosses here and twenty there.
    assert found["gap_smaller_prior_50_50_than_prior_1_1"] is False
    assert found["gap_smaller_prior_1_1_than_prior_50_50"] is True
    assert found["gap_falls_prior_1_1"] is True
    assert found["plugin_is_higher_prior_1_1_n_10"] is True
    assert found["plugin_is_higher_prior_1_1_n_20"] is False
    assert found["means_draw_together"] is False  # 6 of 10, then 8 of 10


def test_equation_3_6_as_printed_is_no_density() -> None:
    found = run(CoinGame(customers=[1], stages=[10])).metrics
    r = np.linspace(0, 1, 20_001)
    as_printed = stats.beta(7, 5).pdf(r) * (1 - r)
    area = np.trapezoid(as_printed, r)
    assert_allclose(found["equation_3_6_area_prior_1_1_n_10"], area, rtol=1e-6)
    assert found["equation_3_6_as_printed_is_a_density"] is False


def test_a_count_is_as_good_as_the_tosses() -> None:
    counted = run(CoinGame(data=None, heads=14, tosses=20, stages=[0, 20]))
    tossed = run(CoinGame(customers=[1, 2], stages=[0, 20]))
    assert counted.tables["beliefs"] == tossed.tables["beliefs"]
    assert np.array_equal(counted.arrays["density"], tossed.arrays["density"])
    assert_allclose(np.trapezoid(counted.arrays["density"], counted.arrays["r"]), 1, rtol=1e-4)


def test_powers_of_r_are_beta_priors() -> None:
    found = run(CoinGame(alphas=[1.0, 3.0, 2.0], betas=[1.0, 1.0, 2.0])).metrics
    assert found["prior_is_power_of_r_prior_1_1"] is True
    assert found["prior_is_power_of_r_prior_3_1"] is True
    assert "prior_is_power_of_r_prior_2_2" not in found


@pytest.mark.parametrize("priors", [1, 2])
def test_figures_are_drawn(priors: int) -> None:
    show = ["stages", "overlay", "path", "win", "tosses"]
    study = CoinGame([1.0, 0.5][:priors], [1.0, 0.5][:priors], stages=[0, 1, 30], show=show)
    with style("screen"):
        assert list(study.draw(run(study))) == show


@pytest.mark.parametrize(
    "knobs",
    [
        {"alphas": [1.0, 2.0]},
        {"alphas": [0.0]},
        {"alphas": [1.0, 1.0], "betas": [2.0, 2.0]},
        {"win_at_most": 10},
        {"interval": [0.6, 0.4]},
        {"data": None},
        {"data": "old-faithful"},
        {"heads": 3},
        {"heads": 30, "data": None, "tosses": 20},
        {"customers": [7]},
        {"stages": [31]},
        {"stages": [10, 5]},
        {"stages": [5], "data": None, "heads": 3, "tosses": 10},
        {"show": ["path"], "data": None, "heads": 3, "tosses": 10},
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object]) -> None:
    with pytest.raises(BadInput, match=f"study.{next(iter(knobs))}"):
        CoinGame(**knobs)  # type: ignore[arg-type]
