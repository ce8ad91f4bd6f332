"""Evidences as Gaussian densities, data set by data set."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.regression.evidence_order import EvidenceOrder

STUDY = EvidenceOrder(
    n=9, low=-2, high=2, noise=2.0, orders=[1, 2, 3], prior_variances=[4.0, 0.3], repetitions=8
)


def run(study: EvidenceOrder) -> Outcome:
    return study.run(generator(study.name, 0))


def test_choices_are_those_of_the_densities() -> None:
    outcome = run(STUDY)
    x, t = STUDY.sample(generator(STUDY.name, 0), 8)
    for s in STUDY.prior_variances:
        log_p = np.empty((8, 3))
        for r in range(8):
            for k in range(3):
                Phi = x[r][:, None] ** np.arange(k + 2)
                covariance = 4 * np.eye(9) + s * Phi @ Phi.T
                log_p[r, k] = multivariate_normal(np.zeros(9), covariance).logpdf(t[r])
        chosen = 1 + log_p.argmax(axis=-1)
        assert outcome.arrays[f"chosen_order_prior_{s:g}"].tolist() == chosen.tolist()
        assert outcome.metrics[f"share_chooses_3_prior_{s:g}"] == np.mean(chosen == 3)
        found = outcome.tables["orders"][f"log_evidence_{s:g}"]
        assert_allclose(found, np.median(log_p, axis=0), rtol=1e-9)
        second = np.exp(np.sort(log_p, axis=-1)[:, -2] - log_p.max(axis=-1))
        assert_allclose(outcome.metrics[f"runner_up_prior_{s:g}"], np.median(second), rtol=1e-7)


def test_a_narrow_prior_leads_to_higher_orders() -> None:
    study = EvidenceOrder(prior_variances=[1.0, 0.3, 0.1], repetitions=100)
    outcome = run(study)
    chosen = [outcome.arrays[f"chosen_order_prior_{s:g}"] for s in (1.0, 0.3, 0.1)]
    assert np.mean(chosen[0]) < np.mean(chosen[1]) < np.mean(chosen[2])
    assert outcome.metrics["narrower_prior_higher_order"] is True
    share = np.mean([a <= b <= c for a, b, c in zip(*chosen, strict=True)])
    assert outcome.metrics["order_never_falls_as_prior_narrows"] == share


def test_one_order_has_no_runner_up() -> None:
    study = EvidenceOrder(orders=[3], repetitions=3)
    assert run(study).metrics["runner_up_prior_1"] == 0


def test_figures_are_drawn() -> None:
    with style("screen"):
        assert list(STUDY.draw(run(STUDY))) == ["evidence", "data"]


@pytest.mark.parametrize(
    "knobs",
    [{"noise": 0.0}, {"prior_variances": []}, {"prior_variances": [0.0]}, {"orders": []}, {"n": 1}],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object]) -> None:
    with pytest.raises(BadInput, match=f"study.{next(iter(knobs))}"):
        EvidenceOrder(**knobs)  # type: ignore[arg-type]
