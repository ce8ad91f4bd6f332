"""The oracle is the joint Gaussian of all states and outputs, conditioned in one step."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg, stats

from bythebook.models.state_space.kalman import (
    LDS,
    MAX_OUTPUTS,
    MAX_STATES,
    Filtered,
    Gaussian,
    Smoothed,
    autoregression,
    in_variances,
    kalman_filter,
    kalman_filter_reference,
    predict,
    rotation,
    rts_smoother,
    rts_smoother_reference,
    simulate,
    update,
)
from bythebook.models.types import Floats


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


@pytest.mark.parametrize(
    ("M", "D", "N"),
    [(1, 1, 6), (2, 3, 6), (3, 1, 6), (MAX_STATES + 1, 2, 2), (2, MAX_OUTPUTS + 1, 2)],
)
def test_filter_smoother_and_likelihood_are_joint_gaussian_conditioning(
    M: int, D: int, N: int
) -> None:
    rng = np.random.default_rng(M + 10 * D)
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


def both_ways(theta: LDS, x: Floats) -> tuple[Filtered, Smoothed, Filtered, Smoothed]:
    passed, plain = kalman_filter(theta, x), kalman_filter_reference(theta, x)
    return passed, rts_smoother(theta, passed), plain, rts_smoother_reference(theta, plain)


def assert_equal_beliefs(
    passed: Filtered, smoothed: Smoothed, plain: Filtered, back: Smoothed, *, rtol: float
) -> None:
    """Every array has the other's shape and numbers, relative to the largest entry."""
    ours = (*passed.predicted, *passed.filtered, passed.log_c, *smoothed.state, smoothed.lag_one)
    theirs = (*plain.predicted, *plain.filtered, plain.log_c, *back.state, back.lag_one)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == other.shape
        assert_allclose(mine, other, rtol=0, atol=rtol * np.abs(other).max(initial=0))


@pytest.mark.parametrize("models", [(), (3,)])
@pytest.mark.parametrize(("M", "D"), [(1, 1), (2, 5), (4, 2), (5, 3)])
def test_compiled_recursions_equal_their_references(
    M: int, D: int, models: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(M + 10 * D)
    theta = random_system(rng, M, D, models)
    one, nothing = np.eye(M) * np.ones((*models, 1, 1)), np.zeros((*models, M, M))
    # Where one variance is 1e6 times another, either way is within 1e-9 of rational arithmetic.
    for changed, rtol in (
        (theta, 1e-10),
        (theta._replace(V0=nothing), 1e-10),  # a known start
        (theta._replace(V0=1e6 * one), 1e-8),  # a vague one
        (theta._replace(Gamma=nothing, A=one, V0=one), 1e-10),  # a state that stays
        (theta._replace(Sigma=1e-6 * theta.Sigma), 1e-8),  # outputs almost without noise
    ):
        for series in ((40, D), (2, *[1] * len(models), 7, D), (1, D)):
            assert_equal_beliefs(*both_ways(changed, rng.normal(size=series)), rtol=rtol)


def test_nearly_singular_predictions_cost_no_more_digits_than_in_the_reference() -> None:
    """Products of one half mirrored are off by 5e-3 here, where the reference is by 2e-5."""
    rng = np.random.default_rng(11)
    r = rng.normal(size=(4, 1))
    A, Gamma = 0.5 * rng.normal(size=(4, 4)), r @ r.T + 1e-12 * np.eye(4)
    theta = LDS(A, Gamma, rng.normal(size=(2, 4)), 1e-3 * np.eye(2), np.zeros(4), r @ r.T)
    _, smoothed, _, back = both_ways(theta, rng.normal(size=(8, 2)))
    scale = np.abs(back.state.cov).max()
    assert_allclose(smoothed.state.cov, back.state.cov, rtol=0, atol=2e-4 * scale)


def test_covariances_at_rest_are_copied_and_right() -> None:
    """The tracker of MLAPP Figure 18.1 converges bit for bit within 150 steps."""
    A = np.eye(4) + np.eye(4, k=2)
    start = np.array([8.0, 10, 1, 0])
    theta = LDS(A, 0.001 * np.eye(4), np.eye(2, 4), np.eye(2), start, np.eye(4))
    _, x = simulate(theta, 500, np.random.default_rng(8))
    passed, smoothed, plain, back = both_ways(theta, x)
    for cov in (passed.predicted.cov, passed.filtered.cov, smoothed.state.cov, smoothed.lag_one):
        assert np.array_equal(cov[150:300], np.broadcast_to(cov[150], (150, 4, 4)))
        assert not np.array_equal(cov[150], cov[0])
    assert_equal_beliefs(passed, smoothed, plain, back, rtol=1e-10)


def test_axes_of_single_parameters_broadcast() -> None:
    """Four transitions, one of everything else, and a start for each of two series."""
    rng = np.random.default_rng(9)
    theta = random_system(rng, M=2, D=3)
    several = theta._replace(A=0.6 * rng.normal(size=(4, 2, 2)), mu0=rng.normal(size=(2, 1, 2)))
    x = rng.normal(size=(2, 1, 6, 3))
    passed = kalman_filter(several, x)
    smoothed = rts_smoother(several, passed)
    assert passed.predicted.cov.shape == (4, 6, 2, 2)
    for s in range(2):
        for r in range(4):
            single = theta._replace(A=several.A[r], mu0=several.mu0[s, 0])
            plain = kalman_filter_reference(single, x[s, 0])
            back = rts_smoother_reference(single, plain)
            assert_allclose(passed.log_c[s, r], plain.log_c, rtol=1e-12)
            assert_allclose(smoothed.state.mean[s, r], back.state.mean, rtol=1e-10)
            assert_allclose(smoothed.state.cov[r], back.state.cov, rtol=1e-10)


def test_arrays_of_any_layout_give_the_same() -> None:
    rng = np.random.default_rng(10)
    theta = random_system(rng, M=2, D=3)
    x = rng.integers(-5, 5, size=(3, 8))
    expected = kalman_filter(theta, x.T.astype(np.float64))
    frozen = LDS(*(np.asfortranarray(field) for field in theta))
    for field in frozen:
        field.flags.writeable = False
    for data in (x.T, x.T[::-1][::-1].astype(np.float64)):
        assert_allclose(kalman_filter(frozen, data).log_c, expected.log_c, rtol=1e-14)


@pytest.mark.parametrize("way", [kalman_filter, kalman_filter_reference])
def test_outputs_of_impossible_covariance_are_refused(
    way: Callable[[LDS, Floats], Filtered],
) -> None:
    one = np.ones((1, 1))
    with pytest.raises(np.linalg.LinAlgError):
        way(LDS(one, one, one, -3 * one, np.zeros(1), one), np.zeros((5, 1)))


def test_shapes_that_do_not_fit_are_refused() -> None:
    rng = np.random.default_rng(12)
    theta, x = random_system(rng, M=2, D=3), rng.normal(size=(6, 3))
    passed = kalman_filter(theta, x)
    with pytest.raises(ValueError, match="last axes should be"):
        kalman_filter(theta, x[:, :2])
    for name in LDS._fields:
        with pytest.raises(ValueError, match="last axes should be"):
            kalman_filter(theta._replace(**{name: np.ones((4, 4))}), x)
    with pytest.raises(ValueError, match="at least one step"):
        kalman_filter(theta, x[:0])
    short = passed._replace(predicted=Gaussian(passed.predicted.mean, passed.predicted.cov[1:]))
    with pytest.raises(ValueError, match="last axes should be"):
        rts_smoother(theta, short)


@pytest.mark.parametrize("way", [rts_smoother, rts_smoother_reference])
def test_states_known_without_doubt_cannot_be_smoothed(
    way: Callable[[LDS, Filtered], Smoothed],
) -> None:
    one = np.ones((1, 1))
    theta = LDS(one, 0 * one, one, one, np.zeros(1), 0 * one)
    passed = kalman_filter(theta, np.zeros((5, 1)))
    with pytest.raises(np.linalg.LinAlgError):
        way(theta, passed)


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


def test_an_autoregression_is_at_rest_from_the_start() -> None:
    theta = autoregression(0.8, 0.5, 0.3)
    assert_allclose(theta.A @ theta.V0 @ theta.A.T + theta.Gamma, theta.V0, rtol=1e-14)
    assert_allclose([theta.C[0, 0], theta.Sigma[0, 0], theta.mu0[0]], [1, 0.3, 0])


def test_a_rotation_turns_and_shrinks() -> None:
    C = np.arange(6.0).reshape(3, 2)
    theta = rotation(C, np.pi / 2, 0.5, 0.2, 0.7)
    assert_allclose(theta.A @ [1, 0], [0, 0.5], rtol=0, atol=1e-15)
    assert_allclose(theta.A @ [0, 1], [-0.5, 0], rtol=0, atol=1e-15)
    assert_allclose([theta.Gamma[0, 0], theta.Sigma[2, 2]], [0.04, 0.49], rtol=1e-12)
    _, x = simulate(theta, 4, np.random.default_rng(9))
    assert kalman_filter(theta, x).filtered.mean.shape == (4, 2)


def test_errors_in_units_of_what_is_claimed() -> None:
    rng = np.random.default_rng(8)
    theta = random_system(rng, M=3)
    z, x = simulate(theta, 5, rng, size=(400,))
    passed = kalman_filter(theta, x)
    e, cov = passed.filtered.mean - z, passed.filtered.cov
    one_by_one = [e[i] @ np.linalg.inv(cov[i[1]]) @ e[i] / 3 for i in np.ndindex(400, 5)]
    assert_allclose(in_variances(e, cov), np.mean(one_by_one), rtol=1e-10)
    assert_allclose(in_variances(e, cov), 1, rtol=0, atol=0.1)
    assert_allclose(in_variances(2 * e, cov), 4 * in_variances(e, cov), rtol=1e-12)
