"""A mixture of lines against a plain EM loop with weighted polynomial fits."""

import numpy as np
import pytest
from scipy.stats import norm

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.clustering.line_mixture import LineMixture


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"start": [[0.0, 1.0], [0.0]]}, "needs 2 numbers"),
        ({"noise": 0.0}, "study.noise"),
        ({"snapshots": [0]}, "study.snapshots"),
        ({"n": 4}, "study.n"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        LineMixture(**knobs)  # type: ignore[arg-type]


def test_snapshots_against_a_plain_loop() -> None:
    study = LineMixture(snapshots=[1, 10], restarts=20, repetitions=3)
    outcome = study.run(generator(study.name, 0))
    x, t = outcome.arrays["x"], outcome.arrays["t"]
    w, pi, sd = np.array(study.start), np.array([0.5, 0.5]), t.std()
    values = []
    for step in range(11):
        p = pi * norm.pdf(t[:, None], w[:, 0] + np.outer(x, w[:, 1]), sd)
        values.append(np.log(p.sum(1)).sum())
        gamma = p / p.sum(1, keepdims=True)
        if step in (0, 1, 10):
            place = [0, 1, 10].index(step)
            np.testing.assert_allclose(outcome.arrays["w"][place], w, atol=1e-8)
            np.testing.assert_allclose(outcome.arrays["gamma"][place], gamma, atol=1e-8)
        w = np.array([np.polyfit(x, t, 1, w=np.sqrt(g))[::-1] for g in gamma.T])
        errors = t[:, None] - w[:, 0] - np.outer(x, w[:, 1])
        pi, sd = gamma.mean(0), np.sqrt((gamma * errors**2).sum() / len(t))
    np.testing.assert_allclose(outcome.series["log_likelihood"].values[:11], values, rtol=1e-9)
    residual = t - np.polyval(np.polyfit(x, t, 1), x)
    alone = norm.logpdf(residual, scale=residual.std()).sum()
    assert outcome.metrics["single_line_log_likelihood"] == pytest.approx(alone, rel=1e-9)
    assert outcome.metrics["mixture_beats_single_line"] is True
    assert outcome.metrics["log_likelihood_never_falls"] is True
    last = outcome.metrics["final_log_likelihood"]
    assert outcome.metrics["shortfall_10"] == pytest.approx(last - values[10], abs=1e-9)
    assert list(study.draw(outcome)) == ["lines", "climb"]


def test_equal_lines_never_part() -> None:
    study = LineMixture(start=[[0.0, 0.0], [0.0, 0.0]], restarts=2, repetitions=2)
    found = study.run(generator(study.name, 0)).metrics
    assert found["final_log_likelihood"] == pytest.approx(
        found["single_line_log_likelihood"], abs=1e-6
    )
    assert found["start_finds_best"] is False
