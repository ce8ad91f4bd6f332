"""Beliefs over models against Bayes' rule by hand, and densities against SciPy."""

import numpy as np
import pytest
from scipy.stats import cauchy, norm

from bythebook.models.probability import model_posterior as models


def test_densities_are_scipy_s() -> None:
    x = np.array([-3.0, 0.1, 2.0])
    for name, family in (("gaussians", norm), ("cauchys", cauchy)):
        right = (family(-2).pdf(x) + family(2).pdf(x)) / 2
        np.testing.assert_allclose(np.exp(models.log_density(name, x)), right)
    assert np.exp(models.log_density("coin 0.3", np.array([1, 0]))) == pytest.approx([0.3, 0.7])


def test_posterior_is_prior_times_likelihood() -> None:
    p = np.array([[0.2, 0.5], [0.9, 0.3], [0.4, 0.4]])
    found = models.posterior(np.log(p))
    for n in range(3):
        product = p[: n + 1].prod(0)
        np.testing.assert_allclose(found[n], product / product.sum())


def test_weights_of_a_mixture_maximise_its_likelihood() -> None:
    rng = np.random.default_rng(0)
    x = models.sample("both", ["coin 0.1", "coin 0.9"], (1, 400), rng)
    log_p = np.stack([models.log_density(f"coin {p}", x) for p in (0.1, 0.9)], axis=-1)
    pi = models.mixture_weights(log_p)[0]
    # The mixture is a coin, and the likeliest coin falls as often as the data do.
    assert pi @ [0.1, 0.9] == pytest.approx(x.mean(), abs=1e-5)


def test_samples_have_their_model_s_moments() -> None:
    rng = np.random.default_rng(1)
    x = models.sample("gaussians", ["gaussians"], (20_000,), rng)
    assert (x.mean(), x.var()) == (pytest.approx(0, abs=0.1), pytest.approx(5, abs=0.2))
    wide = models.sample("cauchys", ["cauchys"], (20_000,), rng)
    assert np.mean(np.abs(wide) > 20) == pytest.approx(2 * cauchy(2).sf(20), rel=0.3)
