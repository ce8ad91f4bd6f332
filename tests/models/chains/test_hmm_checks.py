"""The checks themselves: gaps that open for wrong transitions, and the printed formula by hand."""

import numpy as np
import pytest

from bythebook.models.chains import hmm, hmm_checks
from bythebook.models.chains.casino import casino
from bythebook.models.chains.hmm_checks import (
    message_gaps,
    pair_shares,
    prediction_gaps,
    printed_gaps,
    scaled_gaps,
    survival,
)
from bythebook.models.chains.hmm_examples import one_sequence_each, random_models
from bythebook.models.types import Floats


def largest(gaps: dict[str, Floats]) -> dict[str, float]:
    return {name: float(np.abs(gap).max()) for name, gap in gaps.items()}


def test_messages_agree_with_all_paths_and_wrong_ones_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    chains = one_sequence_each(random_models(3, 4, 10, rng), 5, rng)
    gaps, beliefs = message_gaps(chains.pi, chains.A, chains.lik)
    assert max(largest(gaps).values()) < 1e-12
    np.testing.assert_allclose(*beliefs.filtered, rtol=0, atol=1e-12)
    np.testing.assert_allclose(*beliefs.smoothed, rtol=0, atol=1e-12)
    np.testing.assert_allclose(beliefs.two_filters, beliefs.smoothed[1], rtol=0, atol=1e-12)
    right = hmm.smoother
    monkeypatch.setattr(hmm, "smoother", lambda pi, A, *x: right(pi, np.full_like(A, 1 / 3), *x))
    gaps, _ = message_gaps(chains.pi, chains.A, chains.lik)
    assert min(largest(gaps)[name] for name in ("evidence", "filtered", "smoothed", "pairs")) > 1e-3
    # The same wrong transitions both ways: the sums agree among the steps, and are wrong.
    ahead, back = hmm_checks.forward_unscaled, hmm_checks.backward_unscaled
    monkeypatch.setattr(hmm_checks, "forward_unscaled", lambda pi, A, lik: ahead(pi, A.mT, lik))
    monkeypatch.setattr(hmm_checks, "backward_unscaled", lambda A, lik: back(A.mT, lik))
    gaps, _ = message_gaps(chains.pi, chains.A, chains.lik)
    assert largest(gaps)["evidence_by_step"] > 1e-3


def test_what_is_printed_leaves_gaps_and_what_is_meant_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    chains = one_sequence_each(random_models(2, 3, 8, rng), 4, rng)
    meant, printed = printed_gaps(chains.pi, chains.A, chains.lik, np.random.default_rng(2))
    assert max(largest(meant).values()) < 1e-12
    assert min(largest(printed).values()) > 1e-2
    right = hmm_checks.backward_unscaled
    monkeypatch.setattr(hmm_checks, "backward_unscaled", lambda A, lik: right(A.mT, lik))
    wrong, _ = printed_gaps(chains.pi, chains.A, chains.lik, np.random.default_rng(2))
    assert min(largest(wrong).values()) > 1e-3


def test_the_caption_of_the_backward_recursion_by_hand() -> None:
    """Two steps: beta_1(j) is sum_k A(j, k) p(x_2 | k), with p(x_1 | k) by the caption."""
    pi, A = np.array([[0.5, 0.5]]), np.array([[[0.9, 0.1], [0.3, 0.7]]])
    lik = np.array([[[0.2, 0.8], [0.6, 0.5]]])
    exact, caption = A[0] @ lik[0, 1], A[0] @ lik[0, 0]
    _, printed = printed_gaps(pi, A, lik, np.random.default_rng(0))
    assert printed["backward"][0, 0] == pytest.approx(caption / exact - 1)


def test_messages_vanish_and_scaled_ones_do_not() -> None:
    """A chain of one likelihood, 1/8 a step: 2^(-3 T) is below the smallest double from T = 359."""
    pi, A = np.array([0.5, 0.5]), np.full((2, 2), 0.5)
    found = survival(pi, A, np.full((2, 400, 2), np.log(1 / 8)))
    assert np.abs(found.underflow - 359).max() <= 1  # the last bits may round up
    np.testing.assert_allclose(found.first_log_evidence, -np.arange(1, 401) * np.log(8))
    assert found.not_finite == 0
    assert np.abs(found.log_evidence_gap).max() < 1e-12
    assert found.log_evidence_gap.shape == (2,)
    assert np.all(survival(pi, A, np.full((2, 300, 2), np.log(1 / 8))).underflow == np.inf)


@pytest.mark.parametrize("lost", [np.nan, 0.0])
def test_scaled_backward_messages_that_are_lost_are_counted(
    lost: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pi, A = np.array([0.5, 0.5]), np.full((2, 2), 0.5)
    right = hmm.smoother

    def losing(*model: Floats) -> hmm.Smoothed:
        found = right(*model)
        found.backward[0, 3] = lost
        return found

    monkeypatch.setattr(hmm, "smoother", losing)
    found = survival(pi, A, np.full((2, 20, 2), np.log(1 / 8)))
    assert found.not_finite == (2 if np.isnan(lost) else 1)


def test_the_printed_pairwise_formula_is_off_by_the_square_of_the_scale() -> None:
    """Two rolls of the casino, both six: c_2 = p(six, six) / p(six)."""
    six = np.array([1 / 6, 0.5])
    first = 0.5 * six.sum()
    both = 0.5 * (six * (np.array([[0.95, 0.05], [0.10, 0.90]]) @ six)).sum()
    model = casino()
    found = scaled_gaps(model.pi, model.A, np.log(np.tile(six, (1, 2, 1))))
    assert found["printed_sum"] == pytest.approx((both / first) ** 2, rel=1e-12)
    assert max(largest(found)[name] for name in ("pair_gap", "smoothed_gap")) < 1e-15


def test_shares_of_sampled_pairs_by_hand() -> None:
    paths = np.array([[0, 1, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]])
    exact = np.array([[[0.25, 0.5], [0, 0.25]], [[0, 0.25], [0.25, 0.5]]])
    assert np.array_equal(pair_shares(paths, 2), exact)
    assert np.array_equal(pair_shares(paths == 1, 2), exact)


def test_predictions_agree_with_sums_and_wrong_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    belief, A = np.array([0.2, 0.5, 0.3]), np.array([[0.8, 0.2, 0], [0.1, 0.6, 0.3], [0, 0.5, 0.5]])
    B = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.2, 0.6], [0.3, 0.3, 0.4, 0]])
    assert max(largest(prediction_gaps(belief, A, B, 5)).values()) < 1e-15
    right = hmm.predict_states
    monkeypatch.setattr(hmm, "predict_states", lambda p, A, h: right(p, A.T, h))
    assert min(largest(prediction_gaps(belief, A, B, 5)).values()) > 1e-3


def test_means_short_of_the_last_datum_by_hand() -> None:
    """The same draws, weighted by the smoother: with all data, and without the last."""
    rng = np.random.default_rng(3)
    chains = one_sequence_each(random_models(2, 3, 4, rng), 5, rng)
    _, printed = printed_gaps(chains.pi, chains.A, chains.lik, np.random.default_rng(4))
    again = np.random.default_rng(4)
    mu, x = 2 * again.standard_normal((4, 2)), 2 * again.standard_normal((4, 5))
    log_lik = -((x[..., None] - mu[:, None]) ** 2) / 2
    gamma = hmm.smoother(chains.pi, chains.A, log_lik).smoothed
    means = [
        np.einsum("ntk,nt->nk", g, x[:, : g.shape[1]]) / g.sum(1) for g in (gamma, gamma[:, :-1])
    ]
    assert printed["means"] == pytest.approx(means[1] - means[0], rel=1e-9)


def test_the_gap_of_scaled_messages_is_that_of_the_worst_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, right = casino(), hmm.smoother
    log_lik = np.log(np.random.default_rng(5).uniform(0.1, 0.9, (2, 4, 2)))

    def one_wrong(*given: Floats) -> hmm.Smoothed:
        found = right(*given)
        found.forward.filtered[1, 2, 0] += 0.125
        found.forward.log_scale[1, -1] *= 1.5
        return found

    assert largest(scaled_gaps(model.pi, model.A, log_lik))["filtered_gap"] < 1e-12
    c = np.exp(hmm.forward_filter(model.pi, model.A, log_lik).log_scale[:, 1:])
    printed = scaled_gaps(model.pi, model.A, log_lik)["printed_sum"]
    assert printed == pytest.approx(c**2, rel=1e-9)
    monkeypatch.setattr(hmm, "smoother", one_wrong)
    wrong = scaled_gaps(model.pi, model.A, log_lik)["filtered_gap"]
    assert wrong[1, 2, 0] == pytest.approx(0.125)
    assert np.count_nonzero(np.abs(wrong) > 1e-12) == 1
    assert np.abs(survival(model.pi, model.A, log_lik).log_evidence_gap[1]) > 0.01


def test_the_gap_of_predictions_is_that_of_the_worst_place(monkeypatch: pytest.MonkeyPatch) -> None:
    model, belief = casino(), np.array([0.3, 0.7])
    states, symbols = hmm.predict_states, hmm.predict_symbols
    monkeypatch.setattr(hmm, "predict_states", lambda *x: states(*x) + np.array([0.0, 0.125]))
    monkeypatch.setattr(
        hmm, "predict_symbols", lambda *x: symbols(*x) + np.array([0.0] * 5 + [0.5])
    )
    gaps = largest(prediction_gaps(belief, model.A, model.B, 3))
    assert gaps["two_step_gap"] == pytest.approx(0.125)
    assert gaps["symbol_gap"] >= 0.5
