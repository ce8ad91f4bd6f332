"""Random models and their sequences."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from bythebook.models.chains import hmm
from bythebook.models.chains.casino import casino, simulate
from bythebook.models.chains.hmm_examples import (
    dice_and_gaussians,
    lilypad,
    one_sequence_each,
    random_models,
    three_regions,
    unit_gaussians,
    walk,
)


def test_transitions_can_be_forbidden() -> None:
    rng = np.random.default_rng(0)
    models = random_models(3, 4, 30, rng, forbidden=2)
    assert_array_equal(models.A[:, [0, 1], [1, 2]], 0.0)
    for rows in models:
        assert_allclose(rows.sum(axis=-1), 1.0, rtol=1e-14)
    chains = one_sequence_each(models, 60, rng)
    step = chains.states[:, 1:] - chains.states[:, :-1]
    assert not np.any(step == 1)
    assert np.any(step == 2)


def test_likelihoods_are_columns_of_the_emissions() -> None:
    rng = np.random.default_rng(1)
    models = random_models(2, 3, 5, rng)
    chains = one_sequence_each(models, 7, rng)
    assert chains.lik.shape == (5, 7, 2)
    for B, lik in zip(models.B, chains.lik, strict=True):
        assert {tuple(row) for row in lik} <= {tuple(column) for column in B.T}


def test_unit_gaussians_in_any_dimension() -> None:
    model = unit_gaussians(5, np.random.default_rng(2))
    assert model.mu.shape == (3, 5)
    assert_array_equal(model.Sigma, np.tile(np.eye(5), (3, 1, 1)))
    assert_array_equal(np.diagonal(model.A), 0.9)


def test_sequences_of_dice_and_of_gaussians() -> None:
    found = dice_and_gaussians([2, 4], 3, 10, np.random.default_rng(3))
    assert list(found) == ["dice", "gaussian_2", "gaussian_4"]
    assert [log_lik.shape for _, log_lik in found.values()] == [(3, 10, 2), (3, 10, 3), (3, 10, 3)]
    (_, A), rolls = found["dice"]
    assert_array_equal(A, [[0.95, 0.05], [0.1, 0.9]])
    sixes = {(1 / 6, 0.5), (1 / 6, 0.1)}  # a six, or not
    assert {tuple(row) for row in np.exp(rolls).reshape(-1, 2).round(12)} == {
        tuple(np.round(pair, 12)) for pair in sixes
    }


def test_the_chains_of_the_books_number_by_number() -> None:
    pad, regions = lilypad(), three_regions()
    assert_array_equal(pad.pi, [1, 0, 0])
    assert_allclose(pad.A, [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], rtol=1e-15)
    assert_array_equal(pad.mu, [[-10, 0], [10, 0], [0, 10]])
    assert_array_equal(pad.Sigma, [[[10, 5], [5, 10]], [[10, -5], [-5, 10]], [[30, 0], [0, 5]]])
    assert_allclose(regions.pi, [1 / 3] * 3, rtol=1e-15)
    assert_allclose(regions.A, [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]])
    assert_array_equal(regions.mu, [[0.25, 0.6], [0.5, 0.3], [0.75, 0.65]])
    assert_allclose(regions.Sigma, np.tile(np.diag([0.01, 0.01]), (3, 1, 1)), rtol=1e-15)


def test_a_walk_has_the_moments_of_its_states() -> None:
    model = lilypad()
    found = walk(model, 40, 500, np.random.default_rng(4))
    assert found.points.shape == (40, 500, 2)
    assert_array_equal(found.states[:, 0], 0)
    for k in range(3):
        here = found.points[found.states == k]
        assert_allclose(here.mean(0), model.mu[k], atol=4.5 * np.sqrt(30 / len(here)))
        assert_allclose(np.cov(here.T, bias=True), model.Sigma[k], atol=4.5 * 45 / len(here) ** 0.5)


def test_means_of_unit_gaussians_lie_two_about_the_origin() -> None:
    mu = unit_gaussians(4000, np.random.default_rng(5)).mu
    assert_allclose(mu.std(axis=1), 2.0, rtol=0.05)
    assert_allclose(mu.mean(axis=1), 0.0, atol=0.15)


def test_log_likelihoods_are_those_of_the_drawn_model() -> None:
    """The same stream: first the dice, then means, states and points for each dimension."""
    found = dice_and_gaussians([2], 3, 10, np.random.default_rng(6))
    rng = np.random.default_rng(6)
    rolls = simulate(casino(), 3, 10, rng).rolls
    assert_allclose(found["dice"][1], np.log(casino().B.T[rolls]), rtol=1e-14)
    mu = 2 * rng.standard_normal((3, 2))
    states = hmm.sample_states(np.full(3, 1 / 3), 0.05 + 0.85 * np.eye(3), rng.random((3, 10)))
    points = mu[states] + rng.standard_normal((3, 10, 2))
    squares = ((points[..., None, :] - mu) ** 2).sum(-1)
    assert_allclose(found["gaussian_2"][1], -np.log(2 * np.pi) - squares / 2, rtol=1e-10)
