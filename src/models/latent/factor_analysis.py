r"""Factor analysis and probabilistic PCA: linear-Gaussian latent variables.

    z ~ N(0, I)        x | z ~ N(W z + mu, Psi)        x ~ N(mu, C),  C = W W^T + Psi

with Psi diagonal in factor analysis (PRML 12.2.4; Ghahramani 2.1, who writes Lambda for W) and
Psi = sigma^2 I in probabilistic PCA (PRML 12.2; Ghahramani 2.2). W is known up to a rotation of z.

    E step    E[z_n] = G W^T Psi^-1 (x_n - mu),  cov[z_n] = G = (I + W^T Psi^-1 W)^-1
    M step    W <- [sum (x_n - mu) E[z_n]^T] [sum E[z_n z_n^T]]^-1,
              Psi <- diag(S - W mean(E[z_n] (x_n - mu)^T))

The data enter through their covariance S alone, so an iteration costs the same for any N. The
posterior is corrected where PRML (12.42) prints its covariance as sigma^-2 M.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from bythebook.models.em import EMFit, expectation_maximisation
from bythebook.models.types import Floats


class FactorModel(NamedTuple):
    """R models of D variables by M factors."""

    mu: Floats  # (R, D) E[x]; the sample mean is its maximum likelihood estimate (Exercise 12.9)
    W: Floats  # (R, D, M) loadings: E[x | z] = W z + mu
    psi: Floats  # (R, D) diagonal of Psi = cov[x | z]; all equal in probabilistic PCA


class Moments(NamedTuple):
    """Expected sufficient statistics, averaged over the data; R restarts."""

    zx: Floats  # (R, M, D) E[z_n] (x_n - mu)^T
    zz: Floats  # (R, M, M) E[z_n z_n^T]


def fit_factors(
    x: Floats,
    start: FactorModel,
    *,
    isotropic: bool = False,
    tol: float = 1e-8,
    max_iter: int = 1000,
    snapshots: Collection[int] = (),
) -> EMFit[FactorModel]:
    """Maximise ln p(x | W, Psi) by EM from R starts; `isotropic` is probabilistic PCA.

    x has shape (N, D). A variable that the factors explain entirely drives its psi towards zero (a
    Heywood case); there is no floor, because a floor would break the monotone ascent.
    """
    S = np.atleast_2d(np.cov(x.T, bias=True))
    if isotropic:
        start = start._replace(psi=_levelled(start.psi))

    def e_step(theta: FactorModel) -> tuple[Moments, Floats]:
        G, projection = _posterior_map(theta)
        zx = projection @ S
        moments = Moments(zx, G + zx @ projection.mT)  # (12.55), (12.67)
        return moments, _log_likelihood(theta, G, projection, S, len(x))

    def m_step(theta: FactorModel, q: Moments) -> FactorModel:
        W = np.asarray(np.linalg.solve(q.zz, q.zx).mT, dtype=np.float64)  # (12.56), (12.69)
        psi = np.diagonal(S) - np.einsum("rdm,rmd->rd", W, q.zx)  # (12.70)
        return FactorModel(theta.mu, W, _levelled(psi) if isotropic else psi)  # mean: (12.57)

    return expectation_maximisation(
        start, e_step, m_step, tol=tol, max_iter=max_iter, snapshots=snapshots
    )


def ppca_maximum(x: Floats, n_factors: int) -> float:
    """The largest log likelihood of probabilistic PCA, M < D, from eigenvalues alone.

    The model has the variances of the data along M axes, their mean along the others (12.45-46).
    """
    values = np.linalg.eigvalsh(np.cov(x.T, bias=True))[::-1]
    values[n_factors:] = values[n_factors:].mean()
    return float(-0.5 * len(x) * (np.log(2 * np.pi * values) + 1).sum())  # (12.44)


def random_start(
    x: Floats, n_factors: int, n_restarts: int, rng: np.random.Generator
) -> FactorModel:
    """Gaussian loadings that explain about half of each variance, noise for the other half."""
    variance = x.var(0)
    W = rng.standard_normal((n_restarts, len(variance), n_factors))
    return FactorModel(
        np.tile(x.mean(0), (n_restarts, 1)),
        W * np.sqrt(variance / (2 * n_factors))[:, np.newaxis],
        np.tile(variance / 2, (n_restarts, 1)),
    )


def _posterior_map(theta: FactorModel) -> tuple[Floats, Floats]:
    """G = cov[z | x] (12.68), and the matrix G W^T Psi^-1 that maps x - mu to E[z | x] (12.66)."""
    scaled = (theta.W / theta.psi[..., np.newaxis]).mT
    unit = np.eye(len(scaled[0]))
    G = np.asarray(np.linalg.solve(unit + scaled @ theta.W, unit), dtype=np.float64)
    return G, G @ scaled


def _log_likelihood(theta: FactorModel, G: Floats, projection: Floats, S: Floats, N: int) -> Floats:
    """The log likelihood (12.44) with M x M systems only, S being the mean square about mu.

    ln |C| = ln |Psi| - ln |G|,  C^-1 = Psi^-1 - Psi^-1 W G W^T Psi^-1 (C.7).
    """
    log_det = np.log(theta.psi).sum(-1) - np.linalg.slogdet(G).logabsdet
    spread = np.diagonal(S, axis1=-2, axis2=-1) - np.einsum(
        "rdm,rmd->rd", theta.W, projection @ S
    )  # the diagonal of (I - W G W^T Psi^-1) S
    trace = (spread / theta.psi).sum(-1)
    total: Floats = -0.5 * N * (theta.psi.shape[-1] * np.log(2 * np.pi) + log_det + trace)
    return total


def _levelled(psi: Floats) -> Floats:
    """One noise variance for all variables, their mean."""
    return np.broadcast_to(psi.mean(-1, keepdims=True), psi.shape)
