"""Averages over tosses, by enumeration with scipy and by simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.probability.coin_simulation import CoinSimulation


def run(study: CoinSimulation) -> Outcome:
    return study.run(generator(study.name, 0))


def test_exact_averages_over_every_count() -> None:
    study = CoinSimulation(r=0.4, tosses=12, repetitions=2000)
    outcome = run(study)
    found, y = outcome.metrics, np.arange(13)
    chance = stats.binom.pmf(y, 12, 0.4)
    priors = ((1, 1), (50, 50), (5, 1))
    evidence = np.array([stats.betabinom.pmf(y, 12, a, b) for a, b in priors])
    for i, (a, b) in enumerate(priors):
        name = f"prior_{a}_{b}"
        win = np.asarray(stats.betabinom.cdf(6, 10, a + y, b + 12 - y))
        assert_allclose(found[f"win_{name}"], chance @ win, rtol=1e-10)
        assert_allclose(found[f"mean_{name}"], (a + 12 * 0.4) / (a + b + 12), rtol=1e-10)
        assert_allclose(found[f"evidence_{name}"], chance @ evidence[i], rtol=1e-10)
        assert_allclose(found[f"evidence_range_{name}"], np.ptp(evidence[i]), atol=1e-13)
        best = chance[evidence.argmax(axis=0) == i].sum()
        assert_allclose(found[f"share_best_{name}"], best, rtol=1e-10)
        assert_allclose(outcome.arrays[f"win_draws_{name}"], win[outcome.arrays["heads"]])
    assert_allclose(found["true_win"], stats.binom.cdf(6, 10, 0.4), rtol=1e-12)
    assert found["simulation_agrees"] is True


def test_the_draws_are_binomial() -> None:
    heads = run(CoinSimulation()).arrays["heads"]
    assert abs(heads.mean() - 70) < 4 * np.sqrt(21 / len(heads))
    assert_allclose(heads.var(), 21, rtol=0.08)


def test_figures_are_drawn() -> None:
    study = CoinSimulation(repetitions=200)
    with style("screen"):
        assert list(study.draw(run(study))) == ["simulation"]


@pytest.mark.parametrize("knobs", [{"r": 1.0}, {"tosses": 0}, {"alphas": [1.0]}])
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object]) -> None:
    with pytest.raises(BadInput, match=f"study.{next(iter(knobs))}"):
        CoinSimulation(**knobs)  # type: ignore[arg-type]
