"""All orders from one factorisation, against exact rational arithmetic and against refitting."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.datasets import load
from bythebook.models.regression import polynomials
from bythebook.models.regression.polynomials import (
    fit_orders,
    kfold_loss,
    log_likelihood,
    loo_by_order,
    loo_loss,
    loss_at,
    monomial_weights,
    noise_gain,
    predict_orders,
    random_folds,
    training_loss,
)
from bythebook.models.types import Floats, Ints

TOP = 8


@pytest.fixture(scope="module")
def olympics() -> tuple[Floats, Floats]:
    return load("olympics-100m-men").xt


@pytest.fixture
def toys() -> tuple[Floats, Floats]:
    """A batch of 2 x 3 data sets of 15 points, on very different ranges."""
    rng = np.random.default_rng(5)
    width = np.array([0.01, 1.0, 60.0])[:, np.newaxis]
    return width * rng.uniform(-1, 1, (2, 3, 15)), rng.normal(size=(2, 3, 15))


def exact(values: Floats) -> list[Fraction]:
    """The printed decimals, not their nearest doubles."""
    return [Fraction(str(value)) for value in values.tolist()]


def exact_fit(x: list[Fraction], t: list[Fraction], order: int) -> list[Fraction]:
    """The weights of 1, x, ..., x^order from the normal equations, by Gauss-Jordan elimination."""
    k = order + 1
    moments = [sum((xn**i for xn in x), Fraction(0)) for i in range(2 * order + 1)]
    right = [sum((tn * xn**i for xn, tn in zip(x, t, strict=True)), Fraction(0)) for i in range(k)]
    rows = [[*moments[i : i + k], right[i]] for i in range(k)]
    for i in range(k):
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for j in range(k):
            if j != i:
                factor = rows[j][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def exact_error(w: list[Fraction], x: Fraction, t: Fraction) -> Fraction:
    return t - sum((wk * x**k for k, wk in enumerate(w)), Fraction(0))


def refitted(x: Floats, t: Floats, kept: Ints, order: int, at: Floats) -> Floats:
    """Predictions of a fit to some of the points; the inputs are standardised for conditioning."""
    centre, scale = x.mean(), x.std()
    weights = np.polyfit((x[kept] - centre) / scale, t[kept], order)
    return np.asarray(np.polyval(weights, (at - centre) / scale))


def test_training_loss_is_that_of_exact_arithmetic(olympics: tuple[Floats, Floats]) -> None:
    x, t = olympics
    years, times = exact((x - 1896) / 4), exact(t)
    expected = []
    for order in range(TOP + 1):
        w = exact_fit(years, times, order)
        errors = [exact_error(w, xn, tn) for xn, tn in zip(years, times, strict=True)]
        expected.append(float(sum(e**2 for e in errors)) / len(errors))
    assert_allclose(training_loss(fit_orders(x, t, TOP)), expected, rtol=1e-10)
    # FCML 1.4 prints the totals 1.358 and 0.459; the latter is 0.458497, rounded twice.
    assert_allclose(27 * np.array(expected)[[1, 8]], [1.358292, 0.458497], atol=5e-7)


def test_leave_one_out_is_that_of_exact_refits(olympics: tuple[Floats, Floats]) -> None:
    x, t = olympics
    years, times = exact((x - 1896) / 4), exact(t)
    expected = []
    for order in range(TOP + 1):
        total = Fraction(0)
        for n in range(len(years)):
            w = exact_fit(years[:n] + years[n + 1 :], times[:n] + times[n + 1 :], order)
            total += exact_error(w, years[n], times[n]) ** 2
        expected.append(float(total) / len(years))
    assert_allclose(loo_loss(fit_orders(x, t, TOP)), expected, rtol=1e-9)
    assert_allclose(loo_by_order(x, t, TOP), expected, rtol=1e-9)
    assert np.argmin(expected) == 3  # FCML 1.5.2


@pytest.mark.parametrize("k", [2, 10, 27])
def test_folds_without_refitting_are_the_refitted_folds(
    olympics: tuple[Floats, Floats], k: int
) -> None:
    x, t = olympics
    folds = random_folds(len(x), k, np.random.default_rng(k))
    expected = np.zeros(TOP + 1)
    for fold in folds:
        kept = np.setdiff1d(np.arange(len(x)), fold)
        for order in range(TOP + 1):
            errors = t[fold] - refitted(x, t, kept, order, x[fold])
            expected[order] += np.sum(errors**2) / len(x)
    found = kfold_loss(fit_orders(x, t, TOP), folds)
    assert_allclose(found, expected, rtol=1e-8)
    if k == len(x):
        assert_allclose(found, loo_loss(fit_orders(x, t, TOP)), rtol=1e-9)


@pytest.mark.parametrize("n", [12, 27, 500])
def test_losses_without_the_fits_are_those_of_the_fits(n: int) -> None:
    """Compiled Arnoldi against LAPACK's QR: a batch on very different ranges."""
    rng = np.random.default_rng(n)
    width = np.array([0.01, 1.0, 60.0])[:, np.newaxis]
    x, t = 1900 + width * rng.uniform(-1, 1, (2, 3, n)), rng.normal(size=(2, 3, n))
    for order in (0, 1, 2, 5):
        expected = loo_loss(fit_orders(x, t, order))
        assert_allclose(loo_by_order(x, t, order), expected, rtol=1e-8, err_msg=f"order {order}")
    shared = loo_by_order(x[0, 0], t, 5)
    assert_allclose(shared[1, 2], loo_loss(fit_orders(x[0, 0], t[1, 2], 5)), rtol=1e-8)


def test_losses_without_the_fits_hold_where_points_cluster() -> None:
    """Exact refits: three terms of the recurrence are wrong by a tenth, and so is `fit_orders`."""
    x = np.concatenate([np.arange(-10, 11) / 1024, np.repeat([-1.0, -0.875, 0.75, 1.0], 3)])
    t = np.random.default_rng(6).integers(-99, 99, len(x)).astype(np.float64)
    places, targets, total = exact(x), exact(t), Fraction(0)
    for n in range(len(x)):
        w = exact_fit(places[:n] + places[n + 1 :], targets[:n] + targets[n + 1 :], 12)
        total += exact_error(w, places[n], targets[n]) ** 2
    assert_allclose(loo_by_order(x, t, 12)[12], float(total) / len(x), rtol=1e-9)


def test_compiled_losses_as_written(olympics: tuple[Floats, Floats]) -> None:
    """The kernel's Python gives the same values as the compiled function."""
    x, t = olympics
    loss = np.empty((1, 4))
    polynomials._loo_kernel.plain(x[np.newaxis], t[np.newaxis], loss)
    assert_allclose(loo_by_order(x, t, 3), loss[0], rtol=1e-12)


def test_predictions_within_and_beyond_the_data(olympics: tuple[Floats, Floats]) -> None:
    x, t = olympics
    places = np.array([1890.0, 1950.0, 2016.0])
    found = predict_orders(fit_orders(x, t, TOP), places)
    everything = np.arange(len(x))
    for order in range(TOP + 1):
        expected = refitted(x, t, everything, order, places)
        assert_allclose(found[order], expected, rtol=1e-9, err_msg=f"order {order}")
    # FCML 1.2 prints 9.541 s for the line in 2016, and 2.7.4 close to 11 s for order 8.
    assert_allclose(found[[1, 8], 2], [9.541390, 10.960668], atol=5e-6)


def test_predictions_at_the_inputs_leave_the_residuals(toys: tuple[Floats, Floats]) -> None:
    x, t = toys
    fits = fit_orders(x, t, 4)
    predicted = predict_orders(fits, x)
    assert_allclose(t[..., np.newaxis, :] - predicted, fits.residuals, atol=1e-12)


def test_monomial_weights_are_those_of_exact_arithmetic(olympics: tuple[Floats, Floats]) -> None:
    x, t = olympics
    for order in range(4):
        expected = [float(w) for w in exact_fit(exact(x), exact(t), order)]
        found = monomial_weights(fit_orders(x, t, TOP), order)
        assert_allclose(found, expected, rtol=1e-6, err_msg=f"order {order}")


def test_noise_gain_is_the_spread_of_fits_to_noise() -> None:
    rng, u = np.random.default_rng(4), np.linspace(0, 1, 51)
    x = np.linspace(0, 1, 10)
    fits = predict_orders(fit_orders(x, rng.normal(size=(4000, 10)), 3), u)
    found = noise_gain(x, 3, u, np.full(51, 1 / 51))
    # The mean square of Gaussians that go together: four in number, at order 3.
    assert_allclose(found**2, (fits**2).mean((0, 2)), rtol=4 * np.sqrt(2 / 4000))


def test_weights_of_data_on_a_lower_order_are_padded_with_zeros() -> None:
    x = np.linspace(-1, 1, 9)
    assert_allclose(monomial_weights(fit_orders(x, 2 - 3 * x, 4), 4), [2, -3, 0, 0, 0], atol=1e-12)
    assert monomial_weights(fit_orders(x, np.zeros(9), 3), 3).shape == (4,)


def test_log_likelihood_is_the_density_at_the_fit(olympics: tuple[Floats, Floats]) -> None:
    x, t = olympics
    fits = fit_orders(x, t, TOP)
    sigma = np.sqrt(training_loss(fits))[:, np.newaxis]
    density = -0.5 * np.log(2 * np.pi) - np.log(sigma) - 0.5 * (fits.residuals / sigma) ** 2
    assert_allclose(log_likelihood(fits), density.sum(axis=-1), rtol=1e-12)


@pytest.mark.parametrize("loss", [training_loss, loo_loss, log_likelihood])
def test_a_batch_is_a_loop(toys: tuple[Floats, Floats], loss: object) -> None:
    x, t = toys
    assert callable(loss)
    found = loss(fit_orders(x, t, 5))
    assert found.shape == (2, 3, 6)
    for i in np.ndindex(2, 3):
        assert_allclose(found[i], loss(fit_orders(x[i], t[i], 5)), rtol=1e-10)


def test_a_batch_of_folds_and_predictions_is_a_loop(toys: tuple[Floats, Floats]) -> None:
    x, t = toys
    folds = random_folds(15, 4, np.random.default_rng(0))
    places = 1.1 * x[..., :4]
    fits = fit_orders(x, t, 5)
    losses, predictions = kfold_loss(fits, folds), predict_orders(fits, places)
    errors = (1 - predictions) ** 2
    assert_allclose(loss_at(fits, places, np.ones_like(places)), errors.mean(-1), rtol=1e-12)
    for i in np.ndindex(2, 3):
        alone = fit_orders(x[i], t[i], 5)
        assert_allclose(losses[i], kfold_loss(alone, folds), rtol=1e-8)
        assert_allclose(predictions[i], predict_orders(alone, places[i]), rtol=1e-8)


def test_targets_may_be_a_batch_over_shared_inputs(toys: tuple[Floats, Floats]) -> None:
    x, t = toys
    shared = training_loss(fit_orders(x[0, 0], t, 3))
    assert_allclose(shared[1, 2], training_loss(fit_orders(x[0, 0], t[1, 2], 3)), rtol=1e-12)


def test_a_point_that_fixes_the_fit_has_no_leave_one_out() -> None:
    x, t = np.array([0.0, 1.0, 2.0]), np.array([1.0, -1.0, 2.0])
    loss = loo_loss(fit_orders(x, t, 2))
    assert np.isfinite(loss[:2]).all()
    assert np.isinf(loss[2])
    assert_allclose(loo_by_order(x, t, 2), loss, rtol=1e-12)
    many = np.random.default_rng(8).uniform(size=(20, 7))
    assert np.isinf(loo_by_order(many, many[:, ::-1], 6)[:, 6]).all()


def test_an_order_needs_more_points_than_it_has() -> None:
    with pytest.raises(ValueError, match="order 3 needs 4 points, not 3"):
        fit_orders(np.arange(3.0), np.arange(3.0), 3)


def test_random_folds_are_a_partition_of_even_sizes() -> None:
    folds = random_folds(27, 10, np.random.default_rng(1))
    assert sorted(np.concatenate(folds).tolist()) == list(range(27))
    assert {len(fold) for fold in folds} == {2, 3}
