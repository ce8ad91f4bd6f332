"""The checks themselves: gaps that open for wrong transitions, and the printed formula by hand."""

import numpy as np
import pytest

from models.chains import hmm
from models.chains.casino import casino
from models.chains.hmm_checks import (
    message_gaps,
    prediction_gaps,
    sampled_pair_gap,
    scaled_gaps,
    survival,
)
from models.chains.hmm_examples import one_sequence_each, random_models


def test_messages_agree_with_all_paths_and_wrong_ones_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    chains = one_sequence_each(random_models(3, 4, 10, rng), 5, rng)
    gaps, beliefs = message_gaps(chains.pi, chains.A, chains.lik)
    assert max(gaps.values()) < 1e-12
    np.testing.assert_allclose(*beliefs.filtered, rtol=0, atol=1e-12)
    np.testing.assert_allclose(*beliefs.smoothed, rtol=0, atol=1e-12)
    np.testing.assert_allclose(beliefs.two_filters, beliefs.smoothed[1], rtol=0, atol=1e-12)
    right = hmm.smoother
    monkeypatch.setattr(hmm, "smoother", lambda pi, A, *x: right(pi, np.full_like(A, 1 / 3), *x))
    gaps, _ = message_gaps(chains.pi, chains.A, chains.lik)
    assert min(gaps[name] for name in ("evidence", "filtered", "smoothed", "pairs")) > 1e-3


def test_messages_vanish_and_scaled_ones_do_not() -> None:
    """A chain of one likelihood, 1/8 a step: 2^(-3 T) is below the smallest double from T = 359."""
    pi, A = np.array([0.5, 0.5]), np.full((2, 2), 0.5)
    found = survival(pi, A, np.full((2, 400, 2), np.log(1 / 8)))
    assert np.abs(found.underflow - 359).max() <= 1  # the last bits may round up
    np.testing.assert_allclose(found.first_log_evidence, -np.arange(1, 401) * np.log(8))
    assert found.not_finite == 0
    assert found.log_evidence_gap < 1e-12
    assert np.all(survival(pi, A, np.full((2, 300, 2), np.log(1 / 8))).underflow == np.inf)


def test_the_printed_pairwise_formula_is_off_by_the_square_of_the_scale() -> None:
    """Two rolls of the casino, both six: c_2 = p(six, six) / p(six)."""
    six = np.array([1 / 6, 0.5])
    first = 0.5 * six.sum()
    both = 0.5 * (six * (np.array([[0.95, 0.05], [0.10, 0.90]]) @ six)).sum()
    model = casino()
    found = scaled_gaps(model.pi, model.A, np.log(np.tile(six, (1, 2, 1))))
    assert found["printed_sum"] == pytest.approx((both / first) ** 2, rel=1e-12)
    assert found["pair_gap"] < 1e-15


def test_shares_of_sampled_pairs_by_hand() -> None:
    paths = np.array([[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]])
    exact = np.array([[[0.25, 0.5], [0, 0.25]], [[0, 0.25], [0.25, 0.5]]])
    assert sampled_pair_gap(paths, exact) == 0
    assert sampled_pair_gap(paths == 1, exact + np.array([[0.1, 0], [0, 0]])) == pytest.approx(0.1)


def test_predictions_agree_with_sums_and_wrong_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    belief, A = np.array([0.2, 0.5, 0.3]), np.array([[0.8, 0.2, 0], [0.1, 0.6, 0.3], [0, 0.5, 0.5]])
    assert max(prediction_gaps(belief, A, 5).values()) < 1e-15
    right = hmm.predict_states
    monkeypatch.setattr(hmm, "predict_states", lambda p, A, h: right(p, A.T, h))
    assert min(prediction_gaps(belief, A, 5).values()) > 1e-3
