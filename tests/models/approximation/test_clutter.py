"""The clutter problem against enumeration, quadrature by SciPy, and conjugate cases."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import integrate, stats

from bythebook.models.approximation import clutter
from bythebook.models.approximation.clutter import Clutter

OF = Clutter(0.5, 10.0, 100.0)


def data(sets: int = 4, points: int = 6, seed: int = 0) -> np.ndarray:
    return clutter.draw(2.0, OF, (sets, points), np.random.default_rng(seed))


def test_the_grid_has_the_moments_of_scipy_quadrature() -> None:
    x = data(1)

    def moment(power: int) -> float:
        def f(t: float) -> float:
            factors = 0.5 * stats.norm.pdf(x, t) + 0.5 * stats.norm.pdf(x, 0, 10**0.5)
            return float(t**power * stats.norm.pdf(t, 0, 10) * np.prod(factors))

        return float(integrate.quad(f, -50, 50, points=[-5, 0, 5], epsabs=0, limit=200)[0])

    Z, first, second = (moment(k) for k in range(3))
    found = clutter.exact(x, OF).summary
    assert_allclose(found.log_evidence, np.log(Z))
    assert_allclose(found.mean, [[first / Z]], rtol=1e-6)
    assert_allclose(found.variance, second / Z - (first / Z) ** 2, rtol=1e-5)


def test_points_are_drawn_about_the_mean_or_from_the_clutter() -> None:
    """The mixture of 30 % clutter of variance 4 with a unit Gaussian about 3."""
    x = clutter.draw(3.0, Clutter(0.3, 4.0, 1.0), (200, 500), np.random.default_rng(6))
    assert x.shape == (200, 500, 1)
    assert_allclose(x.mean(), 0.7 * 3, atol=0.03)
    assert_allclose((x**2).mean(), 0.3 * 4 + 0.7 * (1 + 9), atol=0.1)


def test_a_factor_in_its_context_against_scipy() -> None:
    x, m, v = np.array([1.7]), np.array([0.4]), np.array(1.3)

    def moment(power: int) -> float:
        def f(t: float) -> float:
            factor = 0.5 * stats.norm.pdf(1.7, t) + 0.5 * stats.norm.pdf(1.7, 0, 10**0.5)
            return float(t**power * factor * stats.norm.pdf(t, 0.4, 1.3**0.5))

        return float(integrate.quad(f, -12, 12)[0])

    Z, first, second = (moment(k) for k in range(3))
    found = clutter.tilted(x, m, v, OF)
    assert_allclose(np.exp(found.log_z), Z)
    assert_allclose(found.mean[0], first / Z)
    assert_allclose(found.variance, second / Z - (first / Z) ** 2)


def test_without_clutter_one_pass_is_the_conjugate_posterior_in_any_dimension() -> None:
    x = np.random.default_rng(1).normal(size=(3, 5, 2))
    run = clutter.propagate(x, Clutter(0.0, 1.0, 4.0), 2)
    assert_allclose(run.course.variance[-1], 1 / (0.25 + 5))
    assert_allclose(run.course.mean[-1], x.sum(1) / 5.25)
    joint = stats.multivariate_normal(np.zeros(5), np.eye(5) + 4.0)
    assert_allclose(run.course.log_evidence[-1], joint.logpdf(x.transpose(0, 2, 1)).sum(-1))


def test_passes_that_are_not_made_repeat_the_last() -> None:
    """Without clutter the second pass changes nothing, and is the last of six that is made."""
    x = np.random.default_rng(2).normal(size=(3, 5, 2))
    run = clutter.propagate(x, Clutter(0.0, 1.0, 4.0), 6)
    assert [len(part) for part in run.course] == [7, 7, 7]
    assert_allclose(run.course.mean, [np.zeros((3, 2)), *[x.sum(1) / 5.25] * 6])
    assert run.change.shape == (6, 3)
    assert (run.change[2:] == 0).all()


def test_propagation_is_near_the_exact_posterior_and_its_factors_are_at_rest() -> None:
    x = data(points=40)
    run, posterior = clutter.propagate(x, OF, 40), clutter.exact(x, OF)
    assert run.change[-1].max() < 1e-10
    assert_allclose(run.course.mean[-1], posterior.summary.mean, atol=0.02)
    assert_allclose(run.course.log_evidence[-1], posterior.summary.log_evidence, atol=0.02)
    again = clutter.propagate(x, OF, 40, damping=0.5)
    assert_allclose(again.course.mean[-1], run.course.mean[-1], atol=1e-6)


def test_the_constants_of_one_pass_integrate_to_the_product_of_normalisers() -> None:
    x = data()
    run = clutter.propagate(x, OF, 1, order=np.tile([3, 1, 0, 5, 2, 4], (4, 1)))
    P, h = 0.01 + run.sites.precision.sum(-1), run.sites.shift.sum(1)
    prior = clutter.log_partition(np.array(0.01), np.zeros(1))
    integral = run.constant.sum(-1) + clutter.log_partition(P, h) - prior
    assert_allclose(integral, run.log_z.sum(-1))


def test_a_factor_alone_knows_the_prior_only() -> None:
    x = data(points=1)
    assert_allclose(clutter.alone(x, OF).mean, clutter.propagate(x, OF, 1).course.mean[-1])


def test_the_bound_at_convergence_has_the_best_factor_of_the_labels() -> None:
    """The shorter form of the bound, into which that factor is substituted."""
    x = data(points=12)
    q = clutter.variational(x, OF, 300).course
    m, v, points = q.mean[-1], q.variance[-1][:, None], x[..., 0]
    signal = np.log(0.5) + stats.norm.logpdf(points, m) - v / 2
    noise = np.log(0.5) + stats.norm.logpdf(points, 0, 10**0.5)
    divergence = ((v + m**2) / 100 - 1 - np.log(v / 100))[:, 0] / 2
    assert_allclose(q.log_evidence[-1], np.logaddexp(signal, noise).sum(1) - divergence)


def test_bounds_lie_below_and_laplace_is_at_the_mode() -> None:
    x = data(points=30)
    posterior = clutter.exact(x, OF, points=8001)
    bound = clutter.variational(x, OF, 60).course.log_evidence
    assert (np.diff(bound, axis=0) > -1e-9).all()
    assert (bound[-1] < posterior.summary.log_evidence).all()
    mode = clutter.laplace(x, OF, 300).course
    best = posterior.theta[posterior.density.argmax(-1)]
    assert_allclose(mode.mean[-1][:, 0], best, atol=0.01)
    g = np.log(posterior.density)
    at = posterior.density.argmax(-1)
    rows = np.arange(4)
    bend = (2 * g[rows, at] - g[rows, at - 1] - g[rows, at + 1]) / 0.0125**2
    assert_allclose(1 / mode.variance[-1], bend, rtol=0.01)


def test_laplace_is_exact_where_next_to_nothing_is_clutter() -> None:
    x = np.random.default_rng(3).normal(size=(3, 5, 1))
    found = clutter.laplace(x, Clutter(1e-300, 10.0, 4.0), 2).course
    joint = stats.multivariate_normal(np.zeros(5), np.eye(5) + 4.0)
    assert_allclose(found.mean, [x.sum(1) / 5.25] * 2, rtol=1e-10)
    assert_allclose(found.variance, np.full((2, 3), 1 / 5.25), rtol=1e-10)
    assert_allclose(found.log_evidence, [joint.logpdf(x[..., 0])] * 2, rtol=1e-10)


def test_total_variation_of_known_gaussians() -> None:
    theta = np.linspace(-50, 50, 2001)
    p = clutter.OnGrid(theta, stats.norm.pdf(theta)[None], None)  # type: ignore[arg-type]
    found = clutter.total_variation(p, np.array([[0.0, 2.0]]), np.array([[1.0, 1.0]]))
    assert_allclose(found, [[0, 2 * stats.norm.cdf(1) - 1]], atol=1e-3)
