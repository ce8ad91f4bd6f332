"""Checks of the bound of variational PPCA: by sampling from Q, and near its maximum."""

from collections.abc import Iterator

import numpy as np
from scipy.stats import gamma

from bythebook.models.latent.variational_ppca import Posterior
from bythebook.models.probability.gaussian import log_density_1d
from bythebook.models.types import Floats


def sampled_bound(
    Y: Floats, seen: Floats, q: Posterior, S: int, rng: np.random.Generator
) -> Floats:
    """Samples from Q of log p - log Q, whose expectation is the bound, for the first data set."""
    sides = [(q.mu_x[0], q.Sigma_x[0]), (q.mu_w[0], q.Sigma_w[0])]
    noise = [rng.standard_normal((S, *mu.shape)) for mu, _ in sides]
    roots = [np.linalg.cholesky(Sigma) for _, Sigma in sides]
    x, w = (
        mu + np.einsum("nij,snj->sni", root, draw)
        for (mu, _), root, draw in zip(sides, roots, noise, strict=True)
    )
    tau = rng.gamma(q.e[0], 1 / q.f[0], S)
    likelihood = log_density_1d(Y, x @ w.mT, 1 / tau[:, None, None])
    value = (seen * likelihood).sum(axis=(1, 2)) + gamma.logpdf(tau, 1.0)
    value = value - gamma.logpdf(tau, q.e[0], scale=1 / q.f[0])
    for v, root, draw in zip((x, w), roots, noise, strict=True):
        ratio = (draw**2 - v**2).sum(axis=(1, 2)) / 2  # of the prior to the factor, as densities
        value = value + ratio + np.linalg.slogdet(root)[1].sum()
    return np.asarray(value)


def moved(q: Posterior, rng: np.random.Generator) -> Iterator[Posterior]:
    """Posteriors with one factor moved a little."""
    for name in ("mu_x", "mu_w"):
        mu = getattr(q, name)
        for _ in range(5):
            yield q._replace(**{name: mu + 0.01 * rng.standard_normal(mu.shape)})
    for name in ("Sigma_x", "Sigma_w", "e", "f"):
        for scale in (0.95, 1.05):
            yield q._replace(**{name: getattr(q, name) * scale})
