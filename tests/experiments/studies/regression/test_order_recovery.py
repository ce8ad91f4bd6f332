"""The batch over repetitions against plain loops: refits, densities, the book's equations."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose
from scipy.special import gammaln, psi
from scipy.stats import multivariate_normal

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.outcome import Outcome, diff_outcomes
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.figures.regression.order_recovery import draw
from bythebook.experiments.plotting.canvas import style
from bythebook.experiments.studies.regression.order_recovery import OrderRecovery
from bythebook.models.types import AnyArray, Floats

SMALL = OrderRecovery(
    n=12, orders=[0, 1, 2, 3, 4], methods=["loo", "kfold", "holdout"], folds=4, repetitions=6
)
EXACT = OrderRecovery(
    weights=[0.0, 1.0, -1.0, 5.0],
    n=9,
    low=-2,
    high=2,
    noise=2.0,
    orders=[1, 2, 3],
    methods=["evidence"],
    prior_variances=[4.0, 0.3],
    repetitions=8,
)
BETA = 1 / 0.09
BOUND = OrderRecovery(
    weights=[0.0, -1.0, 0.5, 0.3],
    n=8,
    low=-2,
    high=2,
    orders=[1, 3, 5],
    methods=["bound"],
    gamma_priors=[0.01, 0.0],
    repetitions=4,
)
Run = Callable[..., Outcome]


def sets(study: OrderRecovery) -> tuple[Floats, Floats]:
    """The data sets of a run, in the order in which the study mixes them."""
    rng = make_rng(0)
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


def test_losses_and_choices_are_those_of_a_plain_loop(run: Run) -> None:
    found = run(SMALL)
    x, t = sets(SMALL)
    losses = [[plain_losses(x[r], t[r], k) for k in SMALL.orders] for r in range(6)]
    for name in ("training", "loo", "kfold", "holdout", "test"):
        values = np.array([[cell[name] for cell in row] for row in losses])  # (6, orders)
        assert_allclose(found[f"{name}_loss"], values, rtol=1e-6)
        if name in SMALL.methods:
            picked = [row[k]["test"] for row, k in zip(losses, values.argmin(axis=-1), strict=True)]
            assert_allclose(found["chosen_test_loss"].sel(method=name), picked, rtol=1e-6)
    assert found["true_order"].item == 3


def test_the_choice_of_a_hold_out_set_fitted_to_what_is_left(run: Run) -> None:
    found, (x, t), u = run(SMALL), sets(SMALL), np.linspace(-1, 1, 200_001)
    order = found["holdout_loss"].values.argmin(axis=-1)
    for r in range(6):  # the first three points are held out
        off = Polynomial.fit(x[r, 3:], t[r, 3:], int(order[r]))(u) - (u - u**3)
        expected = float(np.trapezoid(off**2, u)) / 2 + 0.09
        assert_allclose(found["left_test_loss"].values[r], expected, rtol=1e-6)


def test_a_test_set_approximates_the_expected_loss(run: Run) -> None:
    exact = run(OrderRecovery(orders=[1, 3], repetitions=5))["test_loss"].values
    drawn = run(OrderRecovery(orders=[1, 3], repetitions=5, test_points=10_000))["test_loss"].values
    assert np.all(exact != drawn)
    assert_allclose(drawn.mean(axis=0), exact.mean(axis=0), rtol=0.03)


def test_weights_of_the_highest_order_are_those_of_the_powers(run: Run) -> None:
    x, t = sets(SMALL)
    expected = [Polynomial.fit(x[r], t[r], 4).convert().coef.astype(float) for r in range(6)]
    assert_allclose(run(SMALL)["weight"], expected, rtol=1e-7, atol=1e-9)


def recovers(found: Outcome, name: str) -> float:
    share = evaluate(OrderRecovery.headline[f"share_{name}_recovers"], found)
    assert isinstance(share, float)
    return share


def test_without_noise_the_simplest_exact_order_is_chosen(run: Run) -> None:
    found = run(OrderRecovery(noise=0.0, methods=["loo", "kfold"]))
    assert recovers(found, "loo") == recovers(found, "kfold") == recovers(found, "test") == 1


def test_more_noise_makes_recovery_rarer(run: Run) -> None:
    shares = [recovers(run(OrderRecovery(noise=s)), "loo") for s in (0.1, 0.3, 1.0)]
    assert shares[0] > shares[1] > shares[2]


def test_the_order_of_the_orders_does_not_matter(run: Run) -> None:
    mixed = run(OrderRecovery(orders=[3, 0, 2, 1], repetitions=20))
    straight = run(OrderRecovery(orders=[0, 1, 2, 3], repetitions=20))
    assert not diff_outcomes(mixed, straight)


def test_a_sine_has_no_order_to_recover(run: Run) -> None:
    assert "true_order" not in run(OrderRecovery(curve="sine", repetitions=5))


def test_evidences_are_densities(run: Run) -> None:
    found = run(EXACT)
    x, t = EXACT.sample(make_rng(0), 8)
    for s in EXACT.prior_variances:
        log_p = np.empty((8, 3))
        for r in range(8):
            for k in range(3):
                Phi = x[r][:, None] ** np.arange(k + 2)
                covariance = 4 * np.eye(9) + s * Phi @ Phi.T
                log_p[r, k] = multivariate_normal(np.zeros(9), covariance).logpdf(t[r])
        assert_allclose(found["log_evidence"].sel(prior_variance=s), log_p, rtol=1e-9)


def test_a_narrow_prior_leads_to_higher_orders(run: Run) -> None:
    study = OrderRecovery(
        weights=[0.0, 1.0, -1.0, 5.0],
        n=100,
        low=-5,
        high=5,
        noise=12.25,
        orders=list(range(1, 8)),
        methods=["evidence"],
        prior_variances=[1.0, 0.3, 0.1],
        repetitions=100,
    )
    chosen = run(study)["log_evidence"].values.argmax(axis=-1).mean(axis=-1)
    assert chosen[0] > chosen[1] > chosen[2]  # from narrow to wide


def plain_bound(Phi: Floats, t: Floats) -> float:
    """(10.94)-(10.112) for a_0 = b_0 = 0, the prior's missing constant left out."""
    N, D = Phi.shape
    a = b = D / 2
    for _ in range(400):
        S = np.linalg.inv(a / b * np.eye(D) + BETA * Phi.T @ Phi)
        m = BETA * S @ Phi.T @ t
        b = (m @ m + np.trace(S)) / 2
    S = np.linalg.inv(a / b * np.eye(D) + BETA * Phi.T @ Phi)
    m = BETA * S @ Phi.T @ t
    ww = np.outer(m, m) + S
    log_alpha = psi(a) - np.log(b)
    return float(
        N / 2 * np.log(BETA / (2 * np.pi))
        - BETA / 2 * (t @ t - 2 * m @ Phi.T @ t + np.trace(Phi.T @ Phi @ ww))
        + D / 2 * (log_alpha - np.log(2 * np.pi))
        - a / (2 * b) * np.trace(ww)
        - log_alpha
        + np.linalg.slogdet(S)[1] / 2
        + D / 2 * (1 + np.log(2 * np.pi))
        + gammaln(a)
        - (a - 1) * psi(a)
        - np.log(b)
        + a
    )


def test_bounds_are_those_of_a_plain_loop(run: Run) -> None:
    x, t = BOUND.sample(make_rng(0), 4)
    bounds = [
        [plain_bound(x[r][:, None] ** np.arange(k + 1), t[r]) for k in (1, 3, 5)] for r in range(4)
    ]
    assert_allclose(run(BOUND)["bound"].sel(gamma_prior=0.0), bounds, rtol=1e-6)


def test_the_bound_rises_and_stays_below_the_evidence_unless_misprinted(run: Run) -> None:
    found = run(BOUND)
    exact = found["bounded_log_evidence"].sel(proper_prior=0.01).values
    gap = exact - found["bound"].sel(gamma_prior=0.01).values
    assert -1e-8 < gap.min() <= gap.max() < 2
    assert (exact - found["printed_bound"].sel(proper_prior=0.01).values).min() < -1e-3
    assert found["least_step"].values.min() > -1e-8


def test_criteria_see_the_same_data_sets(run: Run) -> None:
    """With cross-validation the points are permuted, which changes results by rounding only."""
    study = dataclasses.replace(EXACT, methods=["loo", "evidence", "bound"])
    mixed, alone = run(study)["log_evidence"].values, run(EXACT)["log_evidence"].values
    assert_allclose(mixed, alone, rtol=1e-9)


@pytest.mark.parametrize(("orders", "headline"), [([1, 2], "fits"), ([1, 2, 3], "loss")])
def test_two_fits_come_before_their_losses(orders: list[int], headline: str, run: Run) -> None:
    study = OrderRecovery(orders=orders, repetitions=5)
    with style("screen"):
        figures = dict(draw(study, run(study)))
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
        ({"methods": ["bound"], "noise": 0.0}, "study.noise"),
        ({"methods": ["bound"], "n": 7}, "fits to 7 points; allowed: orders < 7"),
        ({"prior_variances": []}, "study.prior_variances"),
        ({"prior_variances": [0.0]}, "study.prior_variances"),
        ({"gamma_priors": [-1.0]}, "study.gamma_priors"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        OrderRecovery(**knobs)  # type: ignore[arg-type]


def test_five_terms_and_means_over_the_prior_are_the_evidence(run: Run) -> None:
    methods = ["evidence", "formula", "posterior", "average"]
    found = run(
        OrderRecovery(
            curve="sine",
            n=8,
            low=0.0,
            orders=[0, 1, 3],
            methods=methods,
            prior_variances=[2.0],
            averaged_orders=[0, 1],
            prior_draws=20_000,
            repetitions=4,
        )
    )
    exact = found["log_evidence"].values[0]
    np.testing.assert_allclose(found["formula_log_evidence"].values[0], exact, rtol=1e-9)
    off = found["averaged_log_likelihood"].values - exact[0, :2]
    assert (np.abs(off) < 4 * found["averaged_error"].values).all()
    losses, best = found["posterior_test_loss"].values[0], exact.argmax(-1)
    assert found["chosen_posterior_loss"].values[0].tolist() == losses[range(4), best].tolist()
    x, t = found["inputs"].values, found["targets"].values
    Phi = x[:, None] ** np.arange(4)
    w = np.linalg.solve(Phi.T @ Phi + 0.09 / 2 * np.eye(4), Phi.T @ t)
    grid = np.linspace(0, 1, 20_001)
    loss = np.mean((grid[:, None] ** np.arange(4) @ w - np.sin(2 * np.pi * grid)) ** 2) + 0.09
    assert losses[0, 2] == pytest.approx(loss, rel=1e-3)


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"methods": ["formula"]}, "needs evidence as well"),
        ({"methods": ["average"], "averaged_orders": [9]}, "some of study.orders"),
    ],
)
def test_checks_of_the_evidence_that_make_no_sense(knobs: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        OrderRecovery(**knobs)


def test_losses_need_no_noise_and_evidence_does() -> None:
    OrderRecovery(noise=0.0, methods=["loo"])
    with pytest.raises(InputError, match="need some"):
        OrderRecovery(noise=0.0, methods=["evidence"])
