"""The study of polynomial orders: knob rules, and the outcome against independent refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.studies.regression.polynomial_order import PolynomialOrder
from models.datasets import load
from models.types import Floats

ORDERS = list(range(1, 9))


def run(study: PolynomialOrder) -> Outcome:
    return study.run(generator(study.name, 0))


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
        ({"methods": ["kfold"], "folds": 28}, "study.folds=28"),
        ({"methods": ["kfold"], "folds": 2, "orders": [14]}, "too few to fit order 14"),
        ({"folds": 1}, "study.folds=1"),
        ({"reject_from": 9}, "does not divide"),
        ({"reject_from": 0}, "does not divide"),
        ({"curves": [9]}, "order 9 is not among"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        PolynomialOrder(**knobs)  # type: ignore[arg-type]


def test_folds_do_not_matter_to_other_methods() -> None:
    PolynomialOrder(data="fcml-toy-regression", orders=[1], folds=10)


def test_holdout_against_refits() -> None:
    study = PolynomialOrder(
        orders=ORDERS, methods=["loo", "holdout"], holdout_from=1980, reject_from=6
    )
    found = run(study).metrics
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
        values = [found[f"{name}_loss_order_{order}"] for order in ORDERS]
        assert_allclose(values, expected, rtol=1e-5, err_msg=name)
    assert found["holdout_best_order"] == ORDERS[int(np.argmin(held))]
    assert found["loo_best_order"] == ORDERS[int(np.argmin(loo))]
    assert found["loo_and_holdout_disagree"] is True
    assert found["holdout_rejects_high_orders"] is bool(min(held[5:]) > max(held[:5]))
    assert found["loo_rejects_high_orders"] is bool(min(loo[5:]) > max(loo[:5]))
    assert_allclose(found["holdout_loss_growth"], held[-1] / held[0], rtol=1e-5)
    assert found["holdout_loss_falls"] == 1  # from order 6 to order 7


def test_statements_can_be_false() -> None:
    # By leave-one-out order 4 is worse than order 2, but not worse than order 1.
    found = run(PolynomialOrder(orders=[1, 2, 4], methods=["loo"], reject_from=4)).metrics
    assert found["loo_rejects_high_orders"] is False
    agreeing = PolynomialOrder(orders=[0, 1], methods=["loo", "holdout"], holdout_from=1980)
    assert run(agreeing).metrics["loo_and_holdout_disagree"] is False


def test_training_likelihood_and_predictions_against_refits() -> None:
    study = PolynomialOrder(
        orders=[8, 1], methods=["training", "likelihood"], curves=[8], predict_at=[2016]
    )
    outcome = run(study)
    found = outcome.metrics
    x, t = load(study.data).xt
    for order in (1, 8):
        errors = t - refit(x, t, order, x)
        sigma2 = np.mean(errors**2)
        predicted = refit(x, t, order, np.array(2016.0))
        assert_allclose(found[f"training_loss_order_{order}"], sigma2, rtol=1e-8)
        assert_allclose(found[f"total_loss_order_{order}"], errors @ errors, rtol=1e-8)
        likelihood = -13.5 * (1 + np.log(2 * np.pi * sigma2))
        assert_allclose(found[f"log_likelihood_order_{order}"], likelihood, rtol=1e-8)
        assert_allclose(found[f"prediction_2016_order_{order}"], predicted, rtol=1e-8)
        assert_allclose(found[f"change_2016_order_{order}"], predicted - 9.69, rtol=1e-6)
    assert found["share_above_2016_order_8"] == 4 / 27  # the first four winners were slower
    assert found["training_loss_never_rises"] is True
    assert found["log_likelihood_rises"] is True
    assert outcome.tables["orders"]["order"] == [1, 8]
    grid = outcome.arrays["grid"]
    assert_allclose(outcome.arrays["curves"], [refit(x, t, 8, grid)], rtol=1e-6)
    assert grid.min() < x.min()
    assert grid.max() >= 2016


def test_every_fold_a_point_is_leave_one_out() -> None:
    found = run(PolynomialOrder(orders=ORDERS, methods=["loo", "kfold"], folds=27)).metrics
    assert found["kfold_best_order"] == found["loo_best_order"]
    for order in ORDERS:
        assert_allclose(
            found[f"kfold_loss_order_{order}"], found[f"loo_loss_order_{order}"], rtol=1e-8
        )


def test_figures_follow_the_methods() -> None:
    study = PolynomialOrder(methods=["loo", "holdout"], holdout_from=1980, curves=[1, 8])
    figures = study.draw(run(study))
    assert list(figures) == ["fits", "loo", "holdout"]
    assert [ax.get_yscale() for ax in figures["holdout"].axes] == ["linear", "log"]
    assert figures["loo"].axes[0].get_ylabel() == "Mean squared loss (s²)"
    assert figures["fits"].axes[0].get_xlabel() == "Year"
