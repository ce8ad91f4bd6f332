"""Evidences as Gaussian densities, and bounds by the book's equations, one data set at a time."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln, psi
from scipy.stats import multivariate_normal

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.contract.study import generator
from experiments.studies.regression.evidence_order import EvidenceOrder
from models.types import Floats

EXACT = EvidenceOrder(
    weights=[0.0, 1.0, -1.0, 5.0],
    n=9,
    low=-2,
    high=2,
    noise=2.0,
    orders=[1, 2, 3],
    prior_variances=[4.0, 0.3],
    repetitions=8,
)
BETA = 1 / 0.09
BOUND = EvidenceOrder(
    weights=[0.0, -1.0, 0.5, 0.3],
    n=8,
    low=-2,
    high=2,
    orders=[1, 3, 5],
    prior_variances=[],
    gamma_priors=[0.01, 0.0],
    repetitions=4,
)
Run = Callable[..., Outcome]


def test_evidences_are_densities(run: Run) -> None:
    found = run(EXACT)
    x, t = EXACT.sample(generator(EXACT.name, 0), 8)
    for s in EXACT.prior_variances:
        log_p = np.empty((8, 3))
        for r in range(8):
            for k in range(3):
                Phi = x[r][:, None] ** np.arange(k + 2)
                covariance = 4 * np.eye(9) + s * Phi @ Phi.T
                log_p[r, k] = multivariate_normal(np.zeros(9), covariance).logpdf(t[r])
        assert_allclose(found["log_evidence"].at(prior_variance=s), log_p, rtol=1e-9)
        second = np.sort(log_p, axis=-1)[:, -2]
        assert_allclose(found["second_log_evidence"].at(prior_variance=s), second, rtol=1e-9)


def test_a_narrow_prior_leads_to_higher_orders(run: Run) -> None:
    study = EvidenceOrder(
        weights=[0.0, 1.0, -1.0, 5.0],
        n=100,
        low=-5,
        high=5,
        noise=12.25,
        orders=list(range(1, 8)),
        prior_variances=[1.0, 0.3, 0.1],
        repetitions=100,
    )
    chosen = run(study)["log_evidence"].values.argmax(axis=-1).mean(axis=-1)
    assert chosen[0] > chosen[1] > chosen[2]  # from narrow to wide


def test_one_order_has_no_second(run: Run) -> None:
    found = run(EvidenceOrder(orders=[3], repetitions=3))["second_log_evidence"]
    assert np.all(found.values == -np.inf)


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
    x, t = BOUND.sample(generator(BOUND.name, 0), 4)
    bounds = [
        [plain_bound(x[r][:, None] ** np.arange(k + 1), t[r]) for k in (1, 3, 5)] for r in range(4)
    ]
    assert_allclose(run(BOUND)["bound"].at(gamma_prior=0.0), bounds, rtol=1e-6)


def test_the_bound_rises_and_stays_below_the_evidence_unless_misprinted(run: Run) -> None:
    found = run(BOUND)
    exact = found["exact_log_evidence"].at(proper_prior=0.01).values
    gap = exact - found["bound"].at(gamma_prior=0.01).values
    assert -1e-8 < gap.min() <= gap.max() < 2
    assert (exact - found["printed_bound"].at(proper_prior=0.01).values).min() < -1e-3
    assert found["least_step"].values.min() > -1e-8


def test_as_many_weights_as_points_leave_no_residual(run: Run) -> None:
    residual = run(EvidenceOrder(n=10, orders=[0, 3, 9], gamma_priors=[0.0], repetitions=5))[
        "residual_rms"
    ].values
    assert residual[:, -1].max() < 1e-9
    assert np.all(np.diff(residual) < 0)


@pytest.mark.parametrize(
    ("knobs", "complaint"),
    [
        ({"noise": 0.0}, "study.noise"),
        ({"prior_variances": []}, "leave no prior"),
        ({"prior_variances": [0.0]}, "study.prior_variances"),
        ({"gamma_priors": [-1.0]}, "study.gamma_priors"),
        ({"gamma_priors": [0.0], "n": 7}, "7 points; allowed: orders < 7"),
        ({"orders": []}, "study.orders"),
        ({"n": 1}, "study.n"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(knobs: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        EvidenceOrder(**knobs)  # type: ignore[arg-type]
