"""Evidences of tiny mixtures against quadrature, draws from the prior, and each other."""

import numpy as np
import pytest
from scipy.special import logsumexp

from bythebook.models.approximation import variational_bernoulli as vb
from bythebook.models.approximation.variational_bernoulli import Prior
from bythebook.models.clustering import bernoulli_evidence as exact
from bythebook.models.clustering import bernoulli_mixture
from bythebook.models.em import take
from bythebook.models.types import Floats

PRIOR = Prior(0.7, 2.0)


@pytest.fixture(name="X")
def make_data() -> Floats:
    return np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])


def test_the_sum_over_assignments_is_a_mean_over_the_prior(X: Floats) -> None:
    log_p = logsumexp(exact.log_joint(exact.all_assignments(X, 2), PRIOR))
    rng = np.random.default_rng(0)
    S = 40_000
    pi, mu = rng.dirichlet([0.7, 0.7], S), rng.beta(2, 2, (S, 2, 2))
    theta = bernoulli_mixture.BernoulliMixture(pi, mu)
    likelihood = np.exp(bernoulli_mixture.log_density(X, theta).sum(1))
    error = likelihood.std() / likelihood.mean() / np.sqrt(S)
    assert abs(np.log(likelihood.mean()) - log_p) < 4 * error


def test_the_bound_and_the_divergence_add_up(X: Floats) -> None:
    start = np.random.default_rng(1).dirichlet(np.ones(3), (1, 4))
    fit = vb.fit(X[None], start, PRIOR, tol=-np.inf, max_iter=3)
    counts = exact.all_assignments(X, 3)
    log_p = exact.log_joint(counts, PRIOR)
    gap = exact.divergence(counts, log_p, take(fit.theta, [0]), PRIOR)
    assert fit.final[0] + gap == pytest.approx(logsumexp(log_p))


def test_annealing_slowly_finds_the_evidence(X: Floats) -> None:
    log_p = logsumexp(exact.log_joint(exact.all_assignments(X, 2), PRIOR))
    runs = exact.annealed(np.repeat(X[None], 300, 0), 2, PRIOR, 60, np.random.default_rng(2))
    weights = np.exp(runs - log_p)
    assert abs(weights.mean() - 1) < 4 * weights.std() / np.sqrt(300)


def test_em_ends_where_the_other_em_does(X: Floats) -> None:
    start = np.random.default_rng(3).dirichlet(np.ones(2), (1, 4))
    ours = exact.max_log_likelihood(X[None], start)
    N = start.sum(1)
    theta = bernoulli_mixture.BernoulliMixture(start.mean(1), (start.mT @ X) / N[..., None])
    theirs = bernoulli_mixture.fit(X, theta)
    assert ours[0] == pytest.approx(theirs.final[0])
    assert exact.bic(ours, 2, 4, 2)[0] == pytest.approx(ours[0] - 2.5 * np.log(4))


def test_searches_find_the_closed_forms() -> None:
    bounds = np.array([0.0, -1.0, 0.5])
    found = exact.search_model_probabilities(bounds)
    np.testing.assert_allclose(found, np.exp(bounds) / np.exp(bounds).sum(), atol=1e-6)
    log_p = np.array([-1.0, -2.0, -4.0])
    best = exact.best_assignment_factor(log_p, 0.3, -1.0, np.random.default_rng(4))
    np.testing.assert_allclose(best, np.exp(log_p) / np.exp(log_p).sum(), atol=1e-6)
