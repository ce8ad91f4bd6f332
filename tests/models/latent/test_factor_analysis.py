"""Oracles: scipy's multivariate normal, scikit-learn's FactorAnalysis, PPCA's closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.decomposition import FactorAnalysis

from bythebook.models.em import take
from bythebook.models.latent.factor_analysis import (
    FactorModel,
    fit_factors,
    ppca_maximum,
    random_start,
)
from bythebook.models.state_space.kalman import LDS, kalman_filter
from bythebook.models.types import Floats


def draw(rng: np.random.Generator, N: int = 300, D: int = 8, M: int = 2) -> Floats:
    W = rng.normal(size=(D, M))
    psi = rng.uniform(0.1, 1.0, size=D)
    z = rng.normal(size=(N, M))
    return np.asarray(z @ W.T + rng.normal(size=(N, D)) * np.sqrt(psi) + rng.normal(size=D))


@pytest.fixture(scope="module")
def x() -> Floats:
    return draw(np.random.default_rng(0))


def covariance(theta: FactorModel) -> Floats:
    """C = cov[x], shape (R, D, D) (PRML 12.36, 12.65)."""
    noise = np.stack([np.diag(psi) for psi in theta.psi])
    return np.asarray(np.einsum("rdm,rem->rde", theta.W, theta.W) + noise)


def log_likelihood(theta: FactorModel, x: Floats) -> Floats:
    """Of all data under each model, by scipy, shape (R,)."""
    pairs = zip(theta.mu, covariance(theta), strict=True)
    return np.array([stats.multivariate_normal(mu, C).logpdf(x).sum() for mu, C in pairs])


def ppca_closed_form(x: Floats, n_factors: int) -> FactorModel:
    """The global maximum of the likelihood of probabilistic PCA (PRML 12.45, 12.46); R = 1."""
    values, U = np.linalg.eigh(np.cov(x.T, bias=True))  # ascending
    rest = len(values) - n_factors
    sigma2 = values[:rest].mean()
    W = U[:, rest:] * np.sqrt(values[rest:] - sigma2)
    return FactorModel(x.mean(0)[None], W[None], np.full((1, len(values)), sigma2))


def test_one_step_is_two_regressions_on_the_expected_factors(x: Floats) -> None:
    """The objective by scipy; the posterior of the factors by conditioning their joint Gaussian."""
    models = random_start(x, 3, 4, np.random.default_rng(1))
    fit = fit_factors(x, models, tol=-np.inf, max_iter=1)
    assert_allclose(fit.objective[:, 0], log_likelihood(models, x), rtol=1e-11)
    centred = x - x.mean(0)
    for r, C in enumerate(covariance(models)):
        gain = np.linalg.solve(C, models.W[r]).T  # cov[z, x] cov[x]^-1
        z = centred @ gain.T
        zz = z.T @ z + len(x) * (np.eye(3) - gain @ models.W[r])
        W = np.linalg.solve(zz, z.T @ centred).T
        assert_allclose(fit.theta.W[r], W, rtol=1e-9, atol=1e-12)
        left = (centred**2 - 2 * centred * (z @ W.T)).mean(0) + np.diag(W @ zz @ W.T) / len(x)
        assert_allclose(fit.theta.psi[r], left, rtol=1e-9)


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
    assert_allclose(ppca_maximum(x, 2), log_likelihood(exact, x)[0], rtol=1e-12)
    assert_allclose(fit.theta.psi[:, 0], exact.psi[0, 0], rtol=1e-5)
    assert_allclose(covariance(fit.theta), covariance(exact).repeat(3, 0), rtol=0, atol=1e-4)
    climbed = fit_factors(x, exact, isotropic=True, tol=-np.inf, max_iter=3)
    assert_allclose(climbed.objective[0], climbed.objective[0, 0], rtol=1e-13)  # a fixed point


def test_factor_analysis_does_not_notice_units(x: Floats) -> None:
    """PRML 12.2.4: data in other units, and the model in them."""
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
    gain = np.linalg.solve(covariance(model)[0], model.W[0]).T
    mean = (x - model.mu[0]) @ gain.T
    assert_allclose(passed.filtered.mean, mean, rtol=1e-9, atol=1e-11)


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


def test_it_ends_by_default_after_so_many_steps_or_with_a_gain_so_small(x: Floats) -> None:
    """A thousand steps, or the first gain of no more than 1e-8."""
    start = random_start(x, 1, 1, np.random.default_rng(12))
    assert fit_factors(x, start, tol=-np.inf).iterations.tolist() == [1000]
    gains = np.diff(fit_factors(x, start).objective[0])
    assert gains[-1] <= 1e-8 < gains[-2]
