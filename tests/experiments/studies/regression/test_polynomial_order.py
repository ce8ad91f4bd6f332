"""The study of polynomial orders: knob rules, and the outcome against independent refits."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.figures.regression.polynomial_order import draw
from bythebook.experiments.plotting.canvas import style
from bythebook.experiments.studies.regression.polynomial_order import PolynomialOrder
from bythebook.models.datasets import load
from bythebook.models.types import Floats

ORDERS = list(range(1, 9))
Run = Callable[..., Outcome]


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
        ({"methods": ["guess"]}, "study.methods"),
        ({"methods": ["holdout"]}, "study.holdout_from=<input>"),
        ({"methods": ["holdout"], "holdout_from": 1800}, "holds out 27 of 27"),
        ({"methods": ["holdout"], "holdout_from": 2009}, "holds out 0 of 27"),
        ({"methods": ["holdout"], "holdout_from": 1928}, "order 8 needs 9 to fit"),
        ({"methods": ["kfold"], "folds": 28}, "study.folds of 27 points"),
        ({"methods": ["kfold"], "folds": 2, "orders": [14]}, "too few to fit order 14"),
        ({"folds": 1}, "study.folds=1"),
        ({"methods": ["refits"], "fold_counts": [28]}, "study.fold_counts of 27 points"),
        ({"methods": ["refits"], "fold_counts": [2], "orders": [14]}, "too few to fit order 14"),
        ({"fold_counts": []}, "is empty"),
        ({"partitions": 1}, "study.partitions"),
        ({"data": None, "orders": [10]}, "has 10 inputs"),
        ({"data": None, "methods": ["holdout"]}, "study.data=<name>"),
        ({"curves": [9]}, "order 9 is not among"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        PolynomialOrder(**knobs)  # type: ignore[arg-type]


def test_folds_do_not_matter_to_other_methods() -> None:
    PolynomialOrder(data="fcml-toy-regression", orders=[1], folds=10)


def test_holdout_against_refits(run: Run) -> None:
    study = PolynomialOrder(orders=ORDERS, methods=["loo", "holdout"], holdout_from=1980)
    found = run(study)
    x, t = load(study.data).xt
    early = x < 1980
    assert early.sum() == 19
    trained, held, loo = [], [], []
    for order in ORDERS:
        errors = t - refit(x[early], t[early], order, x)
        trained.append(np.mean(errors[early] ** 2))
        held.append(np.mean(errors[~early] ** 2))
        left = [t[n] - refit(np.delete(x, n), np.delete(t, n), order, x[n]) for n in range(len(x))]
        loo.append(np.mean(np.square(left)))
    for name, expected in (("holdout_training", trained), ("holdout", held), ("loo", loo)):
        assert_allclose(found[f"{name}_loss"], expected, rtol=1e-5, err_msg=name)


def test_training_likelihood_and_predictions_against_refits(run: Run) -> None:
    study = PolynomialOrder(
        orders=[8, 1], methods=["training", "likelihood"], curves=[8], predict_at=[2016]
    )
    found = run(study)
    x, t = load(study.data).xt
    for order in (1, 8):
        errors = t - refit(x, t, order, x)
        sigma2 = np.mean(errors**2)
        here = {
            name: quantity.sel(order=order)
            for name, quantity in found.items()
            if "order" in quantity.dims
        }
        assert_allclose(here["training_loss"], sigma2, rtol=1e-8)
        assert_allclose(here["total_loss"], errors @ errors, rtol=1e-8)
        likelihood = -13.5 * (1 + np.log(2 * np.pi * sigma2))
        assert_allclose(here["log_likelihood"], likelihood, rtol=1e-8)
        predicted = refit(x, t, order, np.array(2016.0))
        assert_allclose(here["prediction"].sel(input=2016), predicted, rtol=1e-8)
    assert found["training_loss"].coord("order").tolist() == [1, 8]
    grid = found["curve"].coord("x")
    assert_allclose(found["curve"], [refit(x, t, 8, grid)], rtol=1e-6)
    assert grid.min() < x.min()
    assert grid.max() >= 2016


def test_every_fold_a_point_is_leave_one_out(run: Run) -> None:
    found = run(PolynomialOrder(orders=ORDERS, methods=["loo", "kfold"], folds=27))
    assert_allclose(found["kfold_loss"], found["loo_loss"], rtol=1e-8)


def test_fits_of_cross_validation_are_counted_and_those_of_a_plain_loop(run: Run) -> None:
    study = PolynomialOrder(
        data=None, curve="sine", n=12, orders=[3], methods=["refits"], fold_counts=[4, 3]
    )
    found = run(study)
    assert found["fits"].coord("folds").tolist() == [3, 4, 12]
    assert found["fits"].values.tolist() == [3, 4, 12]
    assert_allclose(found["points_fitted"], [24, 36, 132], rtol=1e-12)
    x, t = found["inputs"].values, found["targets"].values
    errors = []
    for n in range(12):
        others = np.arange(12) != n
        errors.append((t[n] - Polynomial.fit(x[others], t[others], 3)(x[n])) ** 2)
    # There is one partition into single points, and repeating it changes nothing.
    assert_allclose(found["refitted_loss"].sel(folds=12), np.mean(errors), rtol=1e-9)
    assert np.all(found["refitted_loss"].values[:-1].std(axis=-1) > 1e-6)
    assert_allclose(found["shortcut_loss"], found["refitted_loss"], rtol=1e-8)
    with style("screen"):
        assert list(dict(draw(study, found))) == ["cost"]


def test_weights_are_the_exact_ones(run: Run) -> None:
    """Solve the ten-by-ten system of order nine in fractions; doubles lose some digits."""
    study = PolynomialOrder(data="curve-fitting", orders=[0, 9], methods=["weights"])
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


def test_figures_follow_the_methods(run: Run) -> None:
    study = PolynomialOrder(methods=["loo", "holdout"], holdout_from=1980, curves=[1, 8])
    with style("screen"):
        figures = dict(draw(study, run(study)))
    assert list(figures) == ["fits", "loo", "holdout"]
    assert [ax.get_yscale() for ax in figures["holdout"].axes] == ["linear", "log"]
    assert figures["loo"].axes[0].get_ylabel() == "Mean squared loss (s²)"
    assert figures["fits"].axes[0].get_xlabel() == "Year"
