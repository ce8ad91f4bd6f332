"""Oracles: central differences, a loop over units, and networks without hidden layers.

A network with no hidden layer is linear regression, so weight decay must give ridge regression and
the l1 penalty the lasso.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from sklearn.linear_model import Lasso

from bythebook.models.convergence import NotConverged
from bythebook.models.networks.neural_network import (
    Method,
    descend,
    error_and_gradient,
    fit_network,
    fit_networks,
    layers,
    n_parameters,
    output_jacobian,
    per_layer,
    predict,
    random_start,
    sample_prior,
)
from bythebook.models.types import Floats


def sinusoid(rng: np.random.Generator, N: int) -> tuple[Floats, Floats]:
    x = rng.uniform(-1.5, 1.5, size=(N, 1))
    return x, np.sin(2 * x) + rng.normal(0, 0.3, size=(N, 1))


def linear_data(rng: np.random.Generator) -> tuple[Floats, Floats]:
    x = rng.normal(size=(40, 4))
    return x, x @ np.array([[2.0], [-1.0], [0.05], [0.0]]) + 3 + rng.normal(0, 0.5, size=(40, 1))


@pytest.mark.parametrize("sizes", [(2, 3), (1, 4, 1), (2, 3, 4, 2), (1, 5, 5, 5, 5, 1)])
def test_back_propagation_is_the_central_difference(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(7, sizes[0])), rng.normal(size=(7, sizes[-1]))
    theta = rng.normal(size=(3, n_parameters(sizes)))
    error, gradient = error_and_gradient(theta, sizes, x, t)
    h = 1e-5
    steps = h * np.eye(theta.shape[1])
    up = error_and_gradient(theta[:, np.newaxis] + steps, sizes, x, t)[0]
    down = error_and_gradient(theta[:, np.newaxis] - steps, sizes, x, t)[0]
    assert_allclose(gradient, (up - down) / (2 * h), rtol=1e-6, atol=1e-7)
    assert_allclose(error, 0.5 * ((predict(theta, sizes, x) - t) ** 2).sum((1, 2)), rtol=1e-13)


def test_forward_pass_unit_by_unit() -> None:
    rng = np.random.default_rng(1)
    sizes = (2, 3, 2, 1)
    theta = rng.normal(size=(2, n_parameters(sizes)))
    x = rng.normal(size=(4, 2))
    found = predict(theta, sizes, x)
    assert found.shape == (2, 4, 1)
    for r in range(2):
        for n in range(4):
            z = list(x[n])
            for depth, layer in enumerate(layers(theta[r], sizes)):
                a = [
                    sum(w * zi for w, zi in zip(row, z, strict=True)) + b
                    for row, b in zip(layer.W, layer.b, strict=True)
                ]
                z = a if depth == 2 else [float(np.tanh(value)) for value in a]
            assert_allclose(found[r, n], z, rtol=1e-12)


def test_layers_are_views_and_per_layer_fills_them() -> None:
    sizes = (1, 12, 1)
    spread = per_layer(sizes, weights=(0.01, 1.0), biases=(0.1, 2.0))
    first, second = layers(spread, sizes)
    assert first.W.shape == (12, 1)
    assert second.W.shape == (1, 12)
    assert [np.unique(field).item() for field in (*first, *second)] == [0.01, 0.1, 1.0, 2.0]
    assert np.count_nonzero(per_layer(sizes, weights=3.0)) == 24  # biases are not penalised
    first.W[...] = 7
    assert np.count_nonzero(spread == 7) == 12


def test_permuted_and_reflected_units_give_the_same_function() -> None:
    """MLAPP 16.5.5: tanh is odd, and units have no names."""
    rng = np.random.default_rng(2)
    sizes = (1, 5, 1)
    theta = random_start(sizes, 1, rng)
    other = theta.copy()
    order, sign = rng.permutation(5), np.array([1, -1, -1, 1, -1])
    (V, b), (W, _) = layers(theta, sizes)
    (V2, b2), (W2, _) = layers(other, sizes)
    V2[...], b2[...] = V[:, order] * sign[:, np.newaxis], b[:, order] * sign
    W2[...] = W[..., order] * sign
    x = np.linspace(-2, 2, 9)[:, np.newaxis]
    assert np.abs(other - theta).max() > 0.1
    assert_allclose(predict(other, sizes, x), predict(theta, sizes, x), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("method", ["L-BFGS-B", "CG"])
def test_weight_decay_without_hidden_units_is_ridge_regression(method: Method) -> None:
    rng = np.random.default_rng(3)
    x, t = linear_data(rng)
    sizes = (4, 1)
    fit = fit_network(
        random_start(sizes, 3, rng), sizes, x, t, decay=per_layer(sizes, 5.0), method=method
    )
    Phi = np.column_stack([x, np.ones(40)])
    ridge = np.linalg.solve(Phi.T @ Phi + 5 * np.diag([1, 1, 1, 1, 0]), Phi.T @ t).T
    assert fit.converged.all()
    assert_allclose(fit.theta, ridge.repeat(3, 0), rtol=0, atol=1e-6)
    J = 0.5 * ((Phi @ ridge.T - t) ** 2).sum() + 2.5 * (ridge[0, :4] ** 2).sum()
    assert_allclose(fit.objective, J, rtol=1e-10)


def test_l1_without_hidden_units_is_the_lasso() -> None:
    rng = np.random.default_rng(4)
    x, t = linear_data(rng)
    sizes = (4, 1)
    l1 = per_layer(sizes, 6.0)
    lasso = Lasso(alpha=6.0 / 40, tol=1e-12, max_iter=100_000).fit(x, t[:, 0])
    expected = np.append(lasso.coef_, lasso.intercept_)
    assert np.count_nonzero(lasso.coef_) == 2
    start = random_start(sizes, 2, rng)
    fit = fit_network(start, sizes, x, t, l1=l1)
    walked = descend(start, sizes, x, t, l1=l1, validation=(x, t), rate=0.01, n_epochs=2000)
    for found in (fit.theta, walked.theta):
        assert_allclose(found, np.tile(expected, (2, 1)), rtol=0, atol=1e-5)
        assert np.array_equal(found == 0, np.tile(expected == 0, (2, 1)))  # exact zeros
    penalised = 0.5 * ((lasso.predict(x) - t[:, 0]) ** 2).sum() + 6 * np.abs(lasso.coef_).sum()
    assert_allclose(fit.objective, penalised, rtol=1e-9)
    with pytest.raises(ValueError, match="CG"):
        fit_network(start, sizes, x, t, l1=l1, method="CG")


def test_pruned_network_satisfies_the_optimality_conditions() -> None:
    """Zero is optimal where |gradient| <= l1, and elsewhere gradient + l1 sign(theta) = 0."""
    rng = np.random.default_rng(5)
    x, t = sinusoid(rng, 50)
    sizes = (1, 6, 4, 1)
    fit = fit_network(random_start(sizes, 3, rng), sizes, x, t, l1=0.5, decay=1e-2)
    assert fit.converged.all()
    _, gradient = error_and_gradient(fit.theta, sizes, x, t)
    gradient += 1e-2 * fit.theta
    zero = fit.theta == 0
    assert 0.5 < zero.mean() < 0.95  # most connections are gone
    assert np.abs(gradient[zero]).max() <= 0.5 + 1e-5
    assert_allclose(gradient[~zero], -0.5 * np.sign(fit.theta[~zero]), rtol=0, atol=1e-5)


def test_consistent_priors_follow_a_change_of_units() -> None:
    """MLAPP 16.5.6.1: x -> c x, t -> d t is absorbed by one precision for each layer."""
    rng = np.random.default_rng(6)
    x, t = sinusoid(rng, 30)
    sizes, c, d = (1, 5, 1), 10.0, 3.0
    start = random_start(sizes, 2, rng)
    alpha = per_layer(sizes, weights=(0.1, 0.2), biases=(0.05, 0.3))
    rescale = per_layer(sizes, weights=(1 / c, d), biases=(1.0, d))  # of theta, for the new units
    plain = fit_network(start, sizes, x, t, decay=alpha)
    # The noise variance becomes d^2, which multiplies the penalties of the new theta.
    scaled = fit_network(
        start * rescale, sizes, c * x, d * t, decay=alpha * d**2 / rescale**2, tol=1e-5
    )
    assert plain.converged.all()
    assert_allclose(scaled.objective, d**2 * plain.objective, rtol=1e-6)
    y = predict(plain.theta, sizes, x)
    assert_allclose(predict(scaled.theta, sizes, c * x), d * y, rtol=0, atol=1e-3)


def test_prior_samples_have_the_variance_of_the_prior() -> None:
    """Figure 16.17: Var f(x) = H E[tanh^2(v x + b)] / alpha_w + 1 / alpha_c."""
    sizes, x = (1, 12, 1), 0.7
    alpha = per_layer(sizes, weights=(0.01, 1.0), biases=(0.1, 1.0))
    theta = sample_prior(alpha, 20_000, np.random.default_rng(7))
    f = predict(theta, sizes, np.array([[x]]))[:, 0, 0]
    activation = stats.norm(0, np.sqrt(x**2 / 0.01 + 1 / 0.1))
    square, _ = integrate.quad(lambda a: np.tanh(a) ** 2 * activation.pdf(a), -60, 60, limit=200)
    # f is nearly Gaussian: a variance from 20,000 draws has a standard error of 1 %.
    assert_allclose(f.var(), 12 * square + 1, rtol=0.04)
    assert abs(f.mean()) < 4 * f.std() / np.sqrt(20_000)


@pytest.mark.parametrize("sizes", [(2, 1), (1, 4, 1), (2, 3, 4, 1)])
def test_jacobian_is_the_central_difference(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(12)
    x, theta = rng.normal(size=(7, sizes[0])), rng.normal(size=(3, n_parameters(sizes)))
    y, J = output_jacobian(theta, sizes, x)
    assert_allclose(y, predict(theta, sizes, x)[..., 0], rtol=1e-13)
    for p, step in enumerate(1e-5 * np.eye(theta.shape[1])):
        change = predict(theta + step, sizes, x) - predict(theta - step, sizes, x)
        assert_allclose(J[..., p], change[..., 0] / 2e-5, rtol=1e-6, atol=1e-8)
    with pytest.raises(ValueError, match="one output"):
        output_jacobian(np.zeros(8), (1, 2, 2), x)


def test_levenberg_marquardt_without_hidden_units_is_ridge_regression() -> None:
    rng = np.random.default_rng(13)
    x, t = linear_data(rng)
    sizes = (4, 1)
    fit = fit_networks(random_start(sizes, 3, rng), sizes, x, t[:, 0], decay=per_layer(sizes, 5.0))
    Phi = np.column_stack([x, np.ones(40)])
    ridge = np.linalg.solve(Phi.T @ Phi + np.diag([5.0] * 4 + [0.0]), Phi.T @ t).T
    assert fit.converged.all()
    assert_allclose(fit.theta, ridge.repeat(3, 0), rtol=0, atol=1e-6)


def test_levenberg_marquardt_finds_minima_that_l_bfgs_does_not_leave() -> None:
    """Each network has its own data and decay; a minimum has no gradient, and J is as stated."""
    rng = np.random.default_rng(14)
    sizes = (1, 6, 1)
    sets = [sinusoid(rng, 12) for _ in range(4)]
    x, t = (np.stack(part) for part in zip(*sets, strict=True))
    decay = np.stack([per_layer(sizes, lam, lam) for lam in (0.03, 0.03, 0.3, 3.0)])
    start = random_start(sizes, 4, rng)
    fit = fit_networks(start, sizes, x, t[..., 0], decay=decay, tol=1e-4, max_iter=2000)
    assert fit.converged.all()
    for r in range(4):
        error, gradient = error_and_gradient(fit.theta[r], sizes, *sets[r])
        assert_allclose(gradient + decay[r] * fit.theta[r], 0, atol=1e-4)
        J = error + 0.5 * (decay[r] * fit.theta[r] ** 2).sum()
        assert_allclose(fit.objective[r], J, rtol=1e-12)
        stayed = fit_network(fit.theta[r : r + 1], sizes, *sets[r], decay=decay[r])
        assert_allclose(stayed.objective[0], fit.objective[r], rtol=1e-4)
    few = fit_networks(start, sizes, x, t[..., 0], decay=decay, max_iter=5)
    for r in range(4):  # together or alone, the steps are the same
        one = slice(r, r + 1)
        alone = fit_networks(
            start[one], sizes, sets[r][0], sets[r][1][:, 0], decay=decay[r], max_iter=5
        )
        assert_allclose(alone.theta[0], few.theta[r], rtol=1e-9, atol=1e-12)


def test_levenberg_marquardt_says_when_it_was_cut_short() -> None:
    rng = np.random.default_rng(15)
    x, t = sinusoid(rng, 10)
    start = random_start((1, 8, 1), 5, rng)
    fit = fit_networks(start, (1, 8, 1), x, t[:, 0], max_iter=3)
    assert not fit.converged.any()
    assert np.array_equal(fit.iterations, np.full(5, 3))
    assert np.all(fit.objective < error_and_gradient(start, (1, 8, 1), x, t)[0])


def test_with_l1_it_stays_where_it_has_arrived() -> None:
    """At a minimum with weights of both signs no step decreases the objective."""
    rng = np.random.default_rng(19)
    x, t = linear_data(rng)
    found = fit_network(random_start((4, 1), 2, rng), (4, 1), x, t, l1=0.3, tol=1e-7)
    assert (found.theta < 0).any()
    assert (found.theta > 0).any()
    again = fit_network(found.theta, (4, 1), x, t, l1=0.3)
    assert again.iterations.tolist() == [0, 0]
    assert_allclose(again.theta, found.theta, rtol=1e-12)


def test_descent_keeps_the_whole_history_and_stops_early() -> None:
    rng = np.random.default_rng(8)
    x, t = sinusoid(rng, 10)
    validation = sinusoid(rng, 60)
    sizes = (1, 10, 1)
    start = random_start(sizes, 4, rng)
    path = descend(start, sizes, x, t, validation=validation, rate=0.02, n_epochs=3000)
    assert path.train.shape == path.validation.shape == (4, 3001)
    assert np.diff(path.train).max() < 0  # monotone at every epoch of every restart
    assert np.array_equal(path.epoch, path.validation.argmin(1))
    assert np.all((path.epoch > 0) & (path.epoch < 3000))

    def mean_square(theta: Floats, data: tuple[Floats, Floats]) -> Floats:
        return np.asarray(((predict(theta, sizes, data[0]) - data[1]) ** 2).mean((1, 2)))

    assert_allclose(mean_square(start, (x, t)), path.train[:, 0], rtol=1e-12)
    assert_allclose(mean_square(path.theta, validation), path.validation[:, -1], rtol=1e-12)
    assert_allclose(mean_square(path.stopped, validation), path.validation.min(1), rtol=1e-12)
    rise = (np.diff(path.validation) > 0).argmax(1)  # the epoch before the first that raises it
    at_rise = mean_square(path.first_rise, validation)
    assert_allclose(at_rise, path.validation[np.arange(4), rise], rtol=1e-12)
    still = descend(start, sizes, x, t, validation=validation, rate=1e-9, n_epochs=3)
    assert np.diff(still.validation).max() < 0
    assert np.array_equal(still.first_rise, still.theta)  # it never rises


def test_descent_treats_restarts_and_penalties_apart() -> None:
    rng = np.random.default_rng(9)
    x, t = sinusoid(rng, 12)
    sizes = (1, 4, 1)
    start = random_start(sizes, 2, rng)
    decay = np.stack([per_layer(sizes, 0.0), per_layer(sizes, 2.0)])
    both = descend(
        start, sizes, x, t, validation=(x, t), rate=0.01, n_epochs=50, decay=decay, l1=0.1 * decay
    )
    for r in range(2):
        alone = descend(
            start[r : r + 1],
            sizes,
            x,
            t,
            validation=(x, t),
            rate=0.01,
            n_epochs=50,
            decay=decay[r],
            l1=0.1 * decay[r],
        )
        assert_allclose(both.theta[r], alone.theta[0], rtol=1e-12, atol=1e-15)
        assert_allclose(both.train[r], alone.train[0], rtol=1e-12)


def test_descent_takes_a_data_set_for_each_network() -> None:
    rng = np.random.default_rng(11)
    sizes = (1, 4, 1)
    start = random_start(sizes, 3, rng)
    sets, held = ([sinusoid(rng, size) for _ in range(3)] for size in (12, 30))
    x, t = (np.stack(part) for part in zip(*sets, strict=True))
    validation = tuple(np.stack(part) for part in zip(*held, strict=True))
    together = descend(
        start, sizes, x, t, validation=(validation[0], validation[1]), rate=0.01, n_epochs=50
    )
    for r in range(3):
        alone = descend(
            start[r : r + 1], sizes, *sets[r], validation=held[r], rate=0.01, n_epochs=50
        )
        for found, expected in zip(together, alone, strict=True):
            assert_allclose(found[r], expected[0], rtol=1e-12, atol=1e-15)


def test_descent_and_quasi_newton_agree_on_a_regularised_network() -> None:
    rng = np.random.default_rng(10)
    x, t = sinusoid(rng, 20)
    sizes = (1, 3, 1)
    start = random_start(sizes, 2, rng)
    fit = fit_network(start, sizes, x, t, decay=0.5)
    path = descend(fit.theta, sizes, x, t, validation=(x, t), rate=0.01, n_epochs=20, decay=0.5)
    assert_allclose(path.theta, fit.theta, rtol=0, atol=1e-6)  # a fixed point of the descent


def test_fits_that_stop_at_the_limit_warn() -> None:
    rng = np.random.default_rng(0)
    x, t = sinusoid(rng, 20)
    start = random_start((1, 3, 1), 2, rng)
    with pytest.warns(NotConverged, match="Levenberg-Marquardt .* 2 iterations in 2 fits"):
        fit_networks(start, (1, 3, 1), x, t[:, 0], max_iter=2)
    with pytest.warns(NotConverged, match="L-BFGS-B .* 2 iterations in 2 fits"):
        fit_network(start, (1, 3, 1), x, t, max_iter=2)
