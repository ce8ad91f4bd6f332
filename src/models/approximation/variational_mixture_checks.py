r"""The bound of a variational mixture term by term, and what it tells of the updates (PRML 10.2.2).

    L = E[ln p(X|Z, mu, Lambda)] + E[ln p(Z|pi)] + E[ln p(pi)] + E[ln p(mu, Lambda)]
        - E[ln q(Z)] - E[ln q(pi)] - E[ln q(mu, Lambda)]                                    (10.70)

for any responsibilities and any parameters of the factors, best or not. The updates know nothing of
these formulas: differences of the sum, and a search that climbs it, say whether they are right.
Parameters are packed into vectors without constraints, u: ln alpha_k, ln beta_k, ln(nu_k - D + 1),
m_k, and the Cholesky factor of W_k^-1 with the logarithm of its diagonal.
"""

from itertools import permutations, product
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp, xlogy
from scipy.stats import dirichlet, entropy, wishart

from models.approximation.variational_mixture import (
    Prior,
    VariationalMixture,
    expected_log_det,
    expected_log_mixing,
    factors,
    log_B,
    log_rho,
)
from models.clustering.gaussian_mixture_starts import weighted_moments
from models.clustering.mixture import posterior
from models.em import take
from models.types import Floats

TERMS = ("p(X)", "p(Z)", "p(pi)", "p(mu, Lambda)", "q(Z)", "q(pi)", "q(mu, Lambda)")
PARAMETERS = ("mixing", "beta", "nu", "m", "W")
_STEP = 1e-3  # of a packed parameter: its square is the error of a difference, about


def terms(X: Floats, r: Floats, theta: VariationalMixture, prior: Prior) -> Floats:
    """The terms as they enter the bound, shape (..., 7), for r (..., N, K)."""
    D = X.shape[1]
    point = prior.alpha0 == 0
    N = r.sum(-2)  # (10.51)
    mean = (r.mT @ X) / np.maximum(N, 1e-300)[..., None]  # (10.52)
    away = X[:, None] - mean[..., None, :, :]  # (..., N, K, D)
    S = np.einsum("...nk,...nkd,...nke->...kde", r, away, away)  # N_k times (10.53)
    W = np.linalg.solve(theta.W_inv, np.broadcast_to(np.eye(D), theta.W_inv.shape))
    log_pi, log_lambda = expected_log_mixing(theta, point=point), expected_log_det(theta)

    def length(v: Floats) -> Floats:
        return np.asarray(np.einsum("...kd,...kde,...ke->...k", v, W, v))

    likelihood = 0.5 * (
        N
        * (log_lambda - D / theta.beta - theta.nu * length(mean - theta.m) - D * np.log(2 * np.pi))
        - theta.nu * np.einsum("...kde,...ked->...k", S, W)
    ).sum(-1)  # (10.71)
    labels = (N * np.where(N > 0, log_pi, 0.0)).sum(-1)  # (10.72)
    trace = np.einsum("de,...ked->...k", prior.W0_inv, W)
    components = 0.5 * (
        D * np.log(prior.beta0 / (2 * np.pi))
        + log_lambda
        - D * prior.beta0 / theta.beta
        - prior.beta0 * theta.nu * length(theta.m - prior.m0)
        + 2 * log_B(prior.W0_inv, np.asarray(prior.nu0))
        + (prior.nu0 - D - 1) * log_lambda
        - theta.nu * trace
    ).sum(-1)  # (10.74)
    wishart_entropy = (
        -log_B(theta.W_inv, theta.nu)
        - 0.5 * (theta.nu - D - 1) * log_lambda
        + 0.5 * theta.nu * D  # (B.82)
    )
    q_components = (
        0.5 * log_lambda + 0.5 * D * np.log(theta.beta / (2 * np.pi)) - 0.5 * D - wishart_entropy
    ).sum(-1)  # (10.77)
    q_labels = xlogy(r, r).sum((-2, -1))  # (10.75)
    K = N.shape[-1]
    coefficients = q_coefficients = np.zeros_like(labels)
    if not point:
        coefficients = (
            gammaln(K * prior.alpha0)
            - K * gammaln(prior.alpha0)
            + (prior.alpha0 - 1) * log_pi.sum(-1)
        )  # (10.73)
        q_coefficients = (
            ((theta.alpha - 1) * log_pi).sum(-1)
            + gammaln(theta.alpha.sum(-1))
            - gammaln(theta.alpha).sum(-1)
        )  # (10.76)
    signed = [likelihood, labels, coefficients, components]
    signed += [-q_labels, -q_coefficients, -q_components]
    return np.stack(np.broadcast_arrays(*signed), axis=-1)


def half_steps(X: Floats, gamma: Floats, prior: Prior, iterations: int) -> Floats:
    """The terms after each half step, (R, 2 iterations, 7): responsibilities, then the factors."""
    theta = factors(weighted_moments(X, gamma), X.mean(0), prior)
    found = []
    for _ in range(iterations):
        r = posterior(log_rho(X, theta, point=prior.alpha0 == 0))[0]
        found.append(terms(X, r, theta, prior))
        theta = factors(weighted_moments(X, r), X.mean(0), prior)
        found.append(terms(X, r, theta, prior))
    return np.stack(found, axis=1)


def pack(theta: VariationalMixture) -> Floats:
    """One mixture (K, ...) as a vector: K each of mixing, beta and nu, then m and W by entries."""
    D = theta.m.shape[-1]
    L = np.linalg.cholesky(theta.W_inv)
    rows, columns = np.tril_indices(D)
    entries = L[..., rows, columns]
    entries = np.where(rows == columns, np.log(np.abs(entries)), entries)
    logs = [np.log(theta.alpha), np.log(theta.beta), np.log(theta.nu - D + 1)]
    return np.concatenate([*logs, theta.m.ravel(), entries.ravel()])


def unpack(u: Floats, K: int, D: int) -> VariationalMixture:
    """The mixtures of vectors u (..., n)."""
    alpha, beta, freedom, m, entries = np.split(u, [K, 2 * K, 3 * K, 3 * K + K * D], axis=-1)
    rows, columns = np.tril_indices(D)
    entries = entries.reshape(*u.shape[:-1], K, len(rows))
    L = np.zeros((*entries.shape[:-1], D, D))
    L[..., rows, columns] = np.where(rows == columns, np.exp(entries), entries)
    return VariationalMixture(
        np.exp(alpha),
        np.exp(beta),
        m.reshape(*u.shape[:-1], K, D),
        L @ L.mT,
        np.exp(freedom) + D - 1,
    )


def places(K: int, D: int) -> dict[str, slice]:
    """Where a packed vector keeps each kind of parameter."""
    ends = np.cumsum([K, K, K, K * D, K * D * (D + 1) // 2])
    starts = [0, *ends[:-1]]
    return {
        name: slice(int(a), int(b)) for name, a, b in zip(PARAMETERS, starts, ends, strict=True)
    }


class Differences(NamedTuple):
    """Central differences of the bound: how far off its maximum, and how curved it is there."""

    slope: dict[str, float]  # the largest Newton step in a packed parameter
    curvature: dict[str, float]  # the largest second difference: negative at a maximum


def differences(
    X: Floats, before: VariationalMixture, r: Floats, theta: VariationalMixture, prior: Prior
) -> Differences:
    """Of one mixture's update from `before`: r (N, K) first, then theta for these r.

    For each kind of parameter with r held, and for r with the parameters before held.
    """
    K, D = theta.m.shape
    u = pack(theta)
    shifted = u + _STEP * np.concatenate([np.eye(len(u)), -np.eye(len(u)), np.zeros((1, len(u)))])
    up, down, here = np.split(
        terms(X, r, unpack(shifted, K, D), prior).sum(-1), [len(u), 2 * len(u)]
    )
    first, second = (up - down) / (2 * _STEP), (up + down - 2 * here) / _STEP**2
    slope, curvature = {}, {}
    for name, place in places(K, D).items():
        slope[name] = float(np.abs(first[place] / second[place]).max())
        curvature[name] = float(second[place].max())
    # The responsibilities that are least sure, each moved a little.
    ranks = np.argsort(r * (1 - r), axis=None)[-20:]
    pairs = list(zip(*np.unravel_index(ranks, r.shape), strict=True))
    moved = np.repeat(r[None], 3 * len(pairs), axis=0)
    for i, (sign, (n, k)) in enumerate(product((1, -1, 0), pairs)):
        weight = r[n] * np.exp(sign * _STEP * (np.arange(K) == k))
        moved[i, n] = weight / weight.sum()
    same = VariationalMixture(*(field[None] for field in before))
    up, down, here = terms(X, moved, same, prior).sum(-1).reshape(3, -1)
    first, second = (up - down) / (2 * _STEP), (up + down - 2 * here) / _STEP**2
    steps = np.divide(first, second, out=np.zeros_like(first), where=second != 0)  # sure ones: 0
    slope["responsibilities"] = float(np.abs(steps).max())
    curvature["responsibilities"] = float(second.max())
    return Differences(slope, curvature)


def searched(
    X: Floats, r: Floats, theta: VariationalMixture, prior: Prior, rng: Generator
) -> dict[str, float]:
    """How far the bound's maximum, searched for from elsewhere, is from the update theta.

    By kind of parameter: the largest difference of a packed parameter, of the mixing coefficients
    after they are made to add up to one where they are parameters.
    """
    K, D = theta.m.shape
    best = pack(theta)
    eye = 1e-4 * np.eye(len(best))

    def height(u: Floats) -> tuple[float, Floats]:
        values = terms(X, r, unpack(np.concatenate([u + eye, u - eye, [u]]), K, D), prior).sum(-1)
        up, down = values[:-1].reshape(2, -1)
        return -float(values[-1]), -(up - down) / 2e-4

    start = best + 0.3 * rng.uniform(-1, 1, len(best))
    found = minimize(height, start, jac=True, method="BFGS", options={"gtol": 1e-6}).x
    if prior.alpha0 == 0:
        for u in (best, found):
            u[:K] -= logsumexp(u[:K])
    return {
        name: float(np.abs(found[place] - best[place]).max())
        for name, place in places(K, D).items()
    }


class Draws(NamedTuple):
    """S draws from the factors of one mixture."""

    z: Floats  # (S, N, K) one of K
    pi: Floats  # (S, K)
    mu: Floats  # (S, K, D)
    Lambda: Floats  # (S, K, D, D)


def draw(r: Floats, theta: VariationalMixture, size: int, rng: Generator) -> Draws:
    """Labels from r (N, K), the rest from the factors of theta (K, ...)."""
    K = len(theta.m)
    z = (rng.random((size, len(r), 1)) > np.cumsum(r, axis=1)[:, :-1]).sum(-1)
    pi, Lambda, mu = parameters(theta, size, rng)
    return Draws((z[..., None] == np.arange(K)).astype(float), pi, mu, Lambda)


def parameters(
    theta: VariationalMixture, size: int, rng: Generator
) -> tuple[Floats, Floats, Floats]:
    """Draws of pi (S, K), Lambda (S, K, D, D) and mu (S, K, D) from the factors."""
    D = theta.m.shape[-1]
    pi = rng.dirichlet(theta.alpha, size)
    W = np.linalg.solve(theta.W_inv, np.broadcast_to(np.eye(D), theta.W_inv.shape))
    pairs = zip(theta.nu, W, strict=True)
    Lambda = np.stack(
        [wishart(df, scale).rvs(size, random_state=rng).reshape(size, D, D) for df, scale in pairs],
        axis=1,
    )
    roots = np.linalg.cholesky(Lambda * theta.beta[:, None, None])
    noise = rng.standard_normal((size, *theta.m.shape))
    return pi, Lambda, theta.m + np.linalg.solve(roots.mT, noise[..., None])[..., 0]


def drawn_terms(
    X: Floats, r: Floats, theta: VariationalMixture, prior: Prior, draws: Draws
) -> Floats:
    """The logarithms whose means the terms are, with their signs, for each draw, (S, 7)."""
    K, D = theta.m.shape
    z, pi, mu, Lambda = draws
    away = X[:, None] - mu[:, None]  # (S, N, K, D)
    square = np.einsum("snkd,skde,snke->snk", away, Lambda, away)
    log_lambda = np.linalg.slogdet(Lambda).logabsdet
    log_n = 0.5 * (log_lambda[:, None] - D * np.log(2 * np.pi) - square)
    found = [(z * log_n).sum((1, 2)), (z.sum(1) * np.log(pi)).sum(1)]
    found.append(dirichlet(np.full(K, prior.alpha0)).logpdf(pi.T))
    W0 = np.linalg.solve(prior.W0_inv, np.eye(D))
    found.append(
        _log_components(mu, Lambda, [prior.m0] * K, [prior.beta0] * K, [W0] * K, prior.nu0)
    )
    W = np.linalg.solve(theta.W_inv, np.broadcast_to(np.eye(D), theta.W_inv.shape))
    found.append(-xlogy(z, np.where(z > 0, r, 1.0)).sum((1, 2)))
    found.append(-dirichlet(theta.alpha).logpdf(pi.T))
    found.append(-_log_components(mu, Lambda, theta.m, theta.beta, W, theta.nu))
    return np.stack(found, axis=-1)


def _log_components(
    mu: Floats, Lambda: Floats, m: object, beta: object, W: object, nu: object
) -> Floats:
    """The Gaussian-Wishart's log density of draws, summed over components, by SciPy's Wishart."""
    S, K, D = mu.shape
    total = np.zeros(S)
    degrees = np.broadcast_to(np.asarray(nu), (K,))
    for k in range(K):
        total += wishart(degrees[k], np.asarray(W)[k]).logpdf(Lambda[:, k].transpose(1, 2, 0))
        b, away = np.asarray(beta)[k], mu[:, k] - np.asarray(m)[k]
        square = b * np.einsum("sd,sde,se->s", away, Lambda[:, k], away)
        log_det = np.linalg.slogdet(Lambda[:, k]).logabsdet + D * np.log(b)
        total += 0.5 * (log_det - D * np.log(2 * np.pi) - square)
    return total


def entropies(r: Floats, theta: VariationalMixture) -> Floats:
    """Those of the factors of labels, coefficients, and means with precisions, by SciPy, (3,)."""
    K, D = theta.m.shape
    W = np.linalg.solve(theta.W_inv, np.broadcast_to(np.eye(D), theta.W_inv.shape))
    components = 0.0
    for k in range(K):
        components += float(wishart(theta.nu[k], W[k]).entropy())
        # Of a mean given its precision, in the mean over precisions.
        log_det = expected_log_det(take(theta, np.array([k])))[0] + D * np.log(theta.beta[k])
        components += 0.5 * (D * (1 + np.log(2 * np.pi)) - log_det)
    return np.array(
        [entropy(r, axis=1).sum(), dirichlet(theta.alpha).entropy(), components], dtype=np.float64
    )


def copies_gain(
    r: Floats, theta: VariationalMixture, prior: Prior, size: int, rng: Generator
) -> float:
    """What K! copies of q with exchanged labels add to the bound (PRML Exercise 10.22).

    ln K! less the mean over q of the logarithm of sum_perm q_perm / q, which is zero where no two
    copies overlap.
    """
    K, D = theta.m.shape
    draws = draw(r, theta, size, rng)
    W = np.linalg.solve(theta.W_inv, np.broadcast_to(np.eye(D), theta.W_inv.shape))
    log_r = np.log(np.maximum(r, 1e-300))
    # Each factor of component j at what was drawn for component k.
    labels = np.einsum("snk,nj->skj", draws.z, log_r)
    log_pi = (theta.alpha - 1) * np.log(np.maximum(draws.pi, 1e-300))[..., None]
    each = np.empty((size, K, K))
    for k in range(K):
        for j in range(K):
            one = (theta.m[j : j + 1], theta.beta[j : j + 1], W[j : j + 1], theta.nu[j])
            each[:, k, j] = _log_components(draws.mu[:, k, None], draws.Lambda[:, k, None], *one)
    log_q = np.stack(
        [
            (labels + log_pi + each)[:, range(K), order].sum(-1)
            for order in map(list, permutations(range(K)))
        ],
        axis=-1,
    )
    overlap = logsumexp(log_q, axis=-1) - log_q[:, 0]  # the first is no exchange
    return float(gammaln(K + 1) - overlap.mean())
