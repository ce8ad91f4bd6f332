"""Evidences of tiny mixtures against quadrature, draws from the prior, and each other."""

import numpy as np
import pytest
from scipy.special import logsumexp

from bythebook.models.approximation.variational_bernoulli import Prior
from bythebook.models.clustering import bernoulli_evidence as exact
from bythebook.models.clustering import bernoulli_mixture
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
