"""Equations of MLAPP 18.3 and 18.4, linear-Gaussian state space models."""

import numpy as np
from numpy.random import Generator
from scipy.stats import multivariate_normal

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._linear_systems import Series, random_series
from bythebook.models.state_space import kalman
from bythebook.models.state_space.kalman import LDS
from bythebook.models.state_space.lds_em import with_unit_noise
from bythebook.models.state_space.nonlinear_examples import random_lds
from bythebook.models.types import Floats


def _passes(series: Series) -> tuple[Floats, Floats, Floats, Floats]:
    """mu_t and Sigma_t by (18.27) to (18.38), the residuals r_t, and S_t."""
    A, Q, C, R, ahead, P = series.theta
    mean, cov, residuals, spread = [], [], [], []
    for y in series.x:
        residuals.append(y - C @ ahead)
        spread.append(C @ P @ C.T + R)
        K = P @ C.T @ np.linalg.inv(spread[-1])
        mean.append(ahead + K @ residuals[-1])
        cov.append((np.eye(len(A)) - K @ C) @ P)
        ahead, P = A @ mean[-1], A @ cov[-1] @ A.T + Q
    return np.array(mean), np.array(cov), np.array(residuals), np.array(spread)


@equation(
    "18.24, 18.27 to 18.38",
    section="18.3.1",
    latex=r"\boldsymbol{\mu}_t = \boldsymbol{\mu}_{t|t-1} + \mathbf{K}_t \mathbf{r}_t, \quad"
    r" \boldsymbol{\Sigma}_t = (\mathbf{I} - \mathbf{K}_t \mathbf{C}_t)"
    r" \boldsymbol{\Sigma}_{t|t-1}, \quad \mathbf{K}_t ="
    r" \boldsymbol{\Sigma}_{t|t-1} \mathbf{C}_t^T \mathbf{S}_t^{-1}",
)
def kalman_filter(rng: Generator) -> Sides:
    """The Kalman filter gives the distribution of a state given the data so far."""
    series = random_series(rng)
    truth, (mean, cov, *_) = series.filtered(), _passes(series)
    return Sides(truth=(truth.mean, truth.cov), printed=(mean, cov))


@equation(
    "18.40, 18.41",
    section="18.3.1",
    latex=r"\log p(\mathbf{y}_{1:T}) = \sum_t \log p(\mathbf{y}_t|\mathbf{y}_{1:t-1}), \quad"
    r" p(\mathbf{y}_t|\mathbf{y}_{1:t-1}) ="
    r" \mathcal{N}(\mathbf{y}_t|\mathbf{C}_t \boldsymbol{\mu}_{t|t-1}, \mathbf{S}_t)",
)
def log_likelihood_of_a_series(rng: Generator) -> Sides:
    """The log likelihood is the sum of the log densities of the data about their predictions."""
    series = random_series(rng)
    _, _, residuals, spread = _passes(series)
    terms = [
        multivariate_normal(np.zeros(len(S)), S).logpdf(r)
        for r, S in zip(residuals, spread, strict=True)
    ]
    return Sides(truth=series.log_likelihood, printed=np.sum(terms))


@equation(
    "18.56 to 18.59",
    section="18.3.2",
    latex=r"\boldsymbol{\mu}_{t|T} = \boldsymbol{\mu}_{t|t} + \mathbf{J}_t"
    r" (\boldsymbol{\mu}_{t+1|T} - \boldsymbol{\mu}_{t+1|t}), \quad"
    r" \boldsymbol{\Sigma}_{t|T} = \boldsymbol{\Sigma}_{t|t} + \mathbf{J}_t"
    r" (\boldsymbol{\Sigma}_{t+1|T} - \boldsymbol{\Sigma}_{t+1|t}) \mathbf{J}_t^T, \quad"
    r" \mathbf{J}_t = \boldsymbol{\Sigma}_{t|t} \mathbf{A}_{t+1}^T"
    r" \boldsymbol{\Sigma}_{t+1|t}^{-1}",
)
def kalman_smoother(rng: Generator) -> Sides:
    """The Kalman smoother gives the distribution of a state given all data."""
    series = random_series(rng)
    A, Q, *_ = series.theta
    mean, cov, *_ = _passes(series)
    m, S = [mean[-1]], [cov[-1]]
    for t in range(len(series.x) - 2, -1, -1):
        P = A @ cov[t] @ A.T + Q
        J = cov[t] @ A.T @ np.linalg.inv(P)
        m.append(mean[t] + J @ (m[-1] - A @ mean[t]))
        S.append(cov[t] + J @ (S[-1] - P) @ J.T)
    truth, steps = series.given(len(series.x)), np.arange(len(series.x))
    return Sides(
        truth=(truth.mean, truth.cov[steps, steps]),
        printed=(np.array(m[::-1]), np.array(S[::-1])),
    )


@equation(
    "section 18.4.1, Q = I",
    section="18.4.1",
    latex=r"p(\mathbf{y}_{1:T}|\mathbf{A}, \mathbf{C}, \mathbf{Q}, \mathbf{R}) ="
    r" p(\mathbf{y}_{1:T}|\mathbf{L}^{-1} \mathbf{A} \mathbf{L}, \mathbf{C} \mathbf{L},"
    r" \mathbf{I}, \mathbf{R}), \quad \mathbf{Q} = \mathbf{L} \mathbf{L}^T",
)
def unit_noise_of_the_state(rng: Generator) -> Sides:
    """The state's noise can be the identity, which a change of A, C and the first state allows."""
    series = random_series(rng)
    unit = with_unit_noise(series.theta)
    return Sides(
        truth=(series.log_likelihood, np.eye(len(unit.A))),
        printed=(Series(unit, series.x).log_likelihood, unit.Gamma),
    )


def _noise_from_outputs(theta: LDS) -> Floats:
    """The covariance of the outputs' noise from covariances of outputs 0 to 3 steps apart.

    The covariances are C A^k P C^T with earlier outputs. A realisation of these gives the share of
    the state at k = 0, and the rest of the variance is the noise. A is invertible, and C has full
    rank.
    """
    P = theta.Gamma
    for _ in range(500):  # converges to the state's stationary covariance
        P = theta.A @ P @ theta.A.T + theta.Gamma
    now, one, two, three = (
        theta.C @ np.linalg.matrix_power(theta.A, k) @ P @ theta.C.T for k in range(4)
    )
    D, M = theta.C.shape
    U, s, Vt = np.linalg.svd(np.block([[one, two], [two, three]]))
    seen = U[:, :M] * s[:M]  # C, and C A below
    A = np.linalg.lstsq(seen[:D], seen[D:])[0]
    return np.asarray(now + theta.Sigma - seen[:D] @ np.linalg.solve(A, Vt[:M, :D]))


@equation(
    "section 18.4.1, diagonal R",
    section="18.4.1",
    latex=r"\mathbf{R} = \text{diag}(R_{11}, \ldots, R_{DD})",
    corrected=r"\mathbf{R} \text{ is determined by the distribution of the outputs}",
    cause="diagonal-noise-for-free",
    within=1e-6,
)
def diagonal_noise_of_the_outputs(rng: Generator) -> Sides:
    """The outputs' covariances determine the covariance of their noise, which need not be diagonal.

    For a number of states that stays the same.
    """
    theta = random_lds(rng)
    return Sides(
        truth=_noise_from_outputs(theta),
        printed=np.diag(np.diagonal(theta.Sigma)),
        corrected=theta.Sigma,
    )


@equation(
    "18.79",
    section="18.4.1",
    latex=r"\mathbf{z}_t = \mathbf{A}^t \mathbf{z}_1",
    corrected=r"\mathbf{z}_t = \mathbf{A}^{t-1} \mathbf{z}_1",
    cause="power-of-the-dynamics",
)
def states_without_noise(rng: Generator) -> Sides:
    """Without noise the state is a power of A times the first state."""
    M, t = int(rng.integers(1, 5)), int(rng.integers(2, 9))
    A, first = rng.normal(size=(M, M)), rng.normal(size=M)
    z = first
    for _ in range(t - 1):
        z = A @ z
    powers = [np.linalg.matrix_power(A, power) @ first for power in (t, t - 1)]
    return Sides(truth=z, printed=powers[0], corrected=powers[1])


@equation(
    "section 18.4.2, least squares",
    section="18.4.2",
    latex=r"J(\mathbf{A}) = \sum_{t=1}^2 (\mathbf{z}_t - \mathbf{A} \mathbf{z}_{t-1})^2",
    corrected=r"J(\mathbf{A}) = \sum_{t=1}^T (\mathbf{z}_t - \mathbf{A} \mathbf{z}_{t-1})^2",
    cause="squares-of-two-steps",
)
def least_squares_of_the_dynamics(rng: Generator) -> Sides:
    """The maximum likelihood estimate of A minimises the squares of all steps.

    At the estimate the derivative of the log likelihood is zero, relative to that at A = 0. The
    first state, z_0, is read as known.
    """
    theta = random_lds(rng)
    z = kalman.simulate(theta, int(rng.integers(12, 40)), rng)[0]

    def slope(A: Floats) -> Floats:
        residuals = z[1:] - z[:-1] @ A.T
        return np.asarray(np.linalg.solve(theta.Gamma, residuals.T @ z[:-1]))

    scale = np.abs(slope(0 * theta.A)).max()
    two, every = (
        np.asarray(np.linalg.lstsq(z[:-1][:n], z[1:][:n])[0].T, np.float64) for n in (2, None)
    )
    return Sides(
        truth=np.zeros_like(theta.A), printed=slope(two) / scale, corrected=slope(every) / scale
    )
