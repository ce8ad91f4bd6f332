"""Evidence against SciPy's normal density, re-estimation against a search, columns removed."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.linear_model import BayesianRidge

from bythebook.models.regression import evidence
from bythebook.models.regression.evidence import Precisions
from bythebook.models.types import Floats

Data = tuple[Floats, Floats]


@pytest.fixture(name="data")
def make_data() -> Data:
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 1, (3, 20))
    bumps = np.exp(-((x[..., None] - np.linspace(0, 1, 5)) ** 2) / 0.08)
    Phi = np.concatenate([np.ones((3, 20, 1)), bumps], axis=-1)
    return Phi, np.sin(2 * np.pi * x) + 0.3 * rng.standard_normal((3, 20))


def test_evidence_is_the_density_of_the_targets(data: Data) -> None:
    Phi, t = data
    rng = np.random.default_rng(0)
    alpha = rng.uniform(0.1, 3, (3, 6))
    at = Precisions(alpha, np.array([2.0, 9.0, 30.0]), np.ones((3, 6), dtype=bool))
    for r, value in enumerate(evidence.log_evidence(Phi, t, at)):
        C = np.eye(20) / at.beta[r] + (Phi[r] / alpha[r]) @ Phi[r].T
        assert value == pytest.approx(multivariate_normal(np.zeros(20), C).logpdf(t[r]))
    one = evidence.summary(Phi[0], t[0])
    same = evidence.started(Phi, 0.7, 4.0)
    shared = evidence.shared_log_evidence(one, np.log(0.7), np.log(4.0))
    assert shared == pytest.approx(evidence.log_evidence(Phi, t, same)[0])


@pytest.mark.parametrize("method", evidence.METHODS)
def test_re_estimation_ends_where_a_search_does(data: Data, method: str) -> None:
    Phi, t = data
    start = evidence.started(Phi, 1.0, 1.0)
    fit = evidence.maximise(
        Phi, t, start, method, shared=True, known_noise=False, tol=1e-9, max_iter=5000
    )
    assert fit.converged.all()
    for r in range(3):
        alpha, beta, height = evidence.search(evidence.summary(Phi[r], t[r]))
        assert fit.at.alpha[r] == pytest.approx(np.full(6, alpha), rel=1e-4)
        assert fit.at.beta[r] == pytest.approx(beta, rel=1e-4)
        assert fit.log_evidence[r] == pytest.approx(height)


def test_scikit_learn_finds_the_same_precisions(data: Data) -> None:
    Phi, t = data
    fit = evidence.maximise(
        Phi, t, evidence.started(Phi, 1.0, 1.0), "direct", shared=True, known_noise=False
    )
    none = {"alpha_1": 0, "alpha_2": 0, "lambda_1": 0, "lambda_2": 0}
    theirs = BayesianRidge(fit_intercept=False, tol=1e-10, max_iter=3000, **none).fit(Phi[0], t[0])
    assert fit.at.alpha[0, 0] == pytest.approx(theirs.lambda_, rel=1e-4)
    assert fit.at.beta[0] == pytest.approx(theirs.alpha_, rel=1e-4)


def test_known_noise_stays_and_the_search_agrees(data: Data) -> None:
    Phi, t = data
    start = evidence.started(Phi, 1.0, 11.0)
    fit = evidence.maximise(Phi, t, start, "direct", shared=True, known_noise=True)
    assert (fit.at.beta == 11).all()
    alpha, beta, _ = evidence.search(evidence.summary(Phi[1], t[1]), 11.0)
    assert (beta, fit.at.alpha[1, 0]) == (11, pytest.approx(alpha, rel=1e-4))


def test_em_with_a_precision_each_never_falls_and_rests_where_direct_does(data: Data) -> None:
    Phi, t = data
    start = evidence.started(Phi, 1.0, 1.0)
    em = evidence.maximise(Phi, t, start, "em", shared=False, known_noise=False, max_iter=200)
    assert np.nanmin(np.diff(em.history)) > -1e-9
    direct = evidence.maximise(
        Phi, t, start, "direct", shared=False, known_noise=False, tol=1e-10, max_iter=20_000
    )
    assert evidence.em_move(Phi, t, direct.at)[direct.converged].max() < 1e-8


def test_a_removed_weight_is_no_column_at_all(data: Data) -> None:
    Phi, t = data
    at = evidence.started(Phi, 0.5, 4.0)
    kept = at.kept.copy()
    kept[:, 2] = False
    without = evidence.log_evidence(
        np.delete(Phi, 2, axis=-1), t, evidence.started(Phi[..., 1:], 0.5, 4.0)
    )
    np.testing.assert_allclose(evidence.log_evidence(Phi, t, at._replace(kept=kept)), without)
    q = evidence.posterior(Phi, t, at._replace(kept=kept))
    assert (q.m[:, 2] == 0).all()
    assert (evidence.relevance(at._replace(kept=kept), q)[:, 2] == 0).all()


@pytest.mark.parametrize("method", evidence.METHODS)
def test_along_the_spectrum_a_step_is_that_of_the_matrices(data: Data, method: str) -> None:
    Phi, t = data
    start = evidence.started(Phi, 0.3, 5.0)
    step = {"shared": True, "known_noise": False}
    plain = evidence.re_estimate(Phi, t, start, method, **step)
    quick = evidence.maximise(Phi, t, start, method, max_iter=1, **step)
    for found in (quick.at, quick.first):
        np.testing.assert_allclose(found.alpha, plain.alpha)
        np.testing.assert_allclose(found.beta, plain.beta)
    np.testing.assert_allclose(quick.log_evidence, evidence.log_evidence(Phi, t, plain))
    assert not quick.converged.any()
