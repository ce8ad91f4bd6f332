"""The oracle is the joint Gaussian of all states and outputs, conditioned in one step."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg, stats

from models.kalman import LDS, Gaussian, kalman_filter, predict, rts_smoother, simulate, update
from models.types import Floats


def random_system(
    rng: np.random.Generator, M: int = 2, D: int = 3, batch: tuple[int, ...] = ()
) -> LDS:
    def covariance(size: int) -> Floats:
        root = rng.normal(size=(*batch, size, size))
        return root @ root.mT + 0.3 * np.eye(size)

    return LDS(
        A=0.6 * rng.normal(size=(*batch, M, M)),
        Gamma=covariance(M),
        C=rng.normal(size=(*batch, D, M)),
        Sigma=covariance(D),
        mu0=rng.normal(size=(*batch, M)),
        V0=covariance(M),
    )


def joint_gaussian(theta: LDS, N: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean and covariance of (z_1..z_N), the stacked emission matrix and the output noise."""
    M = len(theta.A)
    # (I - shifted A) z = (mu0, 0, ...) + (u, w_2, ..., w_N), so z is linear in its noise.
    system = np.eye(N * M)
    for n in range(1, N):
        system[n * M : (n + 1) * M, (n - 1) * M : n * M] = -theta.A
    mean = linalg.solve(system, np.concatenate([theta.mu0, np.zeros((N - 1) * M)]))
    noise = linalg.block_diag(theta.V0, *[theta.Gamma] * (N - 1))
    cov = linalg.solve(system, linalg.solve(system, noise).T)
    emission = linalg.block_diag(*[theta.C] * N)
    return mean, cov, emission, linalg.block_diag(*[theta.Sigma] * N)


def condition(theta: LDS, x: Floats, N: int) -> tuple[Floats, Floats]:
    """Mean (N M,) and covariance (N M, N M) of all N states given the first len(x) outputs."""
    mean, cov, emission, noise = joint_gaussian(theta, N)
    seen = x.size
    emission, noise = emission[:seen], noise[:seen, :seen]
    gain = linalg.solve(emission @ cov @ emission.T + noise, emission @ cov).T
    return mean + gain @ (x.ravel() - emission @ mean), cov - gain @ emission @ cov


@pytest.mark.parametrize(("M", "D"), [(1, 1), (2, 3), (3, 1)])
def test_filter_smoother_and_likelihood_are_joint_gaussian_conditioning(M: int, D: int) -> None:
    rng = np.random.default_rng(M + 10 * D)
    N = 6
    theta = random_system(rng, M, D)
    _, x = simulate(theta, N, rng)
    passed = kalman_filter(theta, x)
    smoothed = rts_smoother(theta, passed)

    for n in range(N):
        block = slice(n * M, (n + 1) * M)
        for belief, known in ((passed.predicted, n), (passed.filtered, n + 1), (smoothed.state, N)):
            mean, cov = condition(theta, x[:known], N)
            assert_allclose(belief.mean[n], mean[block], rtol=1e-9, atol=1e-10)
            assert_allclose(belief.cov[n], cov[block, block], rtol=1e-9, atol=1e-10)
    _, cov = condition(theta, x, N)
    for n in range(N - 1):
        rows, columns = slice((n + 1) * M, (n + 2) * M), slice(n * M, (n + 1) * M)
        assert_allclose(smoothed.lag_one[n], cov[rows, columns], rtol=1e-9, atol=1e-10)

    mean, cov, emission, noise = joint_gaussian(theta, N)
    expected = stats.multivariate_normal(emission @ mean, emission @ cov @ emission.T + noise)
    assert_allclose(passed.log_likelihood, expected.logpdf(x.ravel()), rtol=1e-11)
    assert_allclose(
        passed.log_c[0],
        stats.multivariate_normal(
            theta.C @ theta.mu0, theta.C @ theta.V0 @ theta.C.T + theta.Sigma
        ).logpdf(x[0]),
        rtol=1e-11,
    )


def test_leading_axes_are_models_and_series() -> None:
    rng = np.random.default_rng(1)
    theta = random_system(rng, M=2, D=3, batch=(4,))
    x = rng.normal(size=(5, 1, 7, 3))  # five series under each of four models
    passed = kalman_filter(theta, x)
    smoothed = rts_smoother(theta, passed)
    assert passed.filtered.mean.shape == (5, 4, 7, 2)
    assert passed.predicted.mean.shape == (5, 4, 7, 2)
    assert passed.filtered.cov.shape == (4, 7, 2, 2)  # no axis of series
    assert passed.log_likelihood.shape == (5, 4)
    for model in range(4):
        single = LDS(*(field[model] for field in theta))
        one = kalman_filter(single, x[3, 0])
        back = rts_smoother(single, one)
        assert_allclose(passed.log_c[3, model], one.log_c, rtol=1e-12)
        assert_allclose(smoothed.state.mean[3, model], back.state.mean, rtol=1e-10, atol=1e-12)
        assert_allclose(smoothed.state.cov[model], back.state.cov, rtol=1e-10, atol=1e-12)
        assert_allclose(smoothed.lag_one[model], back.lag_one, rtol=1e-10, atol=1e-12)


def test_smoothed_covariance_is_below_filtered_and_equal_at_the_end() -> None:
    rng = np.random.default_rng(2)
    theta = random_system(rng, M=3, D=2)
    passed = kalman_filter(theta, rng.normal(size=(20, 2)))
    smoothed = rts_smoother(theta, passed)
    gain = np.linalg.eigvalsh(passed.filtered.cov - smoothed.state.cov)
    assert gain.min() > -1e-12
    assert gain[:-1].max() > 1e-3
    assert_allclose(smoothed.state.cov[-1], passed.filtered.cov[-1], rtol=0, atol=0)


def test_constant_state_and_vague_prior_give_the_running_average() -> None:
    """PRML Exercise 13.28: A = I, Gamma = 0, V0 to infinity."""
    rng = np.random.default_rng(3)
    one = np.ones((1, 1))
    theta = LDS(one, 0 * one, one, 1.7 * one, np.zeros(1), 1e13 * one)
    x = rng.normal(3.0, 1.0, size=(30, 1))
    passed = kalman_filter(theta, x)
    n = np.arange(1, 31)
    assert_allclose(passed.filtered.mean[:, 0], x[:, 0].cumsum() / n, rtol=1e-9)
    assert_allclose(passed.filtered.cov[:, 0, 0], 1.7 / n, rtol=1e-9)


def test_noiseless_measurement_is_believed() -> None:
    """PRML Exercise 13.27: Sigma to zero."""
    one = np.ones((1, 1))
    theta = LDS(0.9 * one, one, one, 0 * one, np.zeros(1), one)
    x = np.random.default_rng(4).normal(size=(10, 1))
    passed = kalman_filter(theta, x)
    assert_allclose(passed.filtered.mean, x, rtol=1e-12)
    assert_allclose(passed.filtered.cov, 0, atol=1e-14)


def test_recursive_least_squares_is_ridge_regression() -> None:
    """MLAPP 18.2.3: the state is the weight vector, C the next row of the design matrix."""
    rng = np.random.default_rng(5)
    X = np.stack([np.ones(21), np.arange(21.0)], axis=1)
    y = -1.5 * X[:, 1] + X[:, 1] ** 2 / 9 + rng.normal(0, 2, size=21)
    belief = Gaussian(np.zeros(2), 10 * np.eye(2))
    for row, target in zip(X, y, strict=True):
        belief = predict(belief, np.eye(2), np.zeros((2, 2)))
        belief = update(belief, np.array([target]), row[np.newaxis], np.eye(1))
    precision = X.T @ X + np.eye(2) / 10
    assert_allclose(belief.mean, linalg.solve(precision, X.T @ y), rtol=1e-9)
    assert_allclose(belief.cov, linalg.solve(precision, np.eye(2)), rtol=1e-9)


def test_covariance_settles_on_the_riccati_fixed_point() -> None:
    """MLAPP 18.3.1.5; position variance and gains recomputed in the catalogue for Figure 18.1."""
    A = np.eye(4) + np.eye(4, k=2)
    C = np.eye(2, 4)
    theta = LDS(A, 0.001 * np.eye(4), C, np.eye(2), np.array([8.0, 10, 1, 0]), np.eye(4))
    P = kalman_filter(theta, np.zeros((300, 2))).predicted.cov[-1]
    steady = linalg.solve_discrete_are(A.T, C.T, theta.Gamma, theta.Sigma)
    assert_allclose(P, steady, rtol=0, atol=1e-9)
    assert_allclose(P[0, 0], 0.288900, rtol=0, atol=5e-7)


def test_simulation_has_the_moments_of_the_joint_gaussian() -> None:
    rng = np.random.default_rng(6)
    theta = random_system(rng, M=2, D=2)
    N, S = 4, 40_000
    z, x = simulate(theta, N, rng, size=(S,))
    mean, cov, emission, noise = joint_gaussian(theta, N)
    stacked = np.concatenate([z.reshape(S, -1), x.reshape(S, -1)], axis=1)
    cross = cov @ emission.T
    expected = np.block([[cov, cross], [cross.T, emission @ cross + noise]])
    sd = np.sqrt(np.diag(expected))
    centre = np.concatenate([mean, emission @ mean])
    # Standard errors: sd / sqrt(S) of a mean, at most sqrt(2 / S) of a covariance over sd sd'.
    assert np.abs((stacked.mean(0) - centre) / sd).max() < 4.5 / np.sqrt(S)
    error = (np.cov(stacked.T) - expected) / np.outer(sd, sd)
    assert np.abs(error).max() < 4.5 * np.sqrt(2 / S)


def test_simulation_accepts_singular_noise_and_batches() -> None:
    """Figure 18.7's seasonal pattern (1, 1, 1, -3) repeats exactly when nothing is random."""
    A = np.array([[-1.0, -1, -1], [1, 0, 0], [0, 1, 0]])
    zero = np.zeros((3, 3))
    theta = LDS(A, zero, np.eye(1, 3), np.zeros((1, 1)), np.ones(3), zero)
    _, x = simulate(theta, 9, np.random.default_rng(7), size=(2,))
    assert_allclose(x[..., 0], np.tile([1.0, -3, 1, 1, 1, -3, 1, 1, 1], (2, 1)), atol=1e-12)
