"""Oracles: scipy's multivariate normal, scikit-learn's FactorAnalysis, PPCA's closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.decomposition import FactorAnalysis

from models.em import take
from models.latent.factor_analysis import (
    FactorModel,
    covariance,
    fit_factors,
    log_likelihood,
    posterior,
    ppca_closed_form,
    random_start,
)
from models.state_space.kalman import LDS, kalman_filter
from models.types import Floats


def draw(rng: np.random.Generator, N: int = 300, D: int = 8, M: int = 2) -> Floats:
    W = rng.normal(size=(D, M))
    psi = rng.uniform(0.1, 1.0, size=D)
    z = rng.normal(size=(N, M))
    return np.asarray(z @ W.T + rng.normal(size=(N, D)) * np.sqrt(psi) + rng.normal(size=D))


@pytest.fixture(scope="module")
def x() -> Floats:
    return draw(np.random.default_rng(0))


def test_log_likelihood_is_the_multivariate_normal(x: Floats) -> None:
    models = random_start(x, 3, 4, np.random.default_rng(1))
    models = models._replace(mu=models.mu + 0.3)  # not only at the sample mean
    expected = [
        stats.multivariate_normal(mu, C).logpdf(x).sum()
        for mu, C in zip(models.mu, covariance(models), strict=True)
    ]
    assert_allclose(log_likelihood(models, x), expected, rtol=1e-11)


def test_posterior_is_joint_gaussian_conditioning(x: Floats) -> None:
    models = random_start(x, 3, 2, np.random.default_rng(2))
    found = posterior(models, x)
    for r in range(2):
        W, C = models.W[r], covariance(models)[r]
        gain = np.linalg.solve(C, W).T  # cov[z, x] cov[x]^-1
        assert_allclose(found.mean[r], (x - models.mu[r]) @ gain.T, rtol=1e-9, atol=1e-12)
        assert_allclose(found.cov[r], np.eye(3) - gain @ W, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("isotropic", [False, True])
def test_the_likelihood_never_falls(x: Floats, isotropic: bool) -> None:
    start = random_start(x, 2, 6, np.random.default_rng(3))
    fit = fit_factors(x, start, isotropic=isotropic, tol=1e-7)
    assert fit.converged.all()
    steps = np.diff(fit.objective)
    assert np.nanmin(steps) > -1e-9 * np.abs(fit.final).max()  # every step of every restart
    assert_allclose(fit.final, log_likelihood(fit.theta, x), rtol=1e-12)
    assert_allclose(fit.final, fit.final[0], rtol=0, atol=1e-4)  # one maximum for all starts
    if isotropic:
        level = start._replace(psi=start.psi.mean(1, keepdims=True) * np.ones(8))
        assert_allclose(fit.objective[:, 0], log_likelihood(level, x), rtol=1e-12)
        assert_allclose(fit.theta.psi, fit.theta.psi[:, :1] * np.ones(8), rtol=1e-12)


def test_factor_analysis_agrees_with_scikit_learn(x: Floats) -> None:
    start = random_start(x, 2, 1, np.random.default_rng(4))
    fit = fit_factors(x, start, tol=1e-10, max_iter=5000)
    other = FactorAnalysis(2, tol=1e-12, max_iter=5000, svd_method="lapack").fit(x)
    assert_allclose(fit.final[0], other.score(x) * len(x), rtol=1e-9)
    assert_allclose(fit.theta.psi[0], other.noise_variance_, rtol=1e-3)
    assert_allclose(covariance(fit.theta)[0], other.get_covariance(), rtol=0, atol=1e-3)


def test_ppca_by_em_reaches_the_closed_form(x: Floats) -> None:
    exact = ppca_closed_form(x, 2)
    fit = fit_factors(x, random_start(x, 2, 3, np.random.default_rng(5)), isotropic=True, tol=1e-11)
    assert_allclose(fit.final, log_likelihood(exact, x)[0], rtol=1e-10)
    assert_allclose(fit.theta.psi[:, 0], exact.psi[0, 0], rtol=1e-5)
    assert_allclose(covariance(fit.theta), covariance(exact).repeat(3, 0), rtol=0, atol=1e-4)
    climbed = fit_factors(x, exact, isotropic=True, tol=-np.inf, max_iter=3)
    assert_allclose(climbed.objective[0], climbed.objective[0, 0], rtol=1e-13)  # a fixed point


def test_closed_form_variances_along_the_axes(x: Floats) -> None:
    """PRML 12.2.1: the model's variance is lambda_i inside the subspace and sigma^2 outside."""
    S = np.cov(x.T, bias=True)
    values, U = np.linalg.eigh(S)
    exact = ppca_closed_form(x, 3)
    along = np.diag(U.T @ covariance(exact)[0] @ U)
    assert_allclose(along[-3:], values[-3:], rtol=1e-10)
    assert_allclose(along[:-3], values[:-3].mean(), rtol=1e-10)
    assert_allclose(covariance(ppca_closed_form(x, 8))[0], S, rtol=0, atol=1e-12)
    # The maximum: any rotation of x moves the subspace, and the likelihood falls.
    tilted = FactorModel(exact.mu, np.roll(exact.W, 1, axis=1), exact.psi)
    assert log_likelihood(tilted, x)[0] < log_likelihood(exact, x)[0] - 1


def test_rescaling_for_factor_analysis_and_rotation_for_ppca(x: Floats) -> None:
    """PRML 12.2.4 and Exercise 12.25: what each model does not notice."""
    rng = np.random.default_rng(6)
    start = random_start(x, 2, 1, rng)
    scale = rng.uniform(0.5, 20.0, size=8)
    scaled = start._replace(
        mu=start.mu * scale, W=start.W * scale[:, np.newaxis], psi=start.psi * scale**2
    )
    plain = fit_factors(x, start, tol=-np.inf, max_iter=50)
    large = fit_factors(x * scale, scaled, tol=-np.inf, max_iter=50)
    assert_allclose(
        large.objective, plain.objective - len(x) * np.log(scale).sum(), rtol=0, atol=1e-7
    )
    assert_allclose(large.theta.psi, plain.theta.psi * scale**2, rtol=1e-8)

    Q = stats.ortho_group.rvs(8, random_state=7)
    exact, turned = ppca_closed_form(x, 2), ppca_closed_form(x @ Q.T, 2)
    assert_allclose(log_likelihood(turned, x @ Q.T), log_likelihood(exact, x), rtol=1e-11)
    assert_allclose(covariance(turned)[0], Q @ covariance(exact)[0] @ Q.T, rtol=0, atol=1e-10)


def test_factor_analysis_is_a_dynamical_system_without_dynamics(x: Floats) -> None:
    """Ghahramani 4.1, PRML Exercise 13.26: A = 0, Gamma = I."""
    model = take(random_start(x, 2, 1, np.random.default_rng(8)), slice(None))
    still = LDS(
        A=np.zeros((2, 2)),
        Gamma=np.eye(2),
        C=model.W[0],
        Sigma=np.diag(model.psi[0]),
        mu0=np.zeros(2),
        V0=np.eye(2),
    )
    passed = kalman_filter(still, x - model.mu[0])
    assert_allclose(passed.log_likelihood, log_likelihood(model, x)[0], rtol=1e-11)
    assert_allclose(passed.filtered.mean, posterior(model, x).mean[0], rtol=1e-9, atol=1e-11)


def test_a_random_start_halves_every_variance(x: Floats) -> None:
    """Loadings explain one half, on average over many starts, and the noise is the other."""
    start = random_start(x, 3, 20_000, np.random.default_rng(9))
    assert_allclose(start.mu, np.tile(x.mean(0), (20_000, 1)))
    assert_allclose(start.psi, np.tile(np.var(x, axis=0) / 2, (20_000, 1)))
    explained = (start.W**2).sum(-1)
    assert_allclose(explained.mean(0), np.var(x, axis=0) / 2, rtol=0.05)
    # A sum of three squares of normal numbers: its variance is 2/3 of its squared mean.
    assert_allclose(explained.var(0), (np.var(x, axis=0) / 2) ** 2 * 2 / 3, rtol=0.1)
    assert abs(start.W.mean()) < 0.02
