"""The study of polynomial orders: knob rules, and the outcome against independent refits."""

import dataclasses
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.plotting.canvas import style
from bythebook.experiments.plotting.registry import figures
from bythebook.experiments.studies.regression.polynomial_order import PolynomialOrder
from bythebook.models.datasets import load
from bythebook.models.regression import variational_regression
from bythebook.models.types import Floats

ORDERS = list(range(1, 9))
Run = Callable[..., Outcome]
# numpy.polynomial's Polynomial.fit on the times of FCML Table 1.2, by order.
TRAINING = {0: 0.26809246, 1: 0.05030711, 4: 0.02706031, 8: 0.01698139, 12: 0.00826929}
TRAINING_TO_1976 = {1: 0.05818453, 4: 0.03009959, 8: 0.01675127}
HOLDOUT_FROM_1980 = {1: 0.101298, 4: 4.457056, 6: 1533.436859, 8: 6023.270748}
LOG_LIKELIHOOD = {0: -20.539625, 1: 2.048379, 4: 10.419436, 8: 16.709764}
# PRML Table 1.1, from memory. Rounding the targets to six decimals moves the weights of order nine
# by up to 2.4.
TABLE_1_1 = {
    0: [0.19],
    1: [0.82, -1.27],
    3: [0.31, 7.99, -25.43, 17.37],
    9: [
        *(0.35, 232.37, -5321.83, 48568.31, -231639.30),
        *(640042.26, -1061800.52, 1042400.18, -557682.99, 125201.43),
    ],
}


def refit(x: Floats, t: Floats, order: int, at: Floats) -> Floats:
    scaled = (x - 1950) / 60
    return np.asarray(np.polyval(np.polyfit(scaled, t, order), (at - 1950) / 60))


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"orders": [-1]}, "study.orders"),
        ({"orders": [1, 1]}, "repeats an entry"),
        ({"orders": []}, "is empty"),
        ({"data": "fcml-toy-regression", "orders": [3]}, "has 3 inputs"),
        ({"holdout_from": 1800}, "holds out 27 of 27"),
        ({"holdout_from": 2009}, "holds out 0 of 27"),
        ({"holdout_from": 1928}, "order 8 needs 9 to fit"),
        ({"folds": [28]}, "study.folds of 27 points"),
        ({"folds": [2], "orders": [14]}, "too few to fit order 14"),
        ({"folds": [10, 2], "orders": [14]}, "too few to fit order 14"),
        ({"folds": [1]}, "study.folds"),
        ({"folds": [5, 5]}, "repeats an entry"),
        ({"partitions": 0}, "study.partitions"),
        ({"data": None, "curve": "sine", "orders": [20]}, "has 20 inputs"),
        ({"data": None, "curve": "sine", "more_n": [8]}, "has 8 inputs"),
        ({"data": None, "curve": "sine", "holdout_from": 0.5}, "study.data=<name>"),
        ({"data": None, "curve": "sine", "held_out": 12}, "too few for order 8"),
        ({"data": None}, "nothing to draw from"),
        ({"more_n": [40]}, "is one data set"),
        ({"repetitions": 2}, "is one data set"),
        ({"noise": 0.0, "prior_variances": [1.0]}, "study.noise=0"),
        ({"gamma_priors": [-1.0]}, "study.gamma_priors"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        PolynomialOrder(**knobs)  # type: ignore[arg-type]


def test_without_folds_every_order_below_the_inputs_is_allowed() -> None:
    PolynomialOrder(data="fcml-toy-regression", orders=[2])


def test_holdout_against_refits(run: Run) -> None:
    study = PolynomialOrder(orders=ORDERS, holdout_from=1980)
    found = run(study)
    x, t = load(study.data).xt
    early = x < 1980
    assert early.sum() == 19
    assert found["held"].values.tolist() == (~early).tolist()
    assert found["targets"].coord("point").tolist() == x.tolist()
    fitted = np.array([refit(x[early], t[early], order, x) for order in ORDERS])
    assert_allclose(found["fitted"], fitted, rtol=1e-6)
    errors = t - fitted
    loo = []
    for order in ORDERS:
        left = [t[n] - refit(np.delete(x, n), np.delete(t, n), order, x[n]) for n in range(len(x))]
        loo.append(np.mean(np.square(left)))
    assert_allclose(found["training_loss"], np.mean(errors[:, early] ** 2, axis=1), rtol=1e-5)
    assert_allclose(found["holdout_loss"], np.mean(errors[:, ~early] ** 2, axis=1), rtol=1e-5)
    assert_allclose(found["loo_loss"], loo, rtol=1e-5)


def test_losses_and_likelihoods_are_those_of_another_library(run: Run) -> None:
    everything = run(PolynomialOrder(orders=list(range(13)), predict_at=[2012, 2016]))
    to_1976 = run(PolynomialOrder(orders=ORDERS, holdout_from=1980))
    for quantity, expected, atol in (
        (everything["training_loss"], TRAINING, 1e-8),
        (everything["log_likelihood"], LOG_LIKELIHOOD, 1e-6),
        (to_1976["training_loss"], TRAINING_TO_1976, 1e-8),
        (to_1976["holdout_loss"], HOLDOUT_FROM_1980, 1e-5),
    ):
        assert_allclose(quantity.sel(order=list(expected)), [*expected.values()], atol=atol)
    assert_allclose(everything["prediction"].sel(order=12, input=2016).item, 33.0886687, atol=1e-5)
    curve = everything["curve"].sel(order=8)
    assert_allclose([np.mean(curve), curve.values[0]], [10.5934961, 17.6579146], atol=1e-6)
    errors = (to_1976["targets"] - to_1976["fitted"]).sel(point=[1980, 2008], order=[4, 8])
    assert_allclose(errors.values[:, 0], [0.104207, -4.248009], atol=1e-6)
    assert_allclose(errors.values[1, 1], 184.121, atol=1e-3)
    curves = run(PolynomialOrder(orders=[1, 4, 8], holdout_from=1980))["curve"]
    assert_allclose(np.mean(curves, axis=1), [10.3039261, 11.1359108, -19.1740463], atol=1e-5)


def test_training_likelihood_and_predictions_against_refits(run: Run) -> None:
    study = PolynomialOrder(orders=[8, 1], predict_at=[2016])
    found = run(study)
    x, t = load(study.data).xt
    for order in (1, 8):
        sigma2 = np.mean((t - refit(x, t, order, x)) ** 2)
        assert_allclose(found["training_loss"].sel(order=order), sigma2, rtol=1e-8)
        likelihood = -13.5 * (1 + np.log(2 * np.pi * sigma2))
        assert_allclose(found["log_likelihood"].sel(order=order), likelihood, rtol=1e-8)
        predicted = refit(x, t, order, np.array(2016.0))
        assert_allclose(found["prediction"].sel(order=order, input=2016), predicted, rtol=1e-8)
        grid = found["curve"].coord("x")
        assert_allclose(found["curve"].sel(order=order), refit(x, t, order, grid), rtol=1e-6)
    assert found["training_loss"].coord("order").tolist() == [1, 8]
    assert grid.min() < x.min()
    assert grid.max() >= 2016


def test_every_fold_a_point_is_leave_one_out(run: Run) -> None:
    found = run(PolynomialOrder(orders=ORDERS, folds=[27], partitions=2))
    for partition in range(2):
        losses = found["kfold_loss"].sel(folds=27, partition=partition)
        assert_allclose(losses, found["loo_loss"], rtol=1e-8)


def test_folds_are_those_of_a_plain_loop_over_random_partitions(run: Run) -> None:
    study = PolynomialOrder(
        data=None, curve="sine", n=12, orders=[3, 1], folds=[12, 4, 3], partitions=5
    )
    found = run(study)["kfold_loss"].sel(n=12, repetition=0)
    assert found.coord("folds").tolist() == [3, 4, 12]
    assert found.coord("order").tolist() == [1, 3]
    targets = run(study)["targets"]
    x, t = targets.coord("point"), targets.values
    errors = []
    for n in range(12):
        others = np.arange(12) != n
        errors.append((t[n] - Polynomial.fit(x[others], t[others], 3)(x[n])) ** 2)
    # There is one partition into single points, and repeating it changes nothing.
    assert_allclose(found.sel(folds=12, order=3), np.full(5, np.mean(errors)), rtol=1e-9)
    assert np.all(found.sel(folds=[3, 4]).values.std(axis=1) > 1e-6)


def test_drawn_data_depend_on_the_seed_alone(run: Run) -> None:
    a, b = (run(PolynomialOrder(data=None, curve="sine", orders=[1], folds=k)) for k in ([], [5]))
    assert a["targets"].values.tolist() == b["targets"].values.tolist()
    assert len(a["targets"]) == 20


def test_the_weights_are_those_of_prml_table_1_1(run: Run) -> None:
    found = run(PolynomialOrder(data="curve-fitting", orders=[*TABLE_1_1]))["weight"]
    for order, weights in TABLE_1_1.items():
        expected = np.pad(weights, (0, 10 - len(weights)))
        assert_allclose(found.sel(order=order), expected, rtol=3e-6, atol=0.005)


def test_weights_are_the_exact_ones(run: Run) -> None:
    """Solve the ten-by-ten system of order nine in fractions; doubles lose some digits."""
    study = PolynomialOrder(data="curve-fitting", orders=[0, 9])
    x = [Fraction(n, 9) for n in range(10)]
    t = [Fraction(str(v)) for v in load(study.data).xt[1]]
    rows = [[a**k for k in range(10)] + [b] for a, b in zip(x, t, strict=True)]
    for i in range(10):
        pivot = next(r for r in range(i, 10) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(10):
            if r != i:
                rows[r] = [v - rows[r][i] * w for v, w in zip(rows[r], rows[i], strict=True)]
    weight = run(study)["weight"]
    assert_allclose(weight.sel(order=9), [float(row[-1]) for row in rows], rtol=1e-9)
    assert_allclose(weight.sel(order=0), [float(sum(t) / 10), *[0] * 9], rtol=1e-12)


def test_a_result_names_its_figures(run: Run) -> None:
    study = load_job("fcml/fig-1.12").study
    named = {"losses": ["loo_loss", "holdout_loss"], "fits": [1, 8]}
    with style("screen"):
        drawn = dict(figures(study, run(study), named, source="a file"))
    assert list(drawn) == ["losses", "fits"]
    assert [ax.get_yscale() for ax in drawn["losses"].axes] == ["linear", "log"]
    assert drawn["losses"].axes[0].get_ylabel() == "Mean squared loss (s²)"
    assert drawn["fits"].axes[0].get_xlabel() == "Year"
    labels = drawn["fits"].axes[0].get_legend_handles_labels()[1]
    assert labels == ["order 1", "order 8", "data", "held out"]


def test_figures_show_what_is_recorded(run: Run) -> None:
    study = PolynomialOrder(orders=[1, 3], folds=[5, 9], partitions=3)
    with style("screen"):
        drawn = dict(figures(study, run(study)))
    assert list(drawn) == ["losses", "fits", "weights", "folds"]
    titles = ["Training", "Leave-one-out", "Held-out folds", "Maximised log likelihood"]
    assert [ax.get_title() for ax in drawn["losses"].axes] == titles
    assert drawn["losses"].axes[2].get_legend_handles_labels()[1] == ["5 folds", "9 folds"]
    assert len(drawn["folds"].axes) == 2  # one for each order


CUBIC = PolynomialOrder(
    data=None,
    curve="polynomial",
    weights=[0.0, 1.0, -1.0, 5.0],
    n=9,
    low=-2,
    high=2,
    noise=2.0,
    orders=[3, 1],
    repetitions=4,
    held_out=3,
    more_n=[12],
    prior_variances=[4.0, 0.3],
    gamma_priors=[0.0],
)


def drawn(study: PolynomialOrder) -> list[tuple[Floats, Floats]]:
    rng = make_rng(0)
    return [study.sets(rng, study.repetitions, n) for n in study.sizes]


def test_criteria_of_drawn_data_are_those_of_a_plain_loop(run: Run) -> None:
    found, u = run(CUBIC), np.linspace(-2, 2, 100_001)
    h = u - u**2 + 5 * u**3
    for i, (x, t) in enumerate(drawn(CUBIC)):
        for r, k in np.ndindex(4, 2):
            order, here = (1, 3)[k], (k, i, r)
            fit = Polynomial.fit(x[r], t[r], order)
            loss = np.trapezoid((fit(u) - h) ** 2, u) / 4 + 4
            assert_allclose(found["test_loss"].values[here], loss, rtol=1e-6)
            Phi = x[r][:, None] ** np.arange(order + 1)
            for j, s in enumerate((0.3, 4.0)):
                covariance = 4 * np.eye(len(t[r])) + s * Phi @ Phi.T
                log_p = multivariate_normal(np.zeros(len(t[r])), covariance).logpdf(t[r])
                assert_allclose(found["log_evidence"].values[k, j, i, r], log_p, rtol=1e-9)
                w = np.linalg.solve(Phi.T @ Phi + 4 / s * np.eye(order + 1), Phi.T @ t[r])
                loss = np.trapezoid((Polynomial(w)(u) - h) ** 2, u) / 4 + 4
                assert_allclose(found["posterior_test_loss"].values[k, j, i, r], loss, rtol=1e-6)
            bound = variational_regression.fit(Phi[None], t[r][None], 0.25).bound
            assert_allclose(found["bound"].values[k, 0, i, r], bound[0], rtol=1e-9)
    assert found["true_order"].item == 3


def test_points_held_out_at_random(run: Run) -> None:
    found, (x, t) = run(CUBIC), drawn(CUBIC)[0]
    held = found["held"].values
    assert held.sum() == 3
    u = np.linspace(-2, 2, 100_001)
    for k, order in enumerate((1, 3)):
        fit = Polynomial.fit(x[0][~held], t[0][~held], order)
        holdout = np.mean((t[0] - fit(x[0]))[held] ** 2)
        assert_allclose(found["holdout_loss"].values[k, 0, 0], holdout, rtol=1e-8)
        loss = np.trapezoid((fit(u) - u + u**2 - 5 * u**3) ** 2, u) / 4 + 4
        assert_allclose(found["rest_test_loss"].values[k, 0, 0], loss, rtol=1e-6)
        assert_allclose(found["curve"].sel(order=order), fit(found["curve"].coord("x")), rtol=1e-8)


def test_a_test_set_approximates_the_expected_loss(run: Run) -> None:
    study = dataclasses.replace(CUBIC, held_out=0, prior_variances=[], gamma_priors=[])
    exact = run(study)["test_loss"].values
    sampled = run(dataclasses.replace(study, test_points=10_000))["test_loss"].values
    assert np.all(exact != sampled)
    assert_allclose(sampled.mean(axis=-1), exact.mean(axis=-1), rtol=0.05)


def test_noise_in_the_fit_is_its_spread_over_fresh_noise(run: Run) -> None:
    found = run(PolynomialOrder(data="curve-fitting", curve="sine", orders=[3]))
    (x, t), rng, u = load("curve-fitting").xt, np.random.default_rng(0), np.linspace(0, 1, 201)
    fits = [Polynomial.fit(x, t + rng.normal(0, 0.3, 10), 3)(u) for _ in range(2000)]
    variance = np.trapezoid(np.var(fits, axis=0), u)
    assert_allclose(found["noise_in_fit"].sel(order=3), np.sqrt(variance), rtol=0.03)


def test_the_order_of_a_noisy_cubic_is_found(run: Run) -> None:
    study = dataclasses.replace(CUBIC, n=60, more_n=[], held_out=0, repetitions=40)
    found = run(dataclasses.replace(study, orders=[1, 2, 3, 4]))
    for name in ("share_loo_recovers", "share_test_recovers"):
        share = evaluate(PolynomialOrder.headline[name], found)
        assert isinstance(share, float)
        assert share > 0.5
