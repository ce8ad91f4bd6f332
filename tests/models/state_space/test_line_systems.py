"""States on a line: densities of noise by SciPy's, draws by quartiles, filters by Gaussian sums."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm
from scipy.stats import t as student

from bythebook.models.state_space import gaussian_sum
from bythebook.models.state_space.gaussian_sum import Belief, gaussian_sum_filter, moments
from bythebook.models.state_space.kalman import autoregression
from bythebook.models.state_space.line_systems import LINE_SYSTEMS, line_system, mixture_emission
from bythebook.models.state_space.nonlinear_filters import extended_filter
from bythebook.models.types import Floats

R = 0.5


def density(name: str, e: Floats) -> Floats:
    if name == "student":
        return np.asarray(student(3, scale=np.sqrt(R / 3)).pdf(e))
    if name == "mixture":
        narrow, broad = norm(0, np.sqrt(R / 8)), norm(0, np.sqrt(9 * R / 2))
        return np.asarray(0.8 * narrow.pdf(e) + 0.2 * broad.pdf(e))
    return np.asarray(norm(0, np.sqrt(R)).pdf(e))


@pytest.mark.parametrize("name", ["linear", "student", "mixture"])
def test_noise_has_the_density_that_it_should(name: str) -> None:
    line, z = line_system(name, 0.9, 0.5, R), np.array([[[0.0], [1.0], [4.0]]])
    found = line.state_space(np.array([[[0.5], [-2.0]]])).log_weight(1, z)
    assert_allclose(found, np.log(density(name, -2.0 - z[..., 0])), rtol=1e-12)


def test_noise_has_the_variance_that_it_says() -> None:
    assert_allclose(student(3, scale=np.sqrt(R / 3)).var(), R, rtol=1e-12)
    pi, _, Sigma = mixture_emission(R)
    assert_allclose(pi @ Sigma[:, 0, 0], R, rtol=1e-12)


@pytest.mark.parametrize("name", ["linear", "student", "mixture"])
def test_data_have_that_noise(name: str) -> None:
    z, y = line_system(name, 0.9, 0.5, R).simulate(25, np.random.default_rng(0), 1000)
    assert z.shape == y.shape == (1000, 25, 1)
    for reach in (0.1, 0.5, 2.0):
        inside = quad(lambda e: density(name, np.asarray(e)), -reach, reach)[0]
        assert_allclose((np.abs(y - z) < reach).mean(), inside, rtol=0, atol=0.01)


@pytest.mark.parametrize(("name", "q"), [*product(LINE_SYSTEMS, [2.0]), ("growth", 30.0)])
def test_as_good_as_no_state_is_beyond_the_grid(name: str, q: float) -> None:
    line = line_system(name, 0.9, q, R)
    z, y = line.simulate(50, np.random.default_rng(1), 200)
    assert np.abs(z).max() < line.reach
    exact = line.beliefs(y[:3], 401).exact
    assert exact.density[..., [0, -1]].max() < 1e-8


def test_exact_and_collapsed_beliefs_are_those_of_gaussian_sums() -> None:
    line, theta = line_system("mixture", 0.9, 0.5, R), autoregression(0.9, 0.5, R)
    _, y = line.simulate(6, np.random.default_rng(2), 3)
    beliefs = line.beliefs(y, 401).gaussians
    start = Belief(np.zeros(1), theta.mu0[np.newaxis], theta.V0[np.newaxis])
    for name, reduce in (("exact", lambda belief: belief), ("collapsed", gaussian_sum.collapse)):
        for row, mean, variance in zip(y, *beliefs[name], strict=True):
            emission = mixture_emission(R)
            sums = gaussian_sum_filter(start, theta.A, theta.Gamma, emission, row, reduce).filtered
            right = [moments(belief) for belief in sums]
            assert_allclose(mean, [m[0] for m, _ in right], rtol=0, atol=1e-7)
            assert_allclose(variance, [V[0, 0] for _, V in right], rtol=1e-6)


def test_a_forecast_sees_no_data() -> None:
    line = line_system("linear", 0.5, 0.3, R)
    for seed in (3, 4):
        _, y = line.simulate(4, np.random.default_rng(seed), 2)
        forecast = line.beliefs(y, 401).gaussians["no data"]
        assert_allclose(forecast.mean, np.zeros((2, 4)), rtol=0, atol=1e-12)
        assert_allclose(forecast.cov, np.full((2, 4), 0.3 / 0.75), rtol=1e-8)


def test_particles_predict_a_mixture() -> None:
    line, points = line_system("linear", 0.9, 0.5, R), np.linspace(-5, 5, 11)
    found = line.predicted(1, np.array([[1.0], [-2.0]]), np.array([0.3, 0.7]), points)
    sd = np.sqrt(0.5)
    right = 0.3 * norm(0.9, sd).pdf(points) + 0.7 * norm(-1.8, sd).pdf(points)
    assert_allclose(found, right, rtol=1e-12)


def test_a_linear_series_is_as_likely_by_every_exact_filter() -> None:
    """The joint density of all outputs, a Gaussian with covariances q a^|i - j| / (1 - a^2)."""
    line = line_system("linear", 0.8, 0.5, 0.3)
    _, y = line.simulate(12, np.random.default_rng(5), 4)
    n = np.arange(12)
    cov = 0.5 * 0.8 ** np.abs(n[:, None] - n) / (1 - 0.64) + 0.3 * np.eye(12)
    expected = multivariate_normal(np.zeros(12), cov).logpdf(y[..., 0])
    for found in (line.beliefs(y, 401).exact, extended_filter(line.system, y)):
        assert_allclose(found.log_likelihood, expected, rtol=1e-8)
