"""EM must increase its objective at every step, and its M step must be a stationary point."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize

from bythebook.models.em import expectation_maximisation, take
from bythebook.models.state_space.kalman import LDS, kalman_filter, rotation, rts_smoother, simulate
from bythebook.models.state_space.lds_em import (
    Moments,
    expected_moments,
    fit_lds,
    fit_observed,
    identity_start,
    maximise,
    output_subspace,
    random_start,
    subspace_start,
)
from bythebook.models.types import Floats


def turning(rng: np.random.Generator, radius: float = 0.98) -> LDS:
    """A turning two-dimensional state seen through five noisy outputs."""
    return rotation(rng.normal(size=(5, 2)), 0.3, radius, 0.2, 0.7)


def joined(*starts: LDS) -> LDS:
    return LDS(*(np.concatenate(fields) for fields in zip(*starts, strict=True)))


@pytest.fixture(scope="module")
def series() -> tuple[LDS, Floats]:
    rng = np.random.default_rng(0)
    truth = turning(rng)
    return truth, simulate(truth, 120, rng)[1]


@pytest.fixture(scope="module")
def starts(series: tuple[LDS, Floats]) -> LDS:
    _, x = series
    rng = np.random.default_rng(1)
    return joined(random_start(x, 2, 3, rng), identity_start(x, 2), subspace_start(x, 2, 3))


@pytest.mark.parametrize(
    ("held", "diagonal"),
    [
        ((), False),
        (("Gamma",), True),
        (("A", "C"), False),
        (("Gamma", "Sigma", "mu0"), False),
        (("C", "V0"), True),
    ],
)
def test_the_likelihood_never_falls(
    series: tuple[LDS, Floats], starts: LDS, held: tuple[str, ...], diagonal: bool
) -> None:
    _, x = series
    fit = fit_lds(x, starts, held=held, diagonal_noise=diagonal, tol=-np.inf, max_iter=15)
    assert fit.objective.shape == (5, 16)
    assert np.diff(fit.objective).min() > 0  # every step of every restart, far from convergence
    for name in held:
        assert_allclose(getattr(fit.theta, name), getattr(starts, name), rtol=0, atol=0)
    if diagonal:
        assert_allclose(fit.theta.Sigma * (1 - np.eye(5)), 0, atol=0)
    last = kalman_filter(fit.theta, x).log_likelihood
    assert_allclose(fit.final, last, rtol=1e-12)


def test_the_printed_lag_one_covariance_makes_the_likelihood_fall(
    series: tuple[LDS, Floats], starts: LDS
) -> None:
    """PRML (13.106) as printed is the transpose of what (13.113) needs: an erratum that shows."""
    _, x = series
    near = fit_lds(x, take(starts, slice(4, 5)), max_iter=30).theta  # close to the maximum

    def e_step(theta: LDS) -> tuple[Moments, Floats]:
        passed = kalman_filter(theta, x)
        smoothed = rts_smoother(theta, passed)
        printed = smoothed._replace(
            state=smoothed.state._replace(mean=smoothed.state.mean[np.newaxis]),
            lag_one=smoothed.lag_one.mT,
        )
        return expected_moments(x[np.newaxis], printed), passed.log_likelihood

    def m_step(theta: LDS, q: Moments) -> LDS:
        return maximise(theta, q, x.T @ x, 1, len(x))

    fit = expectation_maximisation(near, e_step, m_step, tol=-np.inf, max_iter=1)
    assert fit.objective[0, 1] < fit.objective[0, 0] - 0.1


def test_the_m_step_is_the_maximum_of_the_expected_log_likelihood(
    series: tuple[LDS, Floats], starts: LDS
) -> None:
    """Perturb every parameter: Q(theta) must be stationary at the M step's answer (13.109)."""
    _, x = series
    start = take(starts, slice(0, 1))
    smoothed = rts_smoother(start, kalman_filter(start, x[np.newaxis, np.newaxis]))
    best = maximise(start, expected_moments(x[np.newaxis], smoothed), x.T @ x, 1, len(x))
    mean, cov = smoothed.state.mean[0, 0], smoothed.state.cov[0]
    lag = smoothed.lag_one[0]

    def expected(residual_cov: Floats, noise: Floats) -> float:
        return float(
            -0.5 * np.linalg.slogdet(noise).logabsdet
            - 0.5 * np.trace(np.linalg.solve(noise, residual_cov))
        )

    def Q(theta: LDS) -> float:
        """The naive sum over time of (13.108) under the posterior."""
        A, Gamma, C, Sigma, mu0, V0 = (field[0] for field in theta)
        first = mean[0] - mu0
        total = expected(cov[0] + np.outer(first, first), V0)
        for n in range(len(x)):
            r = x[n] - C @ mean[n]
            total += expected(np.outer(r, r) + C @ cov[n] @ C.T, Sigma)
            if n:
                r = mean[n] - A @ mean[n - 1]
                cross = A @ lag[n - 1].T
                spread = cov[n] - cross - cross.T + A @ cov[n - 1] @ A.T
                total += expected(np.outer(r, r) + spread, Gamma)
        return total

    for name in LDS._fields:
        field = getattr(best, name)

        def along(flat: Floats, name: str = name, shape: tuple[int, ...] = field.shape) -> float:
            value = flat.reshape(shape)
            if name in ("Gamma", "Sigma", "V0"):
                value = (value + value.mT) / 2
            return Q(best._replace(**{name: value}))

        gradient = optimize.approx_fprime(field.ravel(), along, 1e-7)
        assert_allclose(gradient, 0, atol=2e-3, err_msg=name)
    assert Q(best) > Q(start)


def test_training_likelihood_passes_the_truth_and_finds_the_frequency(
    series: tuple[LDS, Floats], starts: LDS
) -> None:
    truth, x = series
    fit = fit_lds(x, take(starts, slice(4, 5)), max_iter=60, snapshots=[0, 60])
    assert fit.final[0] > kalman_filter(truth, x).log_likelihood
    angles = np.abs(np.angle(np.linalg.eigvals(fit.theta.A[0])))
    assert_allclose(angles, 0.3, rtol=0, atol=0.05)  # the basis of the state is arbitrary
    assert_allclose(fit.snapshots[0].C, starts.C[4:5], rtol=0)


def test_several_series_count_as_one_sample(starts: LDS) -> None:
    """The same series twice: the same estimates, twice the log likelihood."""
    rng = np.random.default_rng(4)
    _, x = simulate(turning(rng), 30, rng)
    once = fit_lds(x, starts, tol=-np.inf, max_iter=3)
    twice = fit_lds(np.stack([x, x]), starts, tol=-np.inf, max_iter=3)
    assert_allclose(twice.objective, 2 * once.objective, rtol=1e-10)
    for one, two in zip(once.theta, twice.theta, strict=True):
        assert_allclose(two, one, rtol=1e-8, atol=1e-10)


def test_observed_states_are_fitted_by_least_squares() -> None:
    """MLAPP 18.4.2 against numpy's lstsq."""
    rng = np.random.default_rng(5)
    truth = turning(rng)
    z, x = simulate(truth, 400, rng)
    theta = take(fit_observed(x, z), 0)
    A = np.linalg.lstsq(z[:-1], z[1:], rcond=None)[0].T
    C = np.linalg.lstsq(z, x, rcond=None)[0].T
    assert_allclose(theta.A, A, rtol=1e-9)
    assert_allclose(theta.C, C, rtol=1e-9)
    r, e = z[1:] - z[:-1] @ A.T, x - z @ C.T
    assert_allclose(theta.Gamma, r.T @ r / 399, rtol=1e-8, atol=1e-12)
    assert_allclose(theta.Sigma, e.T @ e / 400, rtol=1e-8, atol=1e-12)
    assert_allclose(theta.mu0, z[0], rtol=1e-12)


def test_without_noise_the_outputs_lie_in_a_subspace() -> None:
    rng = np.random.default_rng(6)
    zero = np.zeros((2, 2))
    truth = turning(rng, radius=1.0)._replace(Gamma=zero, Sigma=np.zeros((5, 5)))
    z, x = simulate(truth, 80, rng)
    for lags in (1, 4):
        found = output_subspace(x, 2, lags)
        assert found.singular_values[1] > 1
        assert_allclose(found.singular_values[2:], 0, atol=1e-10)
        # The recovered states are the true ones up to an invertible map.
        M = np.linalg.lstsq(z[: len(found.z)], found.z, rcond=None)[0]
        assert_allclose(z[: len(found.z)] @ M, found.z, atol=1e-9)


def test_subspace_start_is_a_change_of_basis_of_the_observed_fit() -> None:
    """Same likelihood before and after Gamma = I, and far above the random starts."""
    rng = np.random.default_rng(7)
    truth = turning(rng)
    _, x = simulate(truth, 200, rng)
    start = subspace_start(x, 2, lags=3)
    z = output_subspace(x, 2, lags=3).z
    plain = fit_observed(x[: len(z)], z)
    plain = plain._replace(Sigma=plain.Sigma * np.eye(5))
    level = kalman_filter(start, x).log_likelihood
    assert_allclose(start.Gamma, np.eye(2)[np.newaxis], rtol=0, atol=0)
    assert_allclose(level, kalman_filter(plain, x).log_likelihood, rtol=1e-9)
    others = kalman_filter(random_start(x, 2, 10, rng), x).log_likelihood
    assert level[0] > others.max() + 100


def test_starts_refuse_and_scale() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(50, 3)) * np.array([1.0, 10.0, 100.0])
    with pytest.raises(ValueError, match="4 states"):
        identity_start(x, 4)
    with pytest.raises(ValueError, match="no parameter"):
        fit_lds(x, identity_start(x, 2), held=["Q"])
    start = random_start(x, 2, 500, rng)
    assert_allclose(np.abs(np.linalg.eigvals(start.A)).max(-1), 0.9, rtol=1e-12)
    # 1000 draws: the standard error of a standard deviation is 1 / sqrt(2000), 2.2 %.
    assert_allclose(start.C.std((0, 2)) * np.sqrt(2), x.std(0), rtol=0.1)


def test_what_a_start_does_not_draw() -> None:
    x = np.random.default_rng(10).normal(size=(40, 3)) * np.array([1.0, 2.0, 3.0])
    for start in (identity_start(x, 2), random_start(x, 2, 4, np.random.default_rng(11))):
        for r in range(len(start.A)):
            assert_allclose(start.Gamma[r], np.eye(2))
            assert_allclose(start.V0[r], np.eye(2))
            assert_allclose(start.mu0[r], np.zeros(2))
            assert_allclose(start.Sigma[r], np.diag(x.var(0)), rtol=1e-12)
    first = identity_start(x, 2)
    assert_allclose(first.A[0], np.eye(2))
    assert_allclose(first.C[0], [[x[:, 0].std(), 0], [0, x[:, 1].std()], [0, 0]], rtol=1e-12)


def test_it_ends_by_default_after_so_many_steps_or_with_a_gain_so_small() -> None:
    """A hundred steps, or the first gain of no more than 1e-6."""
    x = simulate(turning(np.random.default_rng(12)), 40, np.random.default_rng(13))[1]
    start = identity_start(x, 1)
    assert fit_lds(x, start, tol=-np.inf).iterations.tolist() == [100]
    others = ["A", "Gamma", "C", "Sigma", "V0"]  # with all of them free it takes long
    gains = np.diff(fit_lds(x, start, held=others, max_iter=5000).objective[0])
    assert gains[-1] <= 1e-6 < gains[-2]
