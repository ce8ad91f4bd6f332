"""The bound of variational PPCA checked: by sampling from Q, and a little beside its maximum."""

from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln, xlogy

from models.latent.variational_ppca import Posterior
from models.types import Floats


def sampled_bound(
    Y: Floats, seen: Floats, q: Posterior, S: int, rng: np.random.Generator
) -> Floats:
    """Samples from Q of log p - log Q, whose expectation is the bound, for the first data set."""
    x, w = (
        mu[0] + np.einsum("nij,snj->sni", np.linalg.cholesky(Sigma[0]), noise)
        for mu, Sigma, noise in (
            (mu, Sigma, rng.standard_normal((S, *mu[0].shape)))
            for mu, Sigma in ((q.mu_x, q.Sigma_x), (q.mu_w, q.Sigma_w))
        )
    )
    tau = rng.gamma(q.e[0], 1 / q.f[0], S)
    errors = (seen * (Y - x @ w.swapaxes(1, 2)) ** 2).sum(axis=(1, 2))
    value = seen.sum() / 2 * np.log(tau / (2 * np.pi)) - tau * errors / 2 - tau  # Gamma(1, 1)
    scaled = q.f[0] * tau
    value -= xlogy(q.e[0] - 1, scaled) - scaled - gammaln(q.e[0]) + np.log(q.f[0])  # log Q(tau)
    for v, mu, Sigma in ((x, q.mu_x[0], q.Sigma_x[0]), (w, q.mu_w[0], q.Sigma_w[0])):
        white = np.linalg.solve(np.linalg.cholesky(Sigma), (v - mu)[..., None])
        half_log_det = np.linalg.slogdet(Sigma)[1].sum() / 2
        value += (white**2).sum(axis=(1, 2, 3)) / 2 + half_log_det - (v**2).sum(axis=(1, 2)) / 2
    return np.asarray(value)


def moved(q: Posterior, rng: np.random.Generator) -> Iterator[Posterior]:
    """Posteriors with one factor a little away from where it is."""
    for name in ("mu_x", "mu_w"):
        mu = getattr(q, name)
        for _ in range(5):
            yield q._replace(**{name: mu + 0.01 * rng.standard_normal(mu.shape)})
    for name in ("Sigma_x", "Sigma_w", "e", "f"):
        for scale in (0.95, 1.05):
            yield q._replace(**{name: getattr(q, name) * scale})
