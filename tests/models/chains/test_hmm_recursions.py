"""Each compiled loop against the recursion of the page; unscaled sums against all paths."""

import itertools
import subprocess
import sys
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from hmm_in_logs import evidence_in_logs

from bythebook.models.chains import hmm, hmm_recursions
from bythebook.models.chains.hmm_recursions import (
    backward_plain,
    condition,
    counts_plain,
    evidence,
    forward_plain,
    forward_unscaled,
    viterbi_plain,
)
from bythebook.models.compiled import threads
from bythebook.models.types import Floats, Ints


@pytest.mark.parametrize("K", [2, 5])
def test_compiled_loops_equal_their_references(K: int) -> None:
    rng = np.random.default_rng(5)
    A = rng.dirichlet(np.full(K, 0.5), (7, 1, K))  # seven models, three sequences
    pi = rng.dirichlet(np.ones(K), (7, 1))
    log_lik = rng.normal(scale=3.0, size=(7, 3, 200, K))
    forward = hmm.forward_filter(pi, A, log_lik)
    filtered, log_scale = forward_plain(pi, A, log_lik)
    np.testing.assert_allclose(forward.filtered, filtered, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(forward.log_scale, log_scale, rtol=0, atol=1e-13)
    for lag in (0, 1, 7, 200):
        beta = backward_plain(A, log_lik, forward.log_scale, lag)
        expected = forward.filtered * beta
        lagged = hmm.fixed_lag_smoother(A, log_lik, forward, lag)
        np.testing.assert_allclose(lagged, expected, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(hmm.smoother(pi, A, log_lik).backward, beta, rtol=1e-11)
    best = hmm.viterbi(pi, A, log_lik)
    states, log_joint = viterbi_plain(np.log(pi), np.log(A), log_lik)
    np.testing.assert_array_equal(best.states, states)
    np.testing.assert_array_equal(best.log_joint, log_joint)


class Symbols(NamedTuple):
    pi: Floats  # (R, 1, K)
    A: Floats  # (R, 1, K, K)
    table: Floats  # (R, 1, L, K)
    x: Ints  # (1, N, T)


def random_symbols(K: int, seed: int, zeros: bool = False) -> Symbols:
    """Four models, three sequences; with `zeros`, left to right from the first state."""
    rng = np.random.default_rng([K, seed])
    pi, A = rng.dirichlet(np.ones(K), (4, 1)), rng.dirichlet(np.ones(K), (4, 1, K))
    if zeros:
        pi, A = np.tile(np.eye(K)[0], (4, 1, 1)), np.triu(A)
        A /= A.sum(axis=-1, keepdims=True)
    table = rng.normal(scale=2.0, size=(4, 1, 6, K))
    return Symbols(pi, A, table, rng.integers(6, size=(1, 3, 120)))


def written_out(model: Symbols) -> Floats:
    """The log likelihoods of every time, (R, N, T, K)."""
    return np.stack([rows[0][model.x[0]] for rows in model.table])


@pytest.mark.parametrize("K", [2, 3])
def test_symbols_choose_the_rows_of_a_table(K: int) -> None:
    model = random_symbols(K, seed=0)
    log_lik = written_out(model)
    posterior, expected = hmm.smoother(*model), hmm.smoother(model.pi, model.A, log_lik)
    for field, other in zip(posterior[1:], expected[1:], strict=True):
        np.testing.assert_allclose(field, other, rtol=1e-13)
    filtered = hmm.forward_filter(*model)
    np.testing.assert_array_equal(filtered.filtered, posterior.forward.filtered)
    np.testing.assert_allclose(filtered.log_scale, expected.forward.log_scale, rtol=0, atol=1e-13)
    best, other_best = hmm.viterbi(*model), hmm.viterbi(model.pi, model.A, log_lik)
    np.testing.assert_array_equal(best.states, other_best.states)
    np.testing.assert_array_equal(best.log_joint, other_best.log_joint)


@pytest.mark.parametrize("K", [2, 3])
def test_compiled_counts_equal_their_reference(K: int) -> None:
    pi, A, table, x = random_symbols(K, seed=6)
    observed = evidence(table, x)
    counts, expected = hmm_recursions.counts(pi, A, observed), counts_plain(pi, A, observed)
    for field, other in zip(counts, expected, strict=True):
        np.testing.assert_allclose(field, other, rtol=1e-11)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("zeros", [False, True])
def test_counts_are_sums_of_marginals(K: int, zeros: bool) -> None:
    model = random_symbols(K, seed=1, zeros=zeros)
    assert_counts(model, model.table)


def test_counts_where_a_state_out_of_reach_explains_the_data_best() -> None:
    model = random_symbols(2, seed=2, zeros=True)
    x = np.sort(model.x, axis=-1)
    table = np.zeros((1, 1, 6, 2))
    table[..., 0, 1], table[..., 5, 0] = 3000.0, -500.0  # the second state is not yet, then only
    A = np.array([[1 - 1e-300, 1e-300], [0.0, 1.0]])
    assert_counts(Symbols(np.array([1.0, 0.0]), A, table[0, 0], x[0, 0]), table[0, 0])
    assert_counts(Symbols(model.pi, model.A, table, x), table)


def assert_counts(model: Symbols, table: Floats) -> None:
    model = model._replace(table=table)
    counts, posterior = hmm.symbol_counts(*model), hmm.smoother(*model)
    gamma = posterior.smoothed
    close = partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-13)
    close(counts.first, gamma[..., 0, :])
    close(counts.transitions, hmm.expected_transitions(model.A, posterior))
    close(counts.log_evidence, posterior.forward.log_evidence)
    seen = np.arange(table.shape[-2])[:, None] == model.x[..., None, :]
    close(counts.emissions, np.swapaxes(seen.astype(float) @ gamma, -1, -2))
    assert np.isfinite(counts.transitions).all()


@pytest.mark.parametrize("level", [0.2, 0.9])
def test_two_states_are_three_of_which_one_is_out_of_reach(level: float) -> None:
    """Rows that do not sum to one, as when annealing: unscaled numbers would leave the range."""
    rng = np.random.default_rng(8)
    pi, A = np.array([0.3, 0.7]), level * rng.uniform(0.8, 1.0, size=(2, 2))
    log_lik = rng.normal(size=(2, 5000, 2))
    A3 = np.full((3, 3), 0.5)
    A3[:2, :2], A3[:2, 2] = A, 0.0
    log_lik3 = np.concatenate([log_lik, rng.normal(size=(2, 5000, 1))], axis=-1)
    two, three = hmm.smoother(pi, A, log_lik), hmm.smoother(np.append(pi, 0.0), A3, log_lik3)
    np.testing.assert_allclose(two.smoothed, three.smoothed[..., :2], rtol=1e-11)
    np.testing.assert_allclose(two.backward, three.backward[..., :2], rtol=1e-11)
    np.testing.assert_allclose(two.forward.log_scale, three.forward.log_scale, rtol=0, atol=1e-12)
    symbols = Symbols(pi, A, log_lik[0], np.arange(5000))
    assert_counts(symbols, log_lik[0])


def test_the_kernels_of_two_states_give_up_where_the_others_take_care() -> None:
    """Every third observation belongs to a state that the past excludes, or nearly."""
    rng = np.random.default_rng(9)
    log_lik = rng.normal(size=(60, 2))
    log_lik[::3, 1] += 400.0
    pi, A = np.array([1.0, 0.0]), np.array([[1.0, 0.0], [0.5, 0.5]])
    posterior = hmm.smoother(pi, A, log_lik)
    np.testing.assert_array_equal(posterior.forward.filtered, [[1.0, 0.0]] * 60)
    np.testing.assert_allclose(posterior.smoothed, [[1.0, 0.0]] * 60, rtol=1e-15)
    np.testing.assert_allclose(posterior.forward.log_scale, log_lik[:, 0], rtol=0, atol=1e-12)
    log_lik[::3, 1] -= 300.0
    pi, A = np.array([1.0, 1e-60]), np.array([[1.0, 1e-60], [0.5, 0.5]])
    posterior = hmm.smoother(pi, A, log_lik)
    filtered, log_scale = forward_plain(pi, A, log_lik)
    np.testing.assert_allclose(posterior.forward.filtered, filtered, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(posterior.forward.log_scale, log_scale, rtol=1e-13, atol=1e-12)
    beta = backward_plain(A, log_lik, log_scale, 60)
    np.testing.assert_allclose(posterior.smoothed, filtered * beta, rtol=1e-10, atol=1e-250)
    assert_counts(Symbols(pi, A, log_lik, np.arange(60)), log_lik)


def test_wide_chains_store_where_paths_come_from() -> None:
    rng = np.random.default_rng(10)
    K = 300  # more than a byte holds
    pi, A, log_lik = rng.random(K), rng.random((K, K)), rng.normal(size=(20, K))
    best, expected = hmm.viterbi(pi, A, log_lik), viterbi_plain(np.log(pi), np.log(A), log_lik)
    np.testing.assert_array_equal(best.states, expected[0])
    assert best.states.max() > 255


@pytest.mark.parametrize("K", [3, 11, 12, 13, 40])
def test_of_equal_paths_the_lowest_states_are_taken_however_many_there_are(K: int) -> None:
    rng = np.random.default_rng(K)
    pi, A = np.ones(K), np.exp2(-rng.integers(3, size=(K, K)))  # few values: most of them tie
    log_lik = np.log(2) * rng.integers(2, size=(100, K))
    best, (states, log_joint) = (
        hmm.viterbi(pi, A, log_lik),
        viterbi_plain(np.log(pi), np.log(A), log_lik),
    )
    np.testing.assert_array_equal(best.states, states)
    np.testing.assert_array_equal(best.log_joint, log_joint)


@pytest.mark.parametrize("K", [2, 3])
def test_tracking_a_state_is_all_recursions_at_once(K: int) -> None:
    model = random_symbols(K, seed=5)
    posterior, best = hmm.smoother(*model), hmm.viterbi(*model)
    for state in range(K):
        tracked = hmm.track_state(*model, state)
        np.testing.assert_array_equal(tracked.filtered, posterior.forward.filtered[..., state])
        np.testing.assert_array_equal(tracked.smoothed, posterior.smoothed[..., state])
        np.testing.assert_array_equal(tracked.states, best.states)
        np.testing.assert_array_equal(tracked.log_evidence, posterior.forward.log_evidence)
    for state in (-1, K):
        with pytest.raises(IndexError, match="no state"):
            hmm.track_state(*model, state)


def test_blocks_and_threads_do_not_change_the_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_symbols(3, seed=3)
    whole = [*hmm.smoother(*model)[1:], *hmm.viterbi(*model), *hmm.symbol_counts(*model)]
    posterior, best = hmm.decode(*model)
    for field, expected in zip([*posterior[1:], *best], whole[:4], strict=True):
        np.testing.assert_array_equal(field, expected)
    monkeypatch.setattr(hmm_recursions, "BLOCK", 250)  # two sequences
    for limit in (1, 2):
        with threads(limit):
            parts = [*hmm.smoother(*model)[1:], *hmm.viterbi(*model), *hmm.symbol_counts(*model)]
        for field, expected in zip(parts, whole, strict=True):
            np.testing.assert_array_equal(field, expected)


def test_arrays_that_do_not_fit_are_refused() -> None:
    pi, A, table, x = random_symbols(3, seed=4)
    for wrong in (x + 1, x - 1):
        for action in (hmm.smoother, hmm.viterbi, hmm.symbol_counts):
            with pytest.raises(IndexError, match="rows are from 0 to 5"):
                action(pi, A, table, wrong)
    for action in (hmm.smoother, hmm.viterbi, hmm.symbol_counts):
        with pytest.raises(ValueError, match="number of states"):
            action(pi[..., :2], A, table, x)
    forward = hmm.forward_filter(pi[0, 0], A[0, 0], table[0, 0])
    with pytest.raises(ValueError, match="6 steps"):
        hmm.fixed_lag_smoother(A[0, 0], table[0, 0, :5], forward, 1)


def test_whole_numbers_are_probabilities_too() -> None:
    pi, A, log_lik = np.array([1, 0, 0]), np.full((3, 3), 1 / 3), np.zeros((4, 3))
    filtered = hmm.forward_filter(pi, A, log_lik).filtered
    np.testing.assert_allclose(filtered, [[1, 0, 0], *[[1 / 3] * 3] * 3], rtol=1e-15)


def test_unscaled_messages_are_joint_probabilities() -> None:
    K, T = 2, 4
    rng = np.random.default_rng(6)
    pi, A, lik = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K), rng.random((T, K))
    alpha = np.zeros((T, K))
    for t in range(T):
        for z in itertools.product(range(K), repeat=t + 1):
            joint = pi[z[0]] * np.prod([A[i, j] for i, j in itertools.pairwise(z)])
            alpha[t, z[-1]] += joint * np.prod([lik[s, k] for s, k in enumerate(z)])
    np.testing.assert_allclose(forward_unscaled(pi, A, lik), alpha, rtol=1e-12)


def test_unscaled_messages_broadcast_over_leading_axes() -> None:
    rng = np.random.default_rng(7)
    pi, A = rng.dirichlet(np.ones(3), (4, 1)), rng.dirichlet(np.ones(3), (4, 1, 3))
    lik = rng.random((4, 2, 5, 3))
    alpha = forward_unscaled(pi, A, lik)
    for i, j in np.ndindex(4, 2):
        np.testing.assert_allclose(alpha[i, j], forward_unscaled(pi[i, 0], A[i, 0], lik[i, j]))


def test_logarithms_lead_to_the_same_evidence() -> None:
    rng = np.random.default_rng(8)
    pi, A = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), 3)
    A[0] = [0.0, 0.4, 0.6]  # an impossible step must not make a NaN
    log_lik = np.log(rng.random((4, 50, 3)))
    expected = hmm.forward_filter(pi, A, log_lik).log_evidence
    np.testing.assert_allclose(evidence_in_logs(pi, A, log_lik), expected, rtol=1e-12)


def test_importing_the_module_does_not_import_numba() -> None:
    code = "import sys, bythebook.models.chains.hmm; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_one_step_is_bayes_rule() -> None:
    """The reference is plain products; an unreachable state has no effect at any likelihood."""
    rng = np.random.default_rng(21)
    predicted, log_lik = rng.dirichlet(np.ones(3), size=(2, 4)), rng.normal(size=(2, 4, 3))
    posterior, log_c = condition(predicted, log_lik)
    for n in np.ndindex(2, 4):
        joint = predicted[n] * np.exp(log_lik[n])
        np.testing.assert_allclose(posterior[n], joint / joint.sum(), rtol=1e-13)
        np.testing.assert_allclose(log_c[n], np.log(joint.sum()), rtol=1e-12)
    # Likelihoods that no float holds: exp(-900) to exp(-902), and exp(5000) out of reach
    posterior, log_c = condition(np.array([0.5, 0.0, 0.5]), np.array([-900.0, 5000.0, -902.0]))
    odds = np.exp(2.0)
    np.testing.assert_allclose(posterior, [odds / (1 + odds), 0, 1 / (1 + odds)], rtol=1e-13)
    np.testing.assert_allclose(log_c, -902 + np.log((1 + odds) / 2), rtol=1e-15)
    # A state that is almost unreachable counts by its product.
    posterior, log_c = condition(np.array([1.0, 1e-10]), np.array([0.0, 30.0]))
    pair = np.array([1.0, 1e-10 * np.exp(30.0)])
    np.testing.assert_allclose(posterior, pair / pair.sum(), rtol=1e-13)
    np.testing.assert_allclose(log_c, np.log(pair.sum()), rtol=1e-13)


def test_a_block_holds_what_a_cache_holds_and_one_sequence_at_least() -> None:
    assert hmm_recursions._sequences(hmm_recursions.BLOCK // 4) == 4
    assert hmm_recursions._sequences(100) == hmm_recursions.BLOCK // 100
    assert hmm_recursions._sequences(2 * hmm_recursions.BLOCK) == 1
    T = hmm_recursions.BLOCK + 1  # longer than a block
    _, log_c = hmm_recursions.forward(
        np.full(2, 0.5), np.full((2, 2), 0.5), evidence(np.zeros((T, 2)))
    )
    np.testing.assert_allclose(log_c, np.zeros(T), atol=1e-12)


@pytest.mark.parametrize("K", [1, 2, 4, 8, 9, 17])
def test_matrices_are_padded_with_zeros_and_begin_lines_of_the_cache(K: int) -> None:
    A = np.random.default_rng(K).random((3, 2, K, K))
    padded = hmm_recursions._padded(A)
    N, rows, columns = padded.shape
    assert (N, rows % 4, columns % 8) == (6, 0, 0)
    assert K <= rows < K + 4
    assert K <= columns < K + 8
    assert padded.ctypes.data % 64 == 0
    assert padded.flags.c_contiguous
    np.testing.assert_array_equal(padded[:, :K, :K], A.reshape(6, K, K))
    assert padded.sum() == pytest.approx(A.sum(), rel=1e-12)
