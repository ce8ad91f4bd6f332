"""The bound's terms against draws, differences that notice wrong updates, and copies of q."""

import numpy as np
import pytest

from bythebook.models.approximation import variational_mixture_checks as checks
from bythebook.models.approximation.variational_mixture import (
    Prior,
    VariationalMixture,
    factors,
    fit,
    log_rho,
)
from bythebook.models.clustering.gaussian_mixture_starts import weighted_moments
from bythebook.models.clustering.mixture import posterior
from bythebook.models.em import take
from bythebook.models.types import Floats

Case = tuple[Floats, VariationalMixture, Floats, VariationalMixture, Prior]


@pytest.fixture(name="case", params=[0.7, 0.0])
def make_case(request: pytest.FixtureRequest) -> Case:
    """Data, factors, the responsibilities that they give, the factors that these give, a prior."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal([-2, 1], 0.6, (30, 2)), rng.normal([2, 0], 0.9, (30, 2))])
    prior = Prior(request.param, 0.3, np.array([0.2, -0.1]), np.diag([1.0, 0.8]), 3.5)
    start = rng.dirichlet(np.ones(3), (1, len(X)))
    theta = fit(X, start, prior, max_iter=2, tol=-np.inf).theta
    r = posterior(log_rho(X, theta, point=prior.alpha0 == 0))[0]
    updated = factors(weighted_moments(X, r), X.mean(0), prior)
    return X, take(theta, 0), r[0], take(updated, 0), prior


def test_packing_is_undone(case: Case) -> None:
    theta = case[3]
    for field, again in zip(theta, checks.unpack(checks.pack(theta), *theta.m.shape), strict=True):
        np.testing.assert_allclose(again, field, rtol=1e-12)


def test_updates_are_maxima_and_a_wrong_one_is_not(case: Case) -> None:
    X, before, r, theta, prior = case
    found = checks.differences(X, before, r, theta, prior)
    assert max(found.slope.values()) < 1e-5
    assert max(found.curvature.values()) < 0
    wrong = checks.differences(X, before, r, theta._replace(beta=theta.beta + 1), prior)
    assert wrong.slope["beta"] > 0.01


def test_newton_steps_of_responsibilities_in_closed_form(case: Case) -> None:
    """Odds that are off by exp(e): ln rho is ln r - e, and r moves by r_k (delta_jk - r_j)."""
    X, before, r, theta, prior = case
    e = np.random.default_rng(5).uniform(-0.5, 0.5, r.shape)
    wrong = r * np.exp(e)
    wrong /= wrong.sum(1, keepdims=True)
    found = checks.differences(X, before, wrong, theta, prior)
    most = np.argsort(wrong * (1 - wrong), axis=None)[-20:]
    off = (e - (wrong * e).sum(1, keepdims=True)).ravel()[most]
    p = wrong.ravel()[most]
    first, second = -p * off, -p * (1 - p) - p * (1 - 2 * p) * off
    length = np.linalg.norm(first / second)
    np.testing.assert_allclose(found.slope["responsibilities"], length, rtol=1e-4)
    np.testing.assert_allclose(found.curvature["responsibilities"], second.max(), rtol=1e-4)


def test_responsibilities_that_are_sure_have_nowhere_to_go(case: Case) -> None:
    X, before, r, theta, prior = case
    sure = np.eye(3)[r.argmax(1)]
    found = checks.differences(X, before, sure, theta, prior)
    assert found.slope["responsibilities"] == found.curvature["responsibilities"] == 0


def test_a_search_finds_the_updates(case: Case) -> None:
    X, _, r, theta, prior = case
    gaps = checks.searched(X, r, theta, prior, np.random.default_rng(1))
    assert max(gaps.values()) < 1e-4


@pytest.mark.parametrize("case", [0.0], indirect=True)
def test_mixing_coefficients_add_up_to_one_before_they_are_compared(case: Case) -> None:
    """The best are shares of the responsibilities."""
    X, _, r, theta, prior = case
    wrong = theta._replace(alpha=np.array([30.0, 10.0, 20.0]))
    gaps = checks.searched(X, r, wrong, prior, np.random.default_rng(1))
    gap = np.linalg.norm(np.log(r.mean(0)) - np.log([1 / 2, 1 / 6, 1 / 3]))
    assert gaps["mixing"] == pytest.approx(gap, abs=1e-4)


def test_half_steps_never_lower_the_bound(case: Case) -> None:
    X, *_, prior = case
    start = np.random.default_rng(2).dirichlet(np.ones(4), (3, len(X)))
    bound = checks.half_steps(X, start, prior, 5).sum(-1)
    assert bound.shape == (3, 10)
    assert np.diff(bound).min() > -1e-9


@pytest.mark.parametrize("case", [0.7], indirect=True)
def test_terms_are_means_over_draws_and_entropies(case: Case) -> None:
    X, _, r, theta, prior = case
    draws = checks.draw(r, theta, 400, np.random.default_rng(3))
    values = checks.drawn_terms(X, r, theta, prior, draws)
    found = checks.terms(X, r, theta, prior)
    assert (np.abs(values.mean(0) - found) < 4 * values.std(0) / np.sqrt(400)).all()
    np.testing.assert_allclose(checks.entropies(r, theta), found[4:], rtol=1e-9)


def test_copies_that_coincide_add_nothing() -> None:
    rng = np.random.default_rng(4)
    prior = Prior(1.0, 1.0, np.zeros(2), np.eye(2), 3.0)
    same = VariationalMixture(
        np.full(2, 5.0),
        np.full(2, 5.0),
        np.zeros((2, 2)),
        np.tile(np.eye(2), (2, 1, 1)),
        np.full(2, 7.0),
    )
    r = np.full((6, 2), 0.5)
    assert checks.copies_gain(r, same, prior, 50, rng) == pytest.approx(0, abs=1e-9)
    apart = same._replace(m=np.array([[-50.0, 0.0], [50.0, 0.0]]))
    assert checks.copies_gain(r, apart, prior, 50, rng) == pytest.approx(np.log(2))
