"""The batch over repetitions against a plain loop with np.polyfit."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import generator
from experiments.drawing.canvas import style
from experiments.studies.regression.order_recovery import OrderRecovery
from models.types import AnyArray, Floats

SMALL = OrderRecovery(
    n=12, orders=[0, 1, 2, 3, 4], methods=["loo", "kfold", "holdout"], folds=4, repetitions=6
)


def run(study: OrderRecovery, seed: int = 0) -> Outcome:
    return study.run(generator(study.name, seed))


def sets(study: OrderRecovery) -> tuple[Floats, Floats]:
    """The data sets of a run, in the order in which the study mixes them."""
    rng = generator(study.name, 0)
    x, t = study.sample(rng, study.repetitions)
    mixed = rng.permuted(np.tile(np.arange(study.n), (study.repetitions, 1)), axis=-1)
    return np.take_along_axis(x, mixed, axis=-1), np.take_along_axis(t, mixed, axis=-1)


def error(x: Floats, t: Floats, left_out: AnyArray, order: int) -> float:
    """Summed squared error at the points left out, refitted without them."""
    rest = np.setdiff1d(np.arange(len(x)), left_out)
    fit = Polynomial.fit(x[rest], t[rest], order)
    return float(np.sum((t[left_out] - fit(x[left_out])) ** 2))


def plain_losses(x: Floats, t: Floats, order: int) -> dict[str, float]:
    n = len(x)
    everything = np.arange(n)
    fit = Polynomial.fit(x, t, order)
    h = Polynomial([0, 1, 0, -1])
    u = np.linspace(-1, 1, 200_001)
    return {
        "training": float(np.mean((t - fit(x)) ** 2)),
        "loo": sum(error(x, t, point, order) for point in everything.reshape(-1, 1)) / n,
        "kfold": sum(error(x, t, fold, order) for fold in everything.reshape(4, -1)) / n,
        "holdout": error(x, t, everything[:3], order) / 3,
        "test": float(np.trapezoid((fit(u) - h(u)) ** 2, u)) / 2 + 0.09,
    }


def test_losses_and_choices_are_those_of_a_plain_loop() -> None:
    outcome = run(SMALL)
    x, t = sets(SMALL)
    losses = [[plain_losses(x[r], t[r], k) for k in SMALL.orders] for r in range(6)]
    for name in ("training", "loo", "kfold", "holdout", "test"):
        values = np.array([[cell[name] for cell in row] for row in losses])  # (6, orders)
        for k, order in enumerate(SMALL.orders):
            found = outcome.metrics[f"{name}_loss_order_{order}"]
            assert_allclose(found, values[:, k].mean(), rtol=1e-6)
        assert outcome.arrays[f"{name}_chosen_order"].tolist() == values.argmin(axis=-1).tolist()
        share = outcome.metrics[f"share_{name}_chooses_1"]
        assert share == np.mean(values.argmin(axis=-1) == 1)
    loo = outcome.arrays["loo_chosen_order"]
    picked = [row[order]["test"] for row, order in zip(losses, loo, strict=True)]
    assert_allclose(outcome.metrics["loo_chosen_test_rms"], np.median(np.sqrt(picked)), rtol=1e-6)


def test_a_test_set_approximates_the_expected_loss() -> None:
    exact = run(OrderRecovery(orders=[1, 3], repetitions=5))
    drawn = run(OrderRecovery(orders=[1, 3], repetitions=5, test_points=10_000))
    for order in (1, 3):
        name = f"test_loss_order_{order}"
        assert exact.metrics[name] != drawn.metrics[name]
        assert_allclose(drawn.metrics[name], exact.metrics[name], rtol=0.03)


def test_weights_of_the_highest_order_are_those_of_the_powers() -> None:
    outcome = run(SMALL)
    x, t = sets(SMALL)
    for r in range(6):
        expected = Polynomial.fit(x[r], t[r], 4).convert().coef.astype(float)
        found = [outcome.arrays[f"weight_{k}"][r] for k in range(5)]
        assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def test_valleys_are_counted() -> None:
    study = OrderRecovery(n=12, noise=0.1, orders=[1, 2, 3, 4], repetitions=30)
    x, t = sets(study)
    count = 0
    for r in range(30):
        loo = [sum(error(x[r], t[r], np.array([i]), k) for i in range(12)) for k in study.orders]
        count += loo[0] > loo[1] > loo[2] < loo[3]
    assert 0 < count < 30
    assert_allclose(run(study).metrics["share_loo_valley"], count / 30, rtol=1e-12)


def test_without_noise_the_simplest_exact_order_is_chosen() -> None:
    found = run(OrderRecovery(noise=0.0, methods=["loo", "kfold"])).metrics
    assert found["share_loo_recovers"] == found["share_kfold_recovers"] == 1


def test_more_noise_makes_recovery_rarer() -> None:
    shares = [run(OrderRecovery(noise=s)).metrics["share_loo_recovers"] for s in (0.1, 0.3, 1.0)]
    assert shares[0] > shares[1] > shares[2]


def test_the_order_of_the_orders_does_not_matter() -> None:
    mixed = run(OrderRecovery(orders=[3, 0, 2, 1], repetitions=20))
    straight = run(OrderRecovery(orders=[0, 1, 2, 3], repetitions=20))
    assert mixed.metrics == straight.metrics


def test_a_sine_has_no_order_to_recover() -> None:
    found = run(OrderRecovery(curve="sine", repetitions=5)).metrics
    assert not any("recovers" in name or "valley" in name for name in found)


@pytest.mark.parametrize(("orders", "headline"), [([1, 2], "fits"), ([1, 2, 3], "loss")])
def test_figures(orders: list[int], headline: str) -> None:
    study = OrderRecovery(orders=orders, repetitions=5)
    with style("screen"):
        figures = study.draw(run(study))
    assert next(iter(figures)) == headline
    assert set(figures) == {"fits", "loss"}


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"n": 1}, "study.n=1"),
        ({"noise": -1.0}, "study.noise"),
        ({"orders": []}, "study.orders.* is empty"),
        ({"orders": [2, 2]}, "repeats an entry"),
        ({"methods": []}, "study.methods.* is empty"),
        ({"methods": ["bootstrap"]}, "study.methods"),
        ({"orders": [0, 19]}, "fits to 19 points; allowed: orders < 19"),
        ({"orders": [15], "methods": ["kfold"], "folds": 4}, "fits to 15 points"),
        ({"orders": [1], "methods": ["kfold"], "folds": 21}, "folds=21: 20 points"),
        ({"orders": [0], "methods": ["holdout"], "held_out": 19}, "held_out=19: 20 points"),
        ({"low": 2.0}, "low < high"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        OrderRecovery(**knobs)  # type: ignore[arg-type]
