"""Variational Bernoulli mixtures against draws from q, a single component, and random changes."""

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import beta, dirichlet

from bythebook.models.approximation import variational_bernoulli as vb
from bythebook.models.approximation.variational_bernoulli import Prior, VariationalBernoulli
from bythebook.models.types import Floats

PRIOR = Prior(0.8, 1.5)


@pytest.fixture(name="X")
def make_data() -> Floats:
    rng = np.random.default_rng(0)
    return (rng.random((2, 7, 3)) < 0.6).astype(float)


def test_one_component_is_counting(X: Floats) -> None:
    fit = vb.fit(X, np.ones((2, 7, 1)), PRIOR)
    ones = X.sum(1)
    exact = (betaln(1.5 + ones, 1.5 + 7 - ones) - betaln(1.5, 1.5)).sum(1)
    np.testing.assert_allclose(fit.final, exact)


def test_the_bound_is_a_mean_over_draws_from_q(X: Floats) -> None:
    rng = np.random.default_rng(1)
    r = rng.dirichlet(np.ones(2), (1, 7))
    q = VariationalBernoulli(
        rng.gamma(3, 1, (1, 2)), rng.gamma(3, 1, (1, 2, 3)), rng.gamma(3, 1, (1, 2, 3)), X[:1]
    )
    S = 20_000
    pi, mu = rng.dirichlet(q.alpha[0], S), rng.beta(q.a[0], q.b[0], (S, 2, 3))
    z = (rng.random((S, 7)) > r[0, :, 0]).astype(int)
    chosen = mu[np.arange(S)[:, None], z]  # (S, 7, 3)
    log_p = np.log(np.where(X[0] == 1, chosen, 1 - chosen)).sum((1, 2))
    log_p += np.log(pi[np.arange(S)[:, None], z]).sum(1)
    log_p += dirichlet([0.8, 0.8]).logpdf(pi.T) + beta(1.5, 1.5).logpdf(mu).sum((1, 2))
    log_q = np.log(r[0][np.arange(7), z]).sum(1) + dirichlet(q.alpha[0]).logpdf(pi.T)
    log_q += beta(q.a[0], q.b[0]).logpdf(mu).sum((1, 2))
    drawn = log_p - log_q
    assert abs(vb.free_energy(r, q, PRIOR)[0] - drawn.mean()) < 4 * drawn.std() / np.sqrt(S)


def test_updates_raise_the_bound(X: Floats) -> None:
    rng = np.random.default_rng(2)
    start = rng.dirichlet(np.ones(3), (2, 7))
    fit = vb.fit(X, start, PRIOR, tol=0)
    assert np.nanmin(np.diff(fit.objective)) > -1e-12
