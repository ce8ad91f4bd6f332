"""Beliefs toss by toss against scipy.stats and plain counting."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.probability.coin_game import CoinGame

Run = Callable[..., Outcome]
TOSSES = [1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1]  # FCML 3.3.1
PRIORS = {"Beta(1, 1)": (1, 1), "Beta(50, 50)": (50, 50), "Beta(5, 1)": (5, 1)}
THREE = {"alphas": [1.0, 50.0, 5.0], "betas": [1.0, 50.0, 1.0]}


def test_beliefs_and_bets_are_those_of_scipy(run: Run) -> None:
    stages = [0, 3, 10, 20]
    study = CoinGame(**THREE, customers=[1, 2], stages=stages, interval=[0.3, 0.7])  # type: ignore[arg-type]
    found = run(study)
    for prior, (a, b) in PRIORS.items():
        for n in stages:
            y = sum(TOSSES[:n])
            belief = stats.beta(a + y, b + n - y)
            along = {
                "posterior_alpha": a + y,
                "posterior_beta": b + n - y,
                "posterior_mean": belief.mean(),
                "posterior_variance": belief.var(),
            }
            for name, value in along.items():
                here = found[name].sel(prior=prior, toss=n).item
                assert_allclose(here, value, rtol=1e-9, err_msg=name)
            win = stats.betabinom.cdf(6, 10, a + y, b + n - y)
            reported = {
                "mass_in_interval": belief.cdf(0.7) - belief.cdf(0.3),
                "mass_above_half": belief.sf(0.5),
                "win_probability": win,
                "plugin_win_probability": stats.binom.cdf(6, 10, belief.mean()),
                "evidence": stats.betabinom.pmf(y, n, a, b),
            }
            for name, value in reported.items():
                here = found[name].sel(prior=prior, stage=n).item
                assert_allclose(here, value, rtol=1e-9, err_msg=name)
            square = belief.expect(lambda r: stats.binom.cdf(6, 10, r) ** 2)
            sd = found["win_sd"].sel(prior=prior, stage=n).item
            assert_allclose(sd**2, square - win**2, rtol=1e-5)
            assert found["heads"].sel(toss=n).item == y
    assert found["customer_heads"].values.tolist() == [6, 8]
    assert found["customer_tosses"].values.tolist() == [10, 10]


def test_a_count_is_as_good_as_the_tosses(run: Run) -> None:
    counted = run(CoinGame(data=None, heads=14, tosses=20, stages=[0, 20]))
    tossed = run(CoinGame(customers=[1, 2], stages=[0, 20]))
    for name in ("win_probability", "evidence", "density"):
        assert np.array_equal(counted[name].values, tossed[name].values)
    density = counted["density"]
    assert_allclose(np.trapezoid(density.values, density.coord("r")), 1, rtol=1e-4)


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
        {"customers": [1, 1]},
        {"stages": [31]},
        {"stages": [10, 5]},
        {"stages": [5], "data": None, "heads": 3, "tosses": 10},
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object]) -> None:
    with pytest.raises(InputError, match=f"study.{next(iter(knobs))}"):
        CoinGame(**knobs)  # type: ignore[arg-type]
