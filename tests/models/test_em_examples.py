"""The six examples: as many objectives as restarts, from different starts to higher values."""

import numpy as np
import pytest
from hmmlearn.hmm import CategoricalHMM
from scipy.special import logsumexp
from scipy.stats import bernoulli, multivariate_normal

from models.chains.baum_welch_starts import random_categorical
from models.chains.casino import book_game
from models.clustering import bernoulli_mixture
from models.clustering.gaussian_mixture_starts import start_at_points
from models.em_examples import EXAMPLES, maximum_of_ppca
from models.latent import factor_analysis
from models.state_space import lds_em
from models.state_space.kalman import LDS, kalman_filter, simulate


@pytest.mark.parametrize("name", EXAMPLES)
def test_objectives_of_every_restart(name):
    objective = EXAMPLES[name](3, 5, np.random.default_rng(1))
    assert objective.shape == (3, 6)
    assert len(np.unique(objective[:, 0])) == 3
    assert (objective[:, -1] > objective[:, 0]).all()


def redrawn(name, rng):
    """The data of an example from the same stream, and the log likelihood of its starts."""
    if name == "mixture":
        middle = np.repeat([[0, 0], [3, 0], [1.5, 3]], 60, axis=0)
        X = middle + rng.standard_normal((180, 2))
        start = start_at_points(X, 3, rng, 3)
        parts = [
            [np.log(p) + multivariate_normal(m, S).logpdf(X) for p, m, S in zip(*t, strict=True)]
            for t in zip(*start, strict=True)
        ]
        return logsumexp(parts, axis=1).sum(1)
    if name in ("factors", "ppca"):
        W, sd = rng.standard_normal((8, 2)), rng.uniform(0.3, 1.0, 8)
        X = rng.standard_normal((200, 2)) @ W.T + sd * rng.standard_normal((200, 8))
        start = factor_analysis.random_start(X, 2, 3, rng)
        level = lambda psi: np.full(8, psi.mean()) if name == "ppca" else psi  # noqa: E731
        return [
            multivariate_normal(mu, W @ W.T + np.diag(level(psi))).logpdf(X).sum()
            for mu, W, psi in zip(*start, strict=True)
        ]
    if name == "bernoulli":
        means = rng.uniform(0.05, 0.95, (3, 12))
        X = rng.random((200, 12)) < means[rng.integers(3, size=200)]
        start = bernoulli_mixture.start_at_random(12, 3, rng, 3)
        terms = [bernoulli.logpmf(X[:, None], mu).sum(2) for mu in start.mu]
        return logsumexp(terms + np.log(start.pi)[:, None], axis=2).sum(1)
    if name == "hmm":
        start = random_categorical(2, 6, 3, rng)
        models = (CategoricalHMM(2, algorithm="scaling") for _ in range(3))
        values = []
        for model, pi, A, B in zip(models, *start[:3], strict=True):
            model.n_features = 6
            model.startprob_, model.transmat_, model.emissionprob_ = pi, A, B
            values.append(model.score(book_game().rolls[:, None]))
        return values
    rotation = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    C = rng.standard_normal((3, 2))
    system = LDS(0.98 * rotation, np.eye(2), C, 0.5 * np.eye(3), np.zeros(2), np.eye(2))
    _, x = simulate(system, 100, rng)
    start = lds_em.random_start(x, 2, 3, rng)
    return kalman_filter(start, x).log_likelihood


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_first_objective_is_the_likelihood_of_the_data_as_they_are_described(name):
    found = EXAMPLES[name](3, 1, np.random.default_rng(5))[:, 0]
    np.testing.assert_allclose(found, redrawn(name, np.random.default_rng(5)), rtol=1e-9)


def test_ppca_climbs_to_its_maximum_on_the_same_data() -> None:
    ends = EXAMPLES["ppca"](3, 2000, np.random.default_rng(7))
    known = maximum_of_ppca(np.random.default_rng(7))
    assert np.nanmax(ends) <= known + 1e-9 * abs(known)
    np.testing.assert_allclose(np.nanmax(ends, axis=1), known, rtol=1e-7)
