r"""Three variants of EM for Gaussian mixtures: resets, a floor under the variances, point by point.

Resets (PRML 9.2.1). A component that shrinks onto a data point drives the likelihood to infinity.
When its collapse is detected, its mean moves to a random data point and its covariance to that of
all the data, and the optimisation continues.

A floor. Among covariances with no eigenvalue below a floor the likelihood is bounded. The most
likely of them for a scatter S_k / N_k has its eigenvectors, and its eigenvalues or the floor,
whichever is larger: the M step stays exact and the likelihood still never falls.

Incremental EM (PRML 9.4; Neal and Hinton 1999). A partial E step also increases the bound
L(q, theta): update the responsibilities of one point m, correct the sufficient statistics, do the M
step.

    N_k'  = N_k + d_k,        d_k = gamma_new(z_mk) - gamma_old(z_mk)       (9.79)
    mu_k' = mu_k + (d_k / N_k') (x_m - mu_k)                                (9.78)
    S_k'  = S_k + (d_k N_k / N_k') (x_m - mu_k)(x_m - mu_k)^T               scatter about mu_k
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from bythebook.models.clustering.gaussian_mixture import (
    Covariance,
    GaussianMixture,
    Statistics,
    collapsed,
    component_log_joint,
    constrain,
    e_step,
    fit,
    log_density,
    log_joint,
    m_step,
    whitener,
)
from bythebook.models.clustering.gaussian_mixture_starts import (
    sample_covariance,
    weighted_moments,
)
from bythebook.models.clustering.mixture import free_energy, posterior
from bythebook.models.em import EMFit, expectation_maximisation, take
from bythebook.models.types import Floats, Ints


class ResetFit(NamedTuple):
    """EM with resets."""

    fit: EMFit[GaussianMixture]  # over all legs; the objective, ln p(X | theta), falls at a reset
    resets: Ints  # (R,) how often components of a restart were reset


def fit_with_resets(
    X: Floats,
    start: GaussianMixture,
    rng: np.random.Generator,
    *,
    min_eigenvalue: float,
    tol: float,
    max_iter: int,
    max_resets: int = 20,
) -> ResetFit:
    """EM that resets every component whose covariance gets an eigenvalue below `min_eigenvalue`.

    There are at most `max_iter` M steps between resets. A restart that collapses again after
    `max_resets` ends there, not converged, with objective NaN.
    """
    theta = GaussianMixture(*(np.array(field) for field in start))
    R = len(theta.pi)
    objective = np.full((R, 1), np.nan)
    iterations, resets = np.zeros(R, dtype=np.int64), np.zeros(R, dtype=np.int64)
    converged = np.zeros(R, dtype=bool)
    shared = sample_covariance(X)

    todo = np.arange(R)
    while todo.size:
        leg = fit(
            X,
            take(theta, todo),
            min_eigenvalue=min_eigenvalue,
            tol=tol,
            max_iter=max_iter,
        )
        for field, values in zip(theta, leg.theta, strict=True):
            field[todo] = values
        # The first value of a leg replaces the NaN with which the collapse ended the leg before.
        columns = iterations[todo, None] + np.arange(leg.objective.shape[1])
        longer = max(0, int(columns.max()) + 1 - objective.shape[1])
        objective = np.pad(objective, ((0, 0), (0, longer)), constant_values=np.nan)
        objective[todo[:, None], columns] = leg.objective
        iterations[todo] += leg.iterations
        converged[todo] = leg.converged

        shrunk = collapsed(leg.theta, min_eigenvalue)
        again = shrunk.any(1) & (resets[todo] < max_resets)
        todo, shrunk = todo[again], shrunk[again]
        restart, component = np.nonzero(shrunk)
        theta.mu[todo[restart], component] = X[rng.integers(len(X), size=len(restart))]
        theta.Sigma[todo[restart], component] = shared
        resets[todo] += 1
    objective = objective[:, : iterations.max(initial=0) + 1]
    return ResetFit(EMFit(theta, objective, iterations, converged, {}), resets)


def raised(Sigma: Floats, floor: float) -> Floats:
    """Covariances (..., D, D) with every eigenvalue below the floor lifted to it."""
    values, vectors = np.linalg.eigh(Sigma)
    return np.asarray(
        (vectors * np.maximum(values, floor)[..., None, :]) @ vectors.swapaxes(-2, -1)
    )


def fit_with_floor(
    X: Floats,
    start: GaussianMixture,
    floor: float,
    *,
    tol: float,
    max_iter: int,
    covariance: Covariance = "full",
) -> EMFit[GaussianMixture]:
    """EM from R starts over covariances with no eigenvalue below `floor`; nothing collapses."""

    def maximise(theta: GaussianMixture, q: Statistics) -> GaussianMixture:
        theta = m_step(theta, q, covariance=covariance)
        return theta._replace(Sigma=raised(theta.Sigma, floor))

    start = start._replace(Sigma=raised(constrain(start.Sigma, covariance), floor))
    return expectation_maximisation(
        start, lambda theta: e_step(X, theta), maximise, tol=tol, max_iter=max_iter
    )


class Incremental(NamedTuple):
    """The state of incremental EM between two passes over the data."""

    pi: Floats  # (R, K) p(z = k)
    mu: Floats  # (R, K, D) E[x | z = k]
    Sigma: Floats  # (R, K, D, D) cov[x | z = k]
    gamma: Floats  # (R, N, K) q(z_n = k): the posterior at the time when n was last visited
    order: Ints  # (R, N) the sequence in which a pass visits the points

    @property
    def theta(self) -> GaussianMixture:
        """The parameters alone."""
        return GaussianMixture(self.pi, self.mu, self.Sigma)


def _one_pass(X: Floats, state: Incremental) -> Incremental:
    """Visit every point once: its E step, the update of the statistics, the M step."""
    theta, order = state.theta, state.order
    gamma = state.gamma.copy()
    every = np.arange(len(order))
    # From scratch once per pass, so that rounding errors of the updates do not accumulate.
    N, first, second = weighted_moments(X, gamma)
    shift = first / N[..., None]
    mean = X.mean(0) + shift
    scatter = second - first[..., :, None] * shift[..., None, :]
    none = np.zeros_like(mean)
    for m in order.T:
        difference = X[m][:, None] - theta.mu
        log_p = component_log_joint(difference[..., None], theta.pi, whitener(theta.Sigma))
        new = posterior(log_p[..., 0])[0]
        d = new - gamma[every, m]
        gamma[every, m] = new
        from_mean = X[m][:, None] - mean
        N_new = N + d  # (9.79)
        mean = mean + (d / N_new)[..., None] * from_mean  # (9.78)
        factor = (d * N / N_new)[..., None, None]
        scatter = scatter + factor * (from_mean[..., :, None] * from_mean[..., None, :])
        N = N_new
        theta = m_step(theta._replace(mu=mean), Statistics(N, none, scatter))
    return Incremental(*theta, gamma, order)


def fit_incremental(
    X: Floats,
    start: GaussianMixture,
    order: Ints,
    *,
    tol: float,
    max_iter: int,
    snapshots: Collection[int] = (),
) -> EMFit[Incremental]:
    """Incremental EM; an iteration is a pass over all points in the given order, shape (R, N).

    The responsibilities begin as those of the start. The objective is the bound L(q, theta), which
    never falls; the log likelihood, which need not rise at every visit, is that of a snapshot.
    """

    def bound(state: Incremental) -> tuple[tuple[()], Floats]:
        return (), free_energy(log_joint(X, state.theta), state.gamma)

    state = Incremental(*start, posterior(log_joint(X, start))[0], order)
    return expectation_maximisation(
        state,
        bound,
        lambda state, _: _one_pass(X, state),
        tol=tol,
        max_iter=max_iter,
        snapshots=snapshots,
    )


def fit_in_orders(
    X: Floats, start: GaussianMixture, orders: Ints, passes: int
) -> tuple[Floats, Floats]:
    """Fits from one start in orders (R, N): ln p(X) and the bound after each pass, (R, T + 1)."""
    many, every = take(start, np.zeros(len(orders), dtype=np.int64)), range(passes + 1)
    done = fit_incremental(X, many, orders, tol=0, max_iter=passes, snapshots=every)
    L = [log_density(X, done.snapshots[t].theta).sum(axis=1) for t in sorted(done.snapshots)]
    return np.stack(L, axis=1), done.objective
