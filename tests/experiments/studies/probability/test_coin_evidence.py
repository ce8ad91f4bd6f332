"""Marginal likelihoods against scipy's beta-binomial, the optimum against a search."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.probability.coin_evidence import CoinEvidence


def run(study: CoinEvidence) -> Outcome:
    return study.run(generator(study.name, 0))


def test_evidences_and_their_order() -> None:
    found = run(CoinEvidence(heads=9, tosses=20)).metrics
    expected = {k: stats.betabinom.pmf(9, 20, *k) for k in ((1, 1), (50, 50), (5, 1))}
    for rank, (a, b) in enumerate(sorted(expected, key=lambda k: -expected[k]), 1):
        assert_allclose(found[f"evidence_prior_{a}_{b}"], expected[a, b], rtol=1e-10)
        assert found[f"evidence_rank_prior_{a}_{b}"] == rank


@pytest.mark.parametrize(("heads", "tosses"), [(14, 20), (2, 9)])
def test_the_optimum_by_search(heads: int, tosses: int) -> None:
    study = CoinEvidence(heads=heads, tosses=tosses, alpha_max=12, beta_max=9)
    found = run(study).metrics
    pairs = [(a, b) for a in range(1, 13) for b in range(1, 10)]
    best = max(pairs, key=lambda pair: stats.betabinom.pmf(heads, tosses, *pair))
    assert (found["best_alpha"], found["best_beta"]) == best
    assert_allclose(found["best_evidence"], stats.betabinom.pmf(heads, tosses, *best), rtol=1e-10)
    assert found["best_evidence_not_whole"] >= found["best_evidence"]
    assert found["best_is_on_the_edge"] is True
    limit = stats.betabinom.pmf(heads, tosses, 1e7 * heads, 1e7 * (tosses - heads))
    assert_allclose(found["evidence_without_bounds"], limit, rtol=1e-5)


def test_figures_are_drawn() -> None:
    study = CoinEvidence(show=["heads", "contours"])
    outcome = run(study)
    assert_allclose(outcome.arrays["predicted"].sum(-1), np.ones(3), rtol=1e-10)
    with style("screen"):
        assert list(study.draw(outcome)) == ["heads", "contours"]


@pytest.mark.parametrize(
    "knobs", [{"heads": 21}, {"alphas": [1.0]}, {"alphas": [1.0, 1.0, 1.0], "betas": [1.0] * 3}]
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object]) -> None:
    with pytest.raises(BadInput, match=f"study.{next(iter(knobs))}"):
        CoinEvidence(**knobs)  # type: ignore[arg-type]
