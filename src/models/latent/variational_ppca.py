r"""Probabilistic PCA by variational Bayes, with missing values, for a batch of data sets.

    y_nm ~ N(w_m^T x_n, 1/tau),  x_n ~ N(0, I_D),  w_m ~ N(0, I_D),  tau ~ Gamma(a, b)

    Q = Gamma(tau | e, f) prod_n N(x_n | mu_x, Sigma_x) prod_m N(w_m | mu_w, Sigma_w)

FCML 7.5; 7.6 leaves out missing values (z_nm = 0), the treatment "switches"; 7.6.1 gives the
missing values their own factors, Q(y_nm) = N(<w_m>^T <x_n>, 1/<tau>), the treatment "latent".

7.5.1 and 7.6 print f without the y_nm in the cross term; the bound of 7.5.5 contains it. The text
samples <log tau>, which is digamma(e) - log f.
"""

from typing import Literal, NamedTuple

import numpy as np
from scipy.special import digamma, gammaln

from bythebook.models.convergence import warn_not_converged
from bythebook.models.probability.gaussian import log_density_1d
from bythebook.models.types import Bools, Floats, Ints

Treatment = Literal["switches", "latent"]
_LOG_2PI = float(np.log(2 * np.pi))


class Posterior(NamedTuple):
    """Q for R data sets of N objects with M features and D latent dimensions."""

    mu_x: Floats  # (R, N, D) <x_n>
    Sigma_x: Floats  # (R, N, D, D) cov x_n
    mu_w: Floats  # (R, M, D) <w_m>
    Sigma_w: Floats  # (R, M, D, D) cov w_m
    e: Floats  # (R,) tau ~ Gamma(e, f)
    f: Floats  # (R,)
    y: Floats  # (R, N, M) the data; <y_nm> where missing (zero if switched off)
    y_variance: Floats  # (R, N, M) zero where observed

    @property
    def tau(self) -> Floats:
        """<tau>, shape (R,)."""
        return np.asarray(self.e / self.f)


class VariationalFit(NamedTuple):
    """The final posterior, and the bound after each iteration."""

    q: Posterior
    bound: Floats  # (R, T) after each iteration; NaN after the data set converged
    iterations: Ints  # (R,)


def outer(mu: Floats, Sigma: Floats) -> Floats:
    """Second moment <v v^T> of a Gaussian vector, shape (..., D, D)."""
    return np.asarray(Sigma + mu[..., :, None] * mu[..., None, :])


def _gaussian_factor(
    weights: Floats, y: Floats, mu: Floats, Sigma: Floats, tau: Floats
) -> tuple[Floats, Floats]:
    """The factors of one side from the moments of the other: means, covariances.

    `weights` and `y` have this side's objects on axis 1 and the other's on axis 2.
    """
    D = mu.shape[-1]
    moments = outer(mu, Sigma).reshape(*mu.shape[:2], D * D)
    A = np.eye(D) + tau[:, None, None, None] * (weights @ moments).reshape(*y.shape[:2], D, D)
    new_Sigma = np.linalg.solve(A, np.broadcast_to(np.eye(D), A.shape))  # (7.13)
    first = tau[:, None, None] * ((weights * y) @ mu)
    new_mu = np.linalg.solve(A, first[..., None])[..., 0]  # (7.14)
    return np.asarray(new_mu, dtype=np.float64), np.asarray(new_Sigma, dtype=np.float64)


def expected_square(q: Posterior) -> Floats:
    """<x_n^T <w_m w_m^T> x_n>, shape (R, N, M)."""
    x, w = outer(q.mu_x, q.Sigma_x), outer(q.mu_w, q.Sigma_w)
    flat = x.reshape(*x.shape[:2], -1) @ w.reshape(*w.shape[:2], -1).swapaxes(1, 2)
    return np.asarray(flat)  # Tr(A B) of symmetric matrices


def expected_error(q: Posterior) -> Floats:
    """<(y_nm - w_m^T x_n)^2>, shape (R, N, M)."""
    cross = q.y * (q.mu_x @ q.mu_w.swapaxes(1, 2))
    return np.asarray(q.y**2 + q.y_variance - 2 * cross + expected_square(q))


def bound(q: Posterior, weights: Floats, a: float, b: float) -> Floats:
    """The lower bound of the log evidence, the seven lines of 7.5.5, shape (R,)."""
    tau, log_tau = q.tau, digamma(q.e) - np.log(q.f)
    prior_tau = a * np.log(b) + (a - 1) * log_tau - b * tau - gammaln(a)
    entropy_tau = -(q.e * np.log(q.f) + (q.e - 1) * log_tau - q.f * tau - gammaln(q.e))
    n = weights.sum((1, 2))
    data = n / 2 * (log_tau - _LOG_2PI) - tau / 2 * (weights * expected_error(q)).sum((1, 2))
    hidden = q.y_variance > 0  # missing values with a factor of their own
    log_variance = np.log(np.where(hidden, q.y_variance, 1.0))
    entropy_y = np.where(hidden, (1 + _LOG_2PI + log_variance) / 2, 0.0).sum((1, 2))
    return np.asarray(
        prior_tau
        + entropy_tau
        + data
        + entropy_y
        - divergence(q.mu_x, q.Sigma_x)
        - divergence(q.mu_w, q.Sigma_w)
    )


def divergence(mu: Floats, Sigma: Floats) -> Floats:
    """Sum over objects of KL(N(mu, Sigma) || N(0, I)), shape (R,): two lines of the bound."""
    D = mu.shape[-1]
    trace = np.trace(Sigma, axis1=-2, axis2=-1)
    terms = trace + (mu**2).sum(-1) - D - np.linalg.slogdet(Sigma)[1]
    return np.asarray(terms.sum(-1) / 2)


def fit(
    Y: Floats,
    observed: Floats,
    D: int,
    rng: np.random.Generator,
    *,
    a: float = 1.0,
    b: float = 1.0,
    treatment: Treatment = "switches",
    tol: float = 1e-3,
    max_iter: int = 500,
) -> VariationalFit:
    """Cycle through x, w, tau (and missing y) for data (R, N, M); `observed` is one or zero.

    A data set has converged when its bound gains no more than `tol`; it stays in the batch and is
    iterated until all have converged. Missing values begin at zero.
    """
    R, N, M = Y.shape
    Y = np.where(observed > 0, Y, 0.0)
    latent = treatment == "latent"
    weights = np.ones_like(Y) if latent else np.asarray(observed, dtype=float)
    mu_w = rng.standard_normal((R, M, D))
    unit = np.broadcast_to(np.eye(D), (R, M, D, D))
    none = np.zeros((R, N, D)), np.zeros((R, N, D, D))
    q = Posterior(*none, mu_w, unit, np.full(R, a), np.full(R, b), Y, np.zeros_like(Y))
    history: list[Floats] = []
    iterations = np.full(R, max_iter)
    for iteration in range(1, max_iter + 1):
        mu_x, Sigma_x = _gaussian_factor(weights, q.y, q.mu_w, q.Sigma_w, q.tau)
        q = q._replace(mu_x=mu_x, Sigma_x=Sigma_x)
        other = weights.swapaxes(1, 2), q.y.swapaxes(1, 2)
        mu_w, Sigma_w = _gaussian_factor(*other, q.mu_x, q.Sigma_x, q.tau)
        q = q._replace(mu_w=mu_w, Sigma_w=Sigma_w)
        e = a + weights.sum((1, 2)) / 2
        q = q._replace(e=e, f=b + (weights * expected_error(q)).sum((1, 2)) / 2)  # (7.12)
        if latent:
            y, _ = predict(q)
            missing = observed == 0
            q = q._replace(
                y=np.where(missing, y, Y),
                y_variance=np.where(missing, (1 / q.tau)[:, None, None], 0.0),
            )
        history.append(bound(q, weights, a, b))
        if iteration > 1:
            gain = history[-1] - history[-2]
            iterations[(np.abs(gain) <= tol) & (iterations == max_iter)] = iteration
            if (iterations < max_iter).all():
                break
    warn_not_converged(
        "variational PCA", iterations=max_iter, tol=tol, fits=int((iterations == max_iter).sum())
    )
    path = np.stack(history, axis=1)
    path = np.where(np.arange(1, path.shape[1] + 1) <= iterations[:, None], path, np.nan)
    return VariationalFit(q, path, iterations)


def predict(q: Posterior) -> tuple[Floats, Floats]:
    """Mean and variance of every y_nm under Q (7.6.2), shapes (R, N, M)."""
    mean = q.mu_x @ q.mu_w.swapaxes(1, 2)
    variance = expected_square(q) + (1 / q.tau)[:, None, None] - mean**2
    return mean, np.asarray(variance)


def log_score(Y: Floats, removed: Bools, q: Posterior, treatment: Treatment) -> float:
    """Mean log density of the removed values under the predictive density of the treatment."""
    mean, variance = predict(q)
    if treatment == "latent":  # the factor of a missing value, 7.6.1
        variance = np.broadcast_to((1 / q.tau)[:, None, None], mean.shape)
    return float(log_density_1d(Y[removed], mean[removed], variance[removed]).mean())
