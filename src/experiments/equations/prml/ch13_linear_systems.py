"""Equations of PRML 13.3, linear dynamical systems, against one Gaussian over all states."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import inv
from scipy.stats import multivariate_normal

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._linear_systems import Series, random_series
from bythebook.models.state_space.kalman import LDS
from bythebook.models.state_space.lds_em import fit_lds
from bythebook.models.types import Floats


class _Filtered(NamedTuple):
    """Kalman filter: mu_n, V_n and P_n for n = 1 .. N, and the logarithms of c_n."""

    mean: Floats
    V: Floats
    P: Floats
    log_c: Floats


def _filter(series: Series) -> _Filtered:
    """The Kalman filter (13.88) to (13.92), from (13.94) to (13.97)."""
    A, Gamma, C, Sigma, ahead, P = series.theta
    mean, V, spread, log_c = [], [], [], []
    for x in series.x:
        K = P @ C.T @ inv(C @ P @ C.T + Sigma)
        mean.append(ahead + K @ (x - C @ ahead))
        V.append((np.eye(len(A)) - K @ C) @ P)
        log_c.append(multivariate_normal(C @ ahead, C @ P @ C.T + Sigma).logpdf(x))
        ahead, P = A @ mean[-1], A @ V[-1] @ A.T + Gamma
        spread.append(P)
    return _Filtered(np.array(mean), np.array(V), np.array(spread), np.array(log_c))


def _J(series: Series, passed: _Filtered) -> Floats:
    """The gains J_n of the smoother (13.102)."""
    return np.asarray(passed.V @ series.theta.A.T @ np.linalg.inv(passed.P))


def _smoothed_means(series: Series, last: bool) -> Floats:
    """(13.100) with A mu_N as printed, if `last`, or with A mu_n."""
    passed, A = _filter(series), series.theta.A
    J, back = _J(series, passed), [passed.mean[-1]]
    for n in range(len(series.x) - 2, -1, -1):
        ahead = A @ passed.mean[-1 if last else n]
        back.append(passed.mean[n] + J[n] @ (back[-1] - ahead))
    return np.array(back[::-1])


@equation(
    "13.88 to 13.92, 13.94 to 13.97",
    section="13.3.1",
    latex=r"\boldsymbol{\mu}_n = \mathbf{A} \boldsymbol{\mu}_{n-1} + \mathbf{K}_n"
    r" (\mathbf{x}_n - \mathbf{C} \mathbf{A} \boldsymbol{\mu}_{n-1}), \quad"
    r" \mathbf{V}_n = (\mathbf{I} - \mathbf{K}_n \mathbf{C}) \mathbf{P}_{n-1}, \quad"
    r" \mathbf{K}_n = \mathbf{P}_{n-1} \mathbf{C}^T"
    r" (\mathbf{C} \mathbf{P}_{n-1} \mathbf{C}^T + \mathbf{\Sigma})^{-1}",
)
def kalman_filter(rng: Generator) -> Sides:
    """The Kalman filter gives the mean and the covariance of a state given the data so far."""
    series = random_series(rng)
    truth, found = series.filtered(), _filter(series)
    return Sides(truth=(truth.mean, truth.cov), printed=(found.mean, found.V))


@equation(
    "13.63, 13.91",
    section="13.3.1",
    latex=r"p(\mathbf{X}) = \prod_{n=1}^N c_n, \quad c_n = \mathcal{N}(\mathbf{x}_n|"
    r"\mathbf{C} \mathbf{A} \boldsymbol{\mu}_{n-1},"
    r" \mathbf{C} \mathbf{P}_{n-1} \mathbf{C}^T + \mathbf{\Sigma})",
)
def likelihood_of_a_linear_system(rng: Generator) -> Sides:
    """The likelihood of a linear dynamical system is the product of the filter's factors."""
    series = random_series(rng)
    return Sides(truth=series.log_likelihood, printed=_filter(series).log_c.sum())


@equation(
    "13.100",
    section="13.3.1",
    latex=r"\hat{\boldsymbol{\mu}}_n = \boldsymbol{\mu}_n + \mathbf{J}_n"
    r" (\hat{\boldsymbol{\mu}}_{n+1} - \mathbf{A} \boldsymbol{\mu}_N)",
    corrected=r"\hat{\boldsymbol{\mu}}_n = \boldsymbol{\mu}_n + \mathbf{J}_n"
    r" (\hat{\boldsymbol{\mu}}_{n+1} - \mathbf{A} \boldsymbol{\mu}_n)",
    cause="mean-of-the-last-state",
)
def smoothed_means(rng: Generator) -> Sides:
    """The smoothed means correct the filtered mean of the same step."""
    series = random_series(rng)
    return Sides(
        truth=series.given(len(series.x)).mean,
        printed=_smoothed_means(series, last=True),
        corrected=_smoothed_means(series, last=False),
    )


@equation(
    "13.101, 13.102",
    section="13.3.1",
    latex=r"\hat{\mathbf{V}}_n = \mathbf{V}_n + \mathbf{J}_n"
    r" (\hat{\mathbf{V}}_{n+1} - \mathbf{P}_n) \mathbf{J}_n^T, \quad"
    r" \mathbf{J}_n = \mathbf{V}_n \mathbf{A}^T (\mathbf{P}_n)^{-1}",
)
def smoothed_covariances(rng: Generator) -> Sides:
    """The smoothed covariances follow from the filtered ones, from the last step to the first."""
    series = random_series(rng)
    passed, N = _filter(series), len(series.x)
    J, back = _J(series, passed), [passed.V[-1]]
    for n in range(N - 2, -1, -1):
        back.append(passed.V[n] + J[n] @ (back[-1] - passed.P[n]) @ J[n].T)
    steps = np.arange(N)
    return Sides(truth=series.given(N).cov[steps, steps], printed=np.array(back[::-1]))


@equation(
    "13.104, 13.106",
    section="13.3.1",
    latex=r"\text{cov}[\mathbf{z}_n, \mathbf{z}_{n-1}] = \mathbf{J}_{n-1} \hat{\mathbf{V}}_n",
    corrected=r"\text{cov}[\mathbf{z}_n, \mathbf{z}_{n-1}] ="
    r" \hat{\mathbf{V}}_n \mathbf{J}_{n-1}^T",
    cause="covariance-transposed",
)
def covariances_of_successive_states(rng: Generator) -> Sides:
    """The covariance of a state with the previous one is the transpose of the printed product."""
    series = random_series(rng)
    N = len(series.x)
    cov, J = series.given(N).cov, _J(series, _filter(series))
    n = np.arange(1, N)
    product = J[:-1] @ cov[n, n]
    return Sides(truth=cov[n, n - 1], printed=product, corrected=np.swapaxes(product, 1, 2))


class _Moments(NamedTuple):
    """Sums of expected moments under the posterior of one series."""

    first: Floats  # E[z_1]
    first_square: Floats  # E[z_1 z_1^T]
    past: Floats  # sum of E[z_{n-1} z_{n-1}^T], n = 2 .. N
    lag: Floats  # sum of E[z_n z_{n-1}^T]
    now: Floats  # sum of E[z_n z_n^T], n = 2 .. N
    xz: Floats  # sum of x_n E[z_n^T], n = 1 .. N


def _moments(series: Series) -> _Moments:
    N = len(series.x)
    mean, cov = series.given(N)

    def moment(i: int, j: int) -> Floats:
        return np.asarray(cov[i, j] + np.outer(mean[i], mean[j]))

    def total(a: int, b: int) -> Floats:
        return np.asarray(sum(moment(n - a, n - b) for n in range(1, N)))

    return _Moments(mean[0], moment(0, 0), total(1, 1), total(0, 1), total(0, 0), series.x.T @ mean)


def _em_step(series: Series) -> LDS:
    """The parameters after an EM step of the project's model."""
    start = LDS(*(part[None] for part in series.theta))
    fit = fit_lds(series.x, start, tol=-np.inf, max_iter=1)
    return LDS(*(part[0] for part in fit.theta))


@equation(
    "13.110, 13.111, 13.113, 13.115",
    section="13.3.2",
    latex=r"\boldsymbol{\mu}_0 = \mathbb{E}[\mathbf{z}_1], \quad"
    r" \mathbf{A} = \Big( \sum_{n=2}^N \mathbb{E}[\mathbf{z}_n \mathbf{z}_{n-1}^T] \Big)"
    r" \Big( \sum_{n=2}^N \mathbb{E}[\mathbf{z}_{n-1} \mathbf{z}_{n-1}^T] \Big)^{-1}, \quad"
    r" \mathbf{C} = \Big( \sum_{n=1}^N \mathbf{x}_n \mathbb{E}[\mathbf{z}_n^T] \Big)"
    r" \Big( \sum_{n=1}^N \mathbb{E}[\mathbf{z}_n \mathbf{z}_n^T] \Big)^{-1}",
)
def m_step_of_linear_systems(rng: Generator) -> Sides:
    """An EM step sets the moments of the first state, A and C to those of the expected states."""
    series = random_series(rng)
    new, E = _em_step(series), _moments(series)
    printed = (
        E.first,
        E.first_square - np.outer(E.first, E.first),
        E.lag @ inv(E.past),
        E.xz @ inv(E.now + E.first_square),
    )
    return Sides(truth=(new.mu0, new.V0, new.A, new.C), printed=printed)


@equation(
    "13.114",
    section="13.3.2",
    latex=r"\mathbf{\Gamma} = \frac{1}{N-1} \sum_{n=2}^N \left\{"
    r" \mathbb{E}[\mathbf{z}_n \mathbf{z}_n^T]"
    r" - \mathbf{A} \mathbb{E}[\mathbf{z}_{n-1} \mathbf{z}_n^T]"
    r" - \mathbb{E}[\mathbf{z}_n \mathbf{z}_{n-1}^T] \mathbf{A}"
    r" + \mathbf{A} \mathbb{E}[\mathbf{z}_{n-1} \mathbf{z}_{n-1}^T] \mathbf{A}^T \right\}",
    corrected=r"\mathbf{\Gamma} = \frac{1}{N-1} \sum_{n=2}^N \left\{"
    r" \mathbb{E}[\mathbf{z}_n \mathbf{z}_n^T]"
    r" - \mathbf{A} \mathbb{E}[\mathbf{z}_{n-1} \mathbf{z}_n^T]"
    r" - \mathbb{E}[\mathbf{z}_n \mathbf{z}_{n-1}^T] \mathbf{A}^T"
    r" + \mathbf{A} \mathbb{E}[\mathbf{z}_{n-1} \mathbf{z}_{n-1}^T] \mathbf{A}^T \right\}",
    cause="transposes-lost-in-the-noise",
)
def noise_of_the_states(rng: Generator) -> Sides:
    """The new covariance of the states' noise has the transpose of A in its third term."""
    series = random_series(rng)
    E, N = _moments(series), len(series.x)
    A = E.lag @ inv(E.past)
    rest = E.now - A @ E.lag.T + A @ E.past @ A.T
    return Sides(
        truth=_em_step(series).Gamma,
        printed=(rest - E.lag @ A) / (N - 1),
        corrected=(rest - E.lag @ A.T) / (N - 1),
    )
