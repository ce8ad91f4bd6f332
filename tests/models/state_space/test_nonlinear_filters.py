"""Nonlinear filters: exact for linear systems, compared with a grid filter for others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from bythebook.models.state_space.kalman import LDS, Filtered, kalman_filter
from bythebook.models.state_space.kalman import simulate as simulate_linear
from bythebook.models.state_space.line_systems import LineSystem
from bythebook.models.state_space.nonlinear_examples import growth_system, random_lds, walker_system
from bythebook.models.state_space.nonlinear_filters import (
    NonlinearSystem,
    extended_filter,
    linear_system,
    simulate,
    state_space,
    unscented_filter,
)
from bythebook.models.state_space.particle_filter import bootstrap_filter
from bythebook.models.state_space.unscented import Scaling
from bythebook.models.types import Floats

FILTERS = {
    "extended": extended_filter,
    "iterated": lambda system, y: extended_filter(system, y, 4),
    "unscented": lambda system, y: unscented_filter(system, y, Scaling()),
    "unscented, other points": lambda system, y: unscented_filter(system, y, Scaling(0.7, 2, 1)),
}


@pytest.mark.parametrize("name", FILTERS)
def test_in_a_linear_system_every_filter_is_the_kalman_filter(name: str, theta: LDS) -> None:
    _, x = simulate_linear(theta, 10, np.random.default_rng(0), (3,))
    exact, found = kalman_filter(theta, x), FILTERS[name](linear_system(theta), x)
    for part in ("predicted", "filtered"):
        mean, cov = getattr(exact, part)
        assert_allclose(getattr(found, part).mean, mean, rtol=0, atol=1e-11)
        right = np.broadcast_to(cov, (3, *cov.shape))
        assert_allclose(getattr(found, part).cov, right, rtol=0, atol=1e-11)
    assert_allclose(found.log_c, exact.log_c, rtol=0, atol=1e-11)


def test_the_particle_filter_is_given_the_densities_of_the_system(theta: LDS) -> None:
    """Weights by SciPy's density; draws by their moments, of which there are 40,000 each."""
    _, x = simulate_linear(theta, 4, np.random.default_rng(1))
    model, rng = state_space(linear_system(theta), x), np.random.default_rng(2)
    z = rng.standard_normal((5, 2))
    right = [multivariate_normal(theta.C @ row, theta.Sigma).logpdf(x[2]) for row in z]
    assert_allclose(model.log_weight(2, z), right, rtol=1e-12)
    for draws, mean, cov in (
        (model.initial((40_000,), rng), theta.mu0, theta.V0),
        (model.propagate(2, np.tile(z[0], (40_000, 1)), rng), theta.A @ z[0], theta.Gamma),
    ):
        assert_allclose(draws.mean(0), mean, rtol=0, atol=0.02)
        assert_allclose(np.cov(draws.T), cov, rtol=0, atol=0.03)


@pytest.mark.parametrize(
    "system",
    [
        growth_system(10.0, 1.0),
        walker_system(2.0, 0.5, 1.0),
        linear_system(random_lds(np.random.default_rng(0))),
    ],
)
def test_jacobians_are_those_of_differences(system: NonlinearSystem) -> None:
    M = len(system.mu0)
    z, step = np.random.default_rng(4).standard_normal((6, M)), 1e-6
    for f, J in (
        (lambda x: system.g(3, x), system.G(3, z)),
        (system.h, system.H(z)),
    ):
        columns = [(f(z + step * e) - f(z - step * e)) / (2 * step) for e in np.eye(M)]
        found = np.stack(columns, axis=-1)
        assert_allclose(np.broadcast_to(J, found.shape), found, rtol=0, atol=1e-6)


def test_the_growth_model_and_the_walker_by_hand() -> None:
    growth, z = growth_system(10.0, 1.0), np.array([2.0])
    assert_allclose(growth.g(3, z), [1 + 10 + 8 * np.cos(3.6)], rtol=1e-14)
    assert_allclose(growth.h(z), [0.2], rtol=1e-14)
    walker = walker_system(2.0, 0.5, 1.0)
    there = walker.g(1, np.array([0.0, 0.0, np.pi / 2, 2.0]))
    assert_allclose(there, [0, 2, np.pi / 2, 2], rtol=0, atol=1e-14)
    assert_allclose(walker.h(there), [0, *np.full(2, np.sqrt(12))], rtol=0, atol=1e-14)


def test_simulated_states_and_outputs_follow_the_system() -> None:
    """Residuals have the covariances of the noise, and the first state that of the prior."""
    system = walker_system(3.0, 0.5, 0.4)
    z, y = simulate(system, 8, np.random.default_rng(5), (4000,))
    w = z[:, 1:] - system.g(1, z[:, :-1])
    for noise, right in (
        ((z[:, 0] - system.mu0), system.V0),
        (w.reshape(-1, 4), system.Q),
        ((y - system.h(z)).reshape(-1, 3), system.R),
    ):
        scale = np.sqrt(np.diagonal(right))
        error = noise.T @ noise / len(noise) - right
        assert np.abs(error / np.outer(scale, scale)).max() < 0.06


def test_one_linearisation_is_the_extended_filter_by_hand() -> None:
    """MLAPP 18.88-18.92 for the growth model, in numbers."""
    system, y = growth_system(10.0, 1.0), np.array([[3.0], [4.0]])
    m, V = system.mu0[0] + 1.5, 5.0
    system = system._replace(mu0=np.array([m]))
    for n in range(2):
        if n:
            slope = 0.5 + 25 * (1 - m**2) / (1 + m**2) ** 2
            m, V = m / 2 + 25 * m / (1 + m**2) + 8 * np.cos(1.2 * n), slope**2 * V + 10
        K = V * m / 10 / ((m / 10) ** 2 * V + 1)
        m, V = m + K * (y[n, 0] - m**2 / 20), (1 - K * m / 10) * V
    found = extended_filter(system, y).filtered
    assert_allclose([found.mean[1, 0], found.cov[1, 0, 0]], [m, V], rtol=1e-12)


def test_the_iterated_filter_finds_the_mode() -> None:
    """Re-linearising until convergence is Gauss-Newton: the mode of prior times likelihood."""
    system = walker_system(3.0, 0.3, 0.6)
    _, y = simulate(system, 1, np.random.default_rng(6))
    found = extended_filter(system, y, 100).filtered.mean[0]

    def loss(z: Floats) -> float:
        e, d = y[0] - system.h(z), z - system.mu0
        return float(e @ np.linalg.solve(system.R, e) + d @ np.linalg.solve(system.V0, d))

    best = minimize(loss, system.mu0, method="BFGS", options={"gtol": 1e-9})
    assert_allclose(found, best.x, rtol=0, atol=1e-5)
    once = extended_filter(system, y).filtered.mean[0]
    assert np.abs(once - best.x).max() > 1e-3


def grid_moments(system: NonlinearSystem, y: Floats, n_points: int = 801) -> tuple[Floats, Floats]:
    weight = state_space(system, y).log_weight
    exact = LineSystem(system, reach=45).on_grid(weight, y.shape[-2], n_points)
    return exact.mean, exact.log_likelihood


def mild() -> NonlinearSystem:
    """A mean-reverting state, observed through a nearly linear function."""
    system = linear_system(LDS(*(np.eye(1),) * 4, np.zeros(1), np.eye(1)))
    return system._replace(
        g=lambda n, z: 0.8 * z + np.sin(z) / 4,
        G=lambda n, z: (0.8 + np.cos(z) / 4)[..., np.newaxis],
        h=lambda z: z + np.sin(z) / 4,
        H=lambda z: (1 + np.cos(z) / 4)[..., np.newaxis],
    )


def rms(e: Floats) -> float:
    return float(np.sqrt(np.mean(e**2)))


def test_gaussian_filters_are_near_the_grid_where_beliefs_are_nearly_gaussian() -> None:
    system = mild()
    _, y = simulate(system, 20, np.random.default_rng(7), (20,))
    exact, _ = grid_moments(system, y)
    gap = {name: rms(f(system, y).filtered.mean[..., 0] - exact) for name, f in FILTERS.items()}
    assert max(gap.values()) < 0.2  # of a standard deviation of about 0.7
    assert gap["extended"] > 0.01  # there is something to approximate
    assert gap["unscented"] < gap["extended"]


def test_particles_approach_the_grid_as_the_root_of_their_number() -> None:
    system = growth_system(10.0, 1.0)
    _, y = simulate(system, 15, np.random.default_rng(8), (20,))
    exact, log_likelihood = grid_moments(system, y)
    finer = grid_moments(system, y, 1201)  # the error of the grid itself
    assert_allclose(exact, finer[0], rtol=0, atol=1e-6)
    rng, model, sizes, errors = np.random.default_rng(9), state_space(system, y), [100, 6400], []
    for L in sizes:
        found = bootstrap_filter(model, 15, L, rng, size=(20,))
        errors.append(rms(found.mean[..., 0] - exact))
    assert 4 < errors[0] / errors[1] < 16  # 8, the root of 64
    assert_allclose(found.log_likelihood, log_likelihood, rtol=0, atol=1.0)


def test_leading_axes_are_series_side_by_side() -> None:
    system = walker_system(5.0, 0.5, 1.0)
    _, y = simulate(system, 5, np.random.default_rng(10), (2, 3))
    for run in FILTERS.values():
        many, one = run(system, y), run(system, y[1, 2])
        assert isinstance(many, Filtered)
        assert many.filtered.cov.shape == (2, 3, 5, 4, 4)
        assert_allclose(many.filtered.mean[1, 2], one.filtered.mean, rtol=1e-10)
        assert_allclose(many.log_c[1, 2], one.log_c, rtol=1e-10)
