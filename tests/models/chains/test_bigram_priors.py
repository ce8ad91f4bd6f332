"""Evidence and predictions by other routes."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from bythebook.models.chains import bigram_priors as priors
from bythebook.models.types import Floats

TEXT = np.array([0, 1, 0, 2, 1, 0, 0, 1, 2, 0, 1, 1])


@pytest.fixture
def N() -> Floats:
    found = np.zeros((3, 3))
    np.add.at(found, (TEXT[:-1], TEXT[1:]), 1)
    return found


def test_evidence_is_the_product_of_predictions(N: Floats) -> None:
    alpha, seen, expected = np.array([0.5, 1.5, 0.3]), np.zeros((3, 3)), 0.0
    for j, k in pairwise(TEXT):
        expected += np.log((seen[j, k] + alpha[k]) / (seen[j].sum() + alpha.sum()))
        seen[j, k] += 1
    assert priors.log_evidence(N, alpha) == pytest.approx(expected)


def test_prediction_is_counts_and_prior_counts(N: Floats) -> None:
    alpha = np.array([0.5, 1.5, 0.3])
    right = (N + alpha) / (N.sum(1, keepdims=True) + alpha.sum())
    assert np.allclose(priors.predictive(N, alpha), right)
    empty = np.zeros((2, 3))
    assert np.allclose(priors.predictive(empty, alpha), alpha / alpha.sum())


def test_fitted_alpha_is_a_maximum() -> None:
    rng = np.random.default_rng(0)
    rows = rng.dirichlet([2.0, 1.0, 0.5], 40)
    N = np.array([rng.multinomial(30, row) for row in rows]).astype(float)
    found = priors.fit_alpha(N)
    best = minimize(lambda a: -priors.log_evidence(N, np.exp(a)), np.zeros(3)).x
    assert np.allclose(found, np.exp(best), rtol=1e-3)
    m = found / found.sum()
    assert priors.fit_strength(N, m) == pytest.approx(found.sum(), rel=1e-3)


def test_a_symbol_that_never_comes_has_no_alpha(N: Floats) -> None:
    wide = np.pad(N, ((0, 1), (0, 1)))
    found = priors.fit_alpha(wide)
    assert found[3] == 0
    assert priors.contexts(wide).tolist() == [3, 3, 2, 0]


def test_interpolation_by_hand(N: Floats) -> None:
    found = priors.interpolated(N, 0.25)
    assert found[2, 0] == pytest.approx(0.75 * 1 / 2 + 0.25 * N[:, 0].sum() / 11)
    assert np.allclose(priors.interpolated(N, 0.0), N / N.sum(1, keepdims=True))


def test_bits_of_pairs_and_what_is_left_out(N: Floats) -> None:
    A = np.array([[0.5, 0.5], [0.25, 0.75]])
    assert priors.pair_bits(A, np.array([[0, 1], [1, 0]])) == pytest.approx(1.5)
    weights, pairs = np.array([0.0, 0.3, 1.0]), np.array([[0, 2, 1], [1, 1, 1]])
    one_by_one = [priors.pair_bits(priors.interpolated(N, w), pairs) for w in weights]
    assert priors.interpolated_bits(N, pairs, weights) == pytest.approx(one_by_one)
    N[:, 2] = 0
    assert priors.pairs_within(np.array([0, 2, 1, 0]), N).tolist() == [[2, 1], [1, 0]]
    assert priors.pairs_within(np.array([0, 3, 1, 0]), N).tolist() == [[1], [0]]


def test_the_weight_is_large_without_memory_and_small_with_much() -> None:
    weights = np.linspace(0, 1, 11)
    drawn = np.random.default_rng(0).integers(4, size=400)
    around = np.arange(400) % 4
    assert priors.cross_validated_weight(drawn, 4, weights) >= 0.5
    assert priors.cross_validated_weight(around, 4, weights) == 0
