"""An inferred precision: bound by sampling, evidence by importance, monotone updates."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import expit

from bythebook.models.approximation import inferred_precision as ip
from bythebook.models.approximation import variational_logistic as vl

RNG = np.random.default_rng(0)
X = np.stack([np.ones(10), RNG.normal(size=10)], axis=-1)
T = (RNG.random(10) < expit(2 * X[:, 1])).astype(float)
PRIOR = 2.0, 1.5


def test_the_evidence_is_the_mean_likelihood_under_the_prior() -> None:
    alpha = RNG.gamma(2.0, 1 / 1.5, 50_000)
    w = RNG.normal(size=(50_000, 2)) / np.sqrt(alpha)[:, None]
    a = w @ X.T
    likelihood = np.exp((T * a - np.logaddexp(0, a)).sum(-1))
    error = likelihood.std() / likelihood.mean() / 50_000**0.5
    assert abs(ip.log_evidence(X, T, PRIOR) - np.log(likelihood.mean())) < 5 * error


def test_the_bound_by_sampling_and_its_climb() -> None:
    path = ip.climb(X, T, PRIOR, 30)
    values = [ip.bound(X, T, PRIOR, q) for q in path]
    assert (np.diff(values) > -1e-10).all()
    q = path[4]
    w = RNG.multivariate_normal(*q.weights, 5_000)
    alpha = RNG.gamma(q.a, 1 / q.b, 5_000)
    a, lam = w @ X.T, np.tanh(q.xi / 2) / (4 * q.xi)
    each = np.log(expit(q.xi)) + a * T - (a + q.xi) / 2 - lam * (a**2 - q.xi**2)
    prior = stats.norm.logpdf(w, 0, alpha[:, None] ** -0.5).sum(-1)
    prior += stats.gamma.logpdf(alpha, 2.0, scale=1 / 1.5)
    log_q = stats.multivariate_normal(*q.weights).logpdf(w)
    log_q += stats.gamma.logpdf(alpha, q.a, scale=1 / q.b)
    terms = each.sum(1) + prior - log_q
    assert abs(terms.mean() - ip.bound(X, T, PRIOR, q)) < 5 * terms.std() / 5_000**0.5
    whole = ip.global_bound(X, T, PRIOR, path[-1])
    assert values[-1] < whole < ip.log_evidence(X, T, PRIOR)


def test_the_expected_square_is_a_trace() -> None:
    q = vl.Weights(np.array([1.0, -2.0]), np.array([[0.5, 0.3], [0.3, 0.7]]))
    assert_allclose(ip.expected_square(q), 1.2 + 5)
