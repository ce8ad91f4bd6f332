"""The six examples: as many objectives as restarts, from different starts to higher values."""

import numpy as np
import pytest
from hmmlearn.hmm import CategoricalHMM
from scipy.special import logsumexp
from scipy.stats import bernoulli, multivariate_normal

from bythebook.models.chains.baum_welch_starts import random_categorical
from bythebook.models.chains.casino import book_game
from bythebook.models.clustering import bernoulli_mixture
from bythebook.models.clustering.gaussian_mixture_starts import start_at_points
from bythebook.models.datasets import load
from bythebook.models.em_examples import EXAMPLES
from bythebook.models.latent import factor_analysis
from bythebook.models.state_space import lds_em
from bythebook.models.state_space.kalman import kalman_filter


@pytest.mark.parametrize("name", EXAMPLES)
def test_objectives_of_every_restart(name):
    objective = EXAMPLES[name](3, 5, np.random.default_rng(1))
    assert objective.shape == (3, 6)
    assert len(np.unique(objective[:, 0])) == 3
    assert (objective[:, -1] > objective[:, 0]).all()


def worth_of_starts(name, rng):
    """The log likelihood of an example's starts from the same stream, by other libraries."""
    if name == "mixture":
        X = load("old-faithful").matrix
        start = start_at_points(X, 2, rng, 3)
        parts = [
            [np.log(p) + multivariate_normal(m, S).logpdf(X) for p, m, S in zip(*t, strict=True)]
            for t in zip(*start, strict=True)
        ]
        return logsumexp(parts, axis=1).sum(1)
    if name in ("factors", "ppca"):
        X = load("pen-digits").matrix[:, :16]
        start = factor_analysis.random_start(X, 2, 3, rng)
        level = lambda psi: np.full(16, psi.mean()) if name == "ppca" else psi  # noqa: E731
        return [
            multivariate_normal(mu, W @ W.T + np.diag(level(psi))).logpdf(X).sum()
            for mu, W, psi in zip(*start, strict=True)
        ]
    if name == "bernoulli":
        X = load("optical-digits-binary").matrix
        start = bernoulli_mixture.start_at_random(64, 3, rng, 3)
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
    x = load("nile").columns["flow"][:, None]
    start = lds_em.random_start(x, 2, 3, rng)
    return kalman_filter(start, x).log_likelihood


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_first_objective_is_the_likelihood_of_the_start(name):
    found = EXAMPLES[name](3, 1, np.random.default_rng(5))[:, 0]
    np.testing.assert_allclose(found, worth_of_starts(name, np.random.default_rng(5)), rtol=1e-9)


def test_ppca_climbs_to_its_maximum_on_the_same_data() -> None:
    ends = EXAMPLES["ppca"](3, 2000, np.random.default_rng(7))
    known = factor_analysis.ppca_maximum(load("pen-digits").matrix[:, :16], 2)
    assert np.nanmax(ends) <= known + 1e-9 * abs(known)
    np.testing.assert_allclose(np.nanmax(ends, axis=1), known, rtol=1e-7)
