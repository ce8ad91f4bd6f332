"""Random models and what they make."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from models.chains.hmm_examples import (
    dice_and_gaussians,
    one_sequence_each,
    random_models,
    unit_gaussians,
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
