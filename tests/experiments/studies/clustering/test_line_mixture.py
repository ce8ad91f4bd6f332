"""A mixture of lines against a plain EM loop with weighted polynomial fits."""

import numpy as np
import pytest
from scipy.stats import norm

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.clustering.line_mixture import LineMixture


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"start": [[0.0, 1.0], [0.0]]}, "needs 2 numbers"),
        ({"noise": 0.0}, "study.noise"),
        ({"snapshots": [0]}, "study.snapshots"),
        ({"n": 4}, "study.n"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs, complaint):
    with pytest.raises(InputError, match=complaint):
        LineMixture(**knobs)


def test_snapshots_against_a_plain_loop(run):
    study = LineMixture(snapshots=[1, 10], restarts=20, repetitions=3)
    outcome = run(study)
    x, t = outcome["inputs"].values, outcome["targets"].values
    w, pi, sd = np.array(study.start), np.array([0.5, 0.5]), t.std()
    values = []
    for step in range(11):
        p = pi * norm.pdf(t[:, None], w[:, 0] + np.outer(x, w[:, 1]), sd)
        values.append(np.log(p.sum(1)).sum())
        gamma = p / p.sum(1, keepdims=True)
        if step in (0, 1, 10):
            np.testing.assert_allclose(outcome["lines"].sel(snapshot=step), w, atol=1e-8)
            shown = outcome["responsibilities"].sel(snapshot=step)
            np.testing.assert_allclose(shown, gamma, atol=1e-8)
        w = np.array([np.polyfit(x, t, 1, w=np.sqrt(g))[::-1] for g in gamma.T])
        errors = t[:, None] - w[:, 0] - np.outer(x, w[:, 1])
        pi, sd = gamma.mean(0), np.sqrt((gamma * errors**2).sum() / len(t))
    L = outcome["log_likelihood"].values
    np.testing.assert_allclose(L[:11], values, rtol=1e-9)
    residual = t - np.polyval(np.polyfit(x, t, 1), x)
    alone = norm.logpdf(residual, scale=residual.std()).sum()
    assert outcome["single_line_log_likelihood"].values[0] == pytest.approx(alone, rel=1e-9)
    assert outcome["final_log_likelihood"].values[0] == pytest.approx(L[-1], rel=1e-12)
    until = int(outcome["iterations_until_close"].values[0])
    assert L[-1] - L[until] < 1e-3 <= L[-1] - L[until - 1]


def test_equal_lines_never_part(run):
    outcome = run(LineMixture(start=[[0.0, 0.0], [0.0, 0.0]], restarts=2, repetitions=2))
    alone = outcome["single_line_log_likelihood"].values
    assert outcome["final_log_likelihood"].values == pytest.approx(alone, abs=1e-6)
    assert np.nanmax(outcome["random_climb"].values) > alone[0] + 1
