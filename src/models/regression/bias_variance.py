r"""Bias, variance and noise of linear-in-parameter fits; the spread of estimates.

Data t = h(x) + noise of variance sigma^2 are fitted by y(x; D) = w^T phi(x), w minimising
|t - Phi w|^2 + lambda |w|^2. The expected squared loss at new data has three parts (notes 2.2.2):

    E[(y(x; D) - t)^2] = (E_D[y(x; D)] - h(x))^2 + var_D[y(x; D)] + sigma^2             (2.17)
                                bias^2                 variance       noise

averaged over x: the rows of `Phi_grid` are points of the input space, all of equal weight.

A fit is linear in t. With Phi = U diag(s) V^T, predictions are Phi_grid V diag(s / (s^2 + lambda))
U^T t, so one decomposition serves every lambda and every vector t, and for a fixed design the
moments over all data sets are known without drawing any. FCML 1.6 penalises N lambda |w|^2.

The moments of the estimates themselves are those of FCML 2.9-2.10.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from bythebook.models.types import Floats

_BLOCK = 4_000_000  # noise values drawn at a time: 32 MB, for any number of data sets


class Decomposition(NamedTuple):
    """Expected squared loss in its three parts, for each of (...) models."""

    bias2: Floats  # (...) E_x[(E_D[y(x; D)] - h(x))^2]
    variance: Floats  # (...) E_x[var_D[y(x; D)]]
    noise: float  # E[(h(x) - t)^2] = sigma^2
    mean: Floats  # (..., G) E_D[y(x; D)] on the grid

    @property
    def expected_loss(self) -> Floats:
        """E_D E_{x,t}[(y(x; D) - t)^2], shape (...)."""
        return np.asarray(self.bias2 + self.variance + self.noise)


class Estimates(NamedTuple):
    """Maximum likelihood estimates from S data sets."""

    w: Floats  # (S, D) weights
    sigma2: Floats  # (S,) noise variance, the mean squared residual


class Simulated(NamedTuple):
    """Estimates from S data sets whose true weights are known."""

    w: Floats  # (S, D) weights
    sigma2: Floats  # (S,) noise variance, the mean squared residual
    true_sigma2: Floats  # (S,) the mean squared error about the true curve


class Averages(NamedTuple):
    """Averages over S data sets, for each of R repetitions of the experiment."""

    w: Floats  # (R, D) mean of the S estimates
    covariance: Floats  # (R, D, D) their covariance, divisor S
    sigma2: Floats  # (R,) mean of the S estimates of the noise variance


def ridge_predictions(
    Phi: Floats, t: Floats, Phi_grid: Floats, lambdas: Floats | float = 0.0
) -> Floats:
    """Predictions y(x; D), shape (K, ..., G), of K penalties and any number (...) of data sets.

    Phi has shape (N, M), or (..., N, M) where every data set has its own inputs; t (..., N);
    Phi_grid (G, M). At lambda = 0 a direction that the inputs do not determine to machine precision
    gets weight zero: scale the inputs of high powers, or good directions are lost as well.
    """
    U, shrink, basis = _factors(Phi, Phi_grid, lambdas, t.ndim)
    c = shrink * np.vecmat(t, U)
    return np.asarray(c @ basis if basis.ndim == 2 else np.vecmat(c, basis))


def gaussian_basis(x: Floats, n_gaussians: int, width: float) -> Floats:
    """A constant and Gaussian bumps, centres equally spaced on [0, 1]; x (...), result (..., M)."""
    centres = np.linspace(0, 1, n_gaussians)
    bumps = np.exp(-0.5 * ((x[..., np.newaxis] - centres) / width) ** 2)
    return np.concatenate([np.ones((*x.shape, 1)), bumps], axis=-1)


def decompose(predictions: Floats, h: Floats, sigma2: float) -> Decomposition:
    """Bias and variance over the L data sets of `predictions`, shape (..., L, G); h (G,).

    The L data sets are treated as the whole population (divisor L), so that bias2 + variance is
    exactly the mean squared error about h. As an estimate bias2 is too large by variance / L.
    """
    mean = predictions.mean(-2)
    spread = predictions - mean[..., np.newaxis, :]
    return Decomposition(
        bias2=((mean - h) ** 2).mean(-1),
        variance=np.vecdot(spread, spread).mean(-1) / spread.shape[-1],
        noise=sigma2,
        mean=mean,
    )


def ridge_decomposition(
    Phi: Floats,
    h: Floats,
    Phi_grid: Floats,
    h_grid: Floats,
    sigma2: float,
    lambdas: Floats | float = 0.0,
) -> Decomposition:
    """The exact decomposition for fixed inputs, E_D being over the noise in t; (...) = (K,).

    h (N,) and h_grid (G,) are the true function at the rows of Phi (N, M) and Phi_grid (G, M).
    """
    U, shrink, basis = _factors(Phi, Phi_grid, lambdas, 1)
    mean = (shrink * (h @ U)) @ basis
    return Decomposition(
        bias2=((mean - h_grid) ** 2).mean(-1),
        variance=sigma2 * (shrink**2 @ basis**2).mean(-1),
        noise=sigma2,
        mean=mean,
    )


def joined(parts: Iterable[Decomposition]) -> Decomposition:
    """Decompositions of several models, one after the other along the first axis."""
    first, *rest = parts
    together = [
        np.concatenate([getattr(one, name) for one in (first, *rest)])
        for name in ("bias2", "variance", "mean")
    ]
    return Decomposition(together[0], together[1], first.noise, together[2])


class NewTargets(NamedTuple):
    """The loss of identity (2.17), on new targets t for each of L data sets."""

    loss: Floats  # (...) of the fits
    truth_loss: float  # of h itself


def new_targets(
    predictions: Floats, h: Floats, sigma: float, rng: np.random.Generator
) -> NewTargets:
    """Losses of predictions (..., L, G) at one new target for every data set and place."""
    e = sigma * rng.standard_normal(predictions.shape[-2:])
    loss = ((predictions - h - e) ** 2).mean(-1)
    return NewTargets(loss.mean(-1), float((e**2).mean()))


def _factors(
    Phi: Floats, Phi_grid: Floats, lambdas: Floats | float, ndim: int
) -> tuple[Floats, Floats, Floats]:
    """U (..., N, r); s / (s^2 + lambda), shape (K, ..., r) for t of `ndim` axes; V^T Phi_grid^T."""
    U, s, Vt = np.linalg.svd(Phi, full_matrices=False)
    penalty = np.reshape(lambdas, (-1, *(1,) * ndim))
    determined = s > s.max(-1, keepdims=True) * max(Phi.shape[-2:]) * np.finfo(np.float64).eps
    shrink = s / np.where(determined, s**2 + penalty, np.inf)
    return U, shrink, Vt @ Phi_grid.T


def least_squares(X: Floats, t: Floats) -> Estimates:
    """Estimates from S data sets with inputs X (N, D) and responses t (S, N)."""
    Q, R = np.linalg.qr(X)
    c = t @ Q
    residual = t - c @ Q.T
    return Estimates(linalg.solve_triangular(R, c.T).T, (residual**2).mean(-1))  # (2.35)


def simulate_estimates(
    X: Floats, w: Floats, sigma2: float, n_sets: int, rng: np.random.Generator
) -> Simulated:
    """Draw t = X w + noise n_sets times for one X (N, D), and estimate w and sigma^2 (2.39)."""
    rows = max(1, _BLOCK // len(X))
    parts = []
    for begin in range(0, n_sets, rows):
        noise = rng.standard_normal((min(rows, n_sets - begin), len(X)))
        t = X @ w + np.sqrt(sigma2) * noise
        parts.append((*least_squares(X, t), ((t - X @ w) ** 2).mean(-1)))
    return Simulated(*(np.concatenate(field) for field in zip(*parts, strict=True)))


def simulate_averages(
    X: Floats, w: Floats, sigma2: float, n_sets: int, rng: np.random.Generator
) -> Averages:
    """Averages over n_sets data sets for each of R inputs X (R, N, D), without drawing the data.

    With X = Q R, least squares depends on t through Q^T t and the residual alone. They are
    independent: the first is normal, the square of the second is chi-squared with N - D degrees of
    freedom, and both add up over data sets.
    """
    n_repeats, N, D = X.shape
    root = np.linalg.qr(X, mode="r")  # (R, D, D)
    rows = max(1, _BLOCK // (n_sets * D))
    means, covariances = [], []
    for begin in range(0, n_repeats, rows):
        z = rng.standard_normal((min(rows, n_repeats - begin), n_sets, D))
        centre = z.mean(1)
        means.append(centre)
        covariances.append(z.mT @ z / n_sets - centre[:, :, np.newaxis] * centre[:, np.newaxis])
    mean = np.linalg.solve(root, np.concatenate(means)[..., np.newaxis])[..., 0]
    half = np.linalg.solve(root, np.concatenate(covariances))
    spread = np.linalg.solve(root, half.mT)
    noise = rng.chisquare(n_sets * (N - D), size=n_repeats) / (n_sets * N)
    return Averages(w + np.sqrt(sigma2) * mean, sigma2 * spread, sigma2 * noise)


def estimate_covariance(X: Floats, sigma2: float) -> Floats:
    """cov[w-hat] = sigma^2 (X^T X)^-1, the inverse Fisher information, shape (..., D, D) (2.45)."""
    root = np.linalg.solve(np.linalg.qr(X, mode="r"), np.eye(X.shape[-1]))
    return np.asarray(sigma2 * root @ root.mT)


def share_between(fits: Floats, truth: Floats, k: int) -> float:
    """The share of groups of k fits (S, G) that bracket the truth (G,) everywhere."""
    groups = fits[: len(fits) // k * k].reshape(-1, k, fits.shape[-1])
    between = (groups.min(1) < truth) & (truth < groups.max(1))
    return float(between.all(-1).mean())
