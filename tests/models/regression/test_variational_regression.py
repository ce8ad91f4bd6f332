"""The bound against its definition by sampling-free integration, the factors against (10.100)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp
from scipy.stats import gamma, multivariate_normal

from bythebook.models.regression.evidence import search, shared_log_evidence, summary
from bythebook.models.regression.variational_regression import fit, log_evidence
from bythebook.models.types import Floats

BETA = 1 / 0.09


def cubic_sets(n_sets: int, order: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (n_sets, 8))
    t = 0.3 * x**3 + 0.5 * x**2 - x + rng.normal(0, 0.3, x.shape)
    return x[..., None] ** np.arange(order + 1), t


def moments(Phi: Floats, t: Floats, alpha: float) -> tuple[Floats, Floats]:
    """m_N and S_N as the book writes them (10.100, 10.101)."""
    S = np.asarray(np.linalg.inv(alpha * np.eye(Phi.shape[1]) + BETA * Phi.T @ Phi), dtype=float)
    return BETA * S @ Phi.T @ t, S


def bound_by_definition(Phi: Floats, t: Floats, a: float, b: float, a0: float, b0: float) -> float:
    """E_q[ln p(t, w, alpha)] - E_q[ln q]: Gaussian moments, alpha by numerical integration."""
    N, D = Phi.shape
    m, S = moments(Phi, t, a / b)
    w2 = m @ m + np.trace(S)
    misfit = np.sum((t - Phi @ m) ** 2) + np.trace(Phi.T @ Phi @ S)
    entropy_w = multivariate_normal(m, S).entropy()
    prior, q = gamma(a0, scale=1 / b0), gamma(a, scale=1 / b)

    def over_alpha(alpha: float) -> float:
        prior_w = -D / 2 * np.log(2 * np.pi / alpha) - alpha / 2 * w2
        log_ratio = prior.logpdf(alpha) - q.logpdf(alpha)
        return float(q.pdf(alpha) * (prior_w + log_ratio))

    expected, _ = quad(over_alpha, 0, q.ppf(1 - 1e-14), limit=500)
    likelihood = N / 2 * np.log(BETA / (2 * np.pi)) - BETA / 2 * misfit
    return float(likelihood + expected + entropy_w)


@pytest.mark.parametrize("order", [0, 3, 9])  # one weight, a few, more weights than points
def test_the_bound_is_its_definition_at_the_end_of_the_iterations(order: int) -> None:
    Phi, t = cubic_sets(3, order)
    found = fit(Phi, t, BETA, a0=1.5, b0=0.7)
    assert found.converged.all()
    for i in range(3):
        expected = bound_by_definition(Phi[i], t[i], found.a, found.b[i], 1.5, 0.7)
        assert_allclose(found.bound[i], expected, rtol=1e-9)


def test_the_factors_are_a_fixed_point_of_the_books_equations() -> None:
    Phi, t = cubic_sets(3, 5)
    found = fit(Phi, t, BETA)  # a_0 = b_0 = 0
    assert found.a == 3
    for i in range(3):
        m, S = moments(Phi[i], t[i], found.a / found.b[i])
        assert_allclose(found.b[i], (m @ m + np.trace(S)) / 2, rtol=1e-4)  # (10.95)


def test_the_bound_never_decreases() -> None:
    for order in range(10):
        found = fit(*cubic_sets(20, order), BETA)
        rises = np.diff(found.history, axis=-1)
        assert np.nanmin(rises) > -1e-9
        assert np.nanmax(rises) > 1e-3  # it did move


@pytest.mark.parametrize("order", [0, 1, 3, 7])
def test_the_bound_lies_just_below_the_evidence(order: int) -> None:
    Phi, t = cubic_sets(5, order)
    gap = log_evidence(Phi, t, BETA, 0.5, 0.5) - fit(Phi, t, BETA, 0.5, 0.5).bound
    assert np.all(gap > 0)
    assert np.all(gap < 1)


def test_the_evidence_is_the_integral_over_alpha() -> None:
    Phi, t = cubic_sets(1, 2)

    def density(alpha: float) -> float:
        cov = np.eye(8) / BETA + Phi[0] @ Phi[0].T / alpha
        return float(
            multivariate_normal(np.zeros(8), cov).pdf(t[0]) * gamma(2, scale=0.5).pdf(alpha)
        )

    expected = np.log(quad(density, 0, np.inf, epsabs=0, limit=400)[0])
    assert_allclose(log_evidence(Phi, t, BETA, 2.0, 2.0)[0], expected, rtol=1e-8)


def test_a_batch_is_its_data_sets_one_by_one() -> None:
    Phi, t = cubic_sets(6, 4)
    together = fit(Phi, t, BETA)
    for i in range(6):
        alone = fit(Phi[i : i + 1], t[i : i + 1], BETA)
        assert_allclose(together.bound[i], alone.bound[0], rtol=1e-12)
        assert_allclose(together.b[i], alone.b[0], rtol=1e-12)


def test_an_improper_prior_has_no_constant() -> None:
    """With a_0 = 0 or b_0 = 0 there is none to add; the bound is then a limit of proper priors."""
    Phi, t = cubic_sets(2, 3)
    for a0, b0 in ((0.0, 0.5), (0.5, 0.0), (0.0, 0.0)):
        found = fit(Phi, t, BETA, a0=a0, b0=b0).bound
        near_a, near_b = max(a0, 1e-9), max(b0, 1e-9)
        proper = fit(Phi, t, BETA, a0=near_a, b0=near_b).bound
        constant = near_a * np.log(near_b) - gammaln(near_a)
        assert_allclose(found, proper - constant, rtol=1e-6)


def test_a_factor_for_the_noise_too_ends_at_the_evidence_s_maximum() -> None:
    rng = np.random.default_rng(6)
    x = rng.uniform(-1, 1, (2, 30))
    Phi = x[..., None] ** np.arange(4)
    t = 1 - x + 0.4 * rng.standard_normal((2, 30))
    free = fit(Phi, t, None, tol=1e-14, max_iter=20_000)
    assert np.nanmin(np.diff(free.history)) > -1e-9
    for r in range(2):
        alpha, beta, _ = search(summary(Phi[r], t[r]))
        assert free.a / free.b[r] == pytest.approx(alpha, rel=1e-3)
        assert free.beta[r] == pytest.approx(beta, rel=1e-3)


def test_with_noise_unknown_the_bound_is_below_the_evidence_by_quadrature() -> None:
    rng = np.random.default_rng(7)
    Phi = rng.standard_normal((1, 8, 2))
    t = Phi[..., 0] + 0.5 * rng.standard_normal((1, 8))
    bound = fit(Phi, t, None, 2.0, 1.0, 3.0, 0.5).history
    u = np.linspace(-12, 12, 401)
    a, b = np.meshgrid(u, u, indexing="ij")
    log_p = shared_log_evidence(summary(Phi[0], t[0]), a, b)
    log_p += gamma(2, scale=1).logpdf(np.exp(a)) + a + gamma(3, scale=2).logpdf(np.exp(b)) + b
    evidence = logsumexp(log_p) + 2 * np.log(u[1] - u[0])
    assert evidence - 0.5 < np.nanmax(bound) < evidence
