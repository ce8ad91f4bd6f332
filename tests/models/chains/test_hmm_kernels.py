"""Each kernel names its recursion, which `test_hmm_recursions` compares with plain NumPy."""

import re

import numpy as np
import pytest
from scipy.special import logsumexp

from bythebook.models.chains import hmm_kernels, hmm_path_kernels, hmm_recursions
from bythebook.models.compiled import compiled
from bythebook.models.types import Floats

KERNELS = {
    name: kernel
    for module in (hmm_kernels, hmm_path_kernels)
    for name, kernel in vars(module).items()
    if type(kernel) is compiled
}


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_names_its_recursion(name: str) -> None:
    """Each function exists, and one of them is a recursion of the page."""
    named = set(re.findall(r"`hmm_recursions\.(\w+)`", KERNELS[name].__doc__ or ""))
    assert named <= vars(hmm_recursions).keys()
    assert any(function == "condition" or function.endswith("_plain") for function in named)


def all_recursions(pi: Floats, A: Floats, table: Floats) -> list[Floats]:
    x = hmm_recursions.evidence(table, np.arange(40) % len(table))
    alpha, log_c = hmm_recursions.forward(pi, A, x)
    lagged = hmm_recursions.backward(A, x, alpha, 3)
    whole = hmm_recursions.backward(A, x, alpha, 40)
    log_pi, log_A = hmm_recursions.log(pi), hmm_recursions.log(A)
    best = hmm_recursions.viterbi(log_pi, log_A, table, x.at)
    counts, tracked = hmm_recursions.counts(pi, A, x), hmm_recursions.track(pi, A, x, 1)
    return [alpha, log_c, *lagged, *whole, *best, *counts, *tracked]


@pytest.mark.parametrize("K", [2, 3, 9])
@pytest.mark.parametrize("excluded", [False, True])
def test_what_is_read_is_what_runs(K: int, excluded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of the kernels gives what numba made of it."""
    rng = np.random.default_rng(K)
    pi, A, table = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K), rng.normal(size=(6, K))
    if excluded:  # a state out of reach explains a symbol best
        pi, A[0] = np.eye(K)[0], np.eye(K)[0]
        table[2, 1] = 800.0
    expected = all_recursions(pi, A, table)
    for module in (hmm_kernels, hmm_path_kernels, hmm_recursions):
        for name in KERNELS.keys() & vars(module).keys():
            monkeypatch.setattr(module, name, KERNELS[name].plain)
    with np.errstate(over="ignore", invalid="ignore"):  # of which the compiled one does not warn
        found = all_recursions(pi, A, table)
    for field, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(field, other, rtol=1e-12)


def by_logs(pi: Floats, A: Floats, log_lik: Floats) -> tuple[Floats, Floats]:
    """Logarithms of alpha and of beta (T, K), summed by SciPy."""
    with np.errstate(divide="ignore"):
        log_pi, log_A = np.log(pi), np.log(A)
    alpha, beta = [log_pi + log_lik[0]], [np.zeros(len(pi))]
    for row in log_lik[1:]:
        alpha.append(row + logsumexp(alpha[-1][:, None] + log_A, axis=0))
    for row in log_lik[:0:-1]:
        beta.append(logsumexp(log_A + row + beta[-1], axis=1))
    return np.array(alpha), np.array(beta[::-1])


@pytest.mark.parametrize("fall", [0.5, 12.0, 17.0])
def test_the_kernels_of_two_states_do_not_give_up_on_ordinary_evidence(fall: float) -> None:
    """This holds for any length of chain and any loss of a step up to the limit."""
    rng = np.random.default_rng(3)
    pi, A, T = np.array([0.3, 0.7]), np.array([[0.9, 0.1], [0.2, 0.8]]), 400
    table = rng.normal(size=(5, 2))
    # Each symbol is strong evidence for one state, and not for the state that the chain was in.
    table[:, 0] += fall * np.array([1, -1, 1, -1, 0.5])
    at = np.arange(T) % 5
    x = hmm_recursions.evidence(table, at)
    alpha, beta, gamma = np.empty((3, T, 2))
    c, shift = np.empty((2, T))
    assert KERNELS["_forward_pair"].plain(pi, A, x, alpha, c, shift)
    log_alpha, log_beta = by_logs(pi, A, table[at])
    log_evidence = logsumexp(log_alpha[-1])
    prefix = logsumexp(log_alpha, axis=1)
    np.testing.assert_allclose(alpha, np.exp(log_alpha - prefix[:, None]), rtol=1e-9)
    np.testing.assert_allclose((np.log(c) + shift).cumsum(), prefix, rtol=1e-11)
    assert KERNELS["_backward_pair"].plain(A, x, alpha, beta, gamma)
    marginals = np.exp(log_alpha + log_beta - log_evidence)
    np.testing.assert_allclose(gamma, marginals, rtol=1e-8)
    scaled = np.exp(log_beta - log_evidence + prefix[:, None])
    np.testing.assert_allclose(beta, scaled, rtol=1e-8)
    first, xi, seen = np.empty(2), np.empty((2, 2)), np.empty((5, 2))
    assert KERNELS["_count_pair"].plain(A, x, alpha, first, xi, seen)
    np.testing.assert_allclose(first, marginals[0], rtol=1e-8)
    np.testing.assert_allclose(seen, [marginals[at == m].sum(0) for m in range(5)], rtol=1e-8)
    steps = log_alpha[:-1, :, None] + np.log(A) + (table[at] + log_beta)[1:, None]
    np.testing.assert_allclose(xi, np.exp(steps - log_evidence).sum(0), rtol=1e-8)


def test_a_lift_is_a_power_of_two_and_its_inverse() -> None:
    """Numbers in range are not lifted; numbers out of range return to it by one factor."""
    lift, large = KERNELS["_lift"].plain, hmm_kernels.LIFT
    assert np.log2(large) % 1 == 0
    assert 1 / hmm_kernels.FAINT < large < 1e9
    for scale in (1.0, large, 1 / large, 3.0):
        assert lift(scale) == (1.0, 1.0)
    assert lift(2 * large) == (large, 1 / large)
    assert lift(0.5 / large) == (1 / large, large)


@pytest.mark.parametrize("K", [2, 3])
def test_evidence_that_no_state_in_reach_can_have_given(K: int) -> None:
    """From there on the filter is NaN, and earlier probabilities stay."""
    pi, A = np.full(K, 1 / K), np.eye(K)
    table = np.zeros((3, K))
    table[1, 1:] = -np.inf  # the first state it is
    table[2, 0] = -np.inf  # or not
    x = hmm_recursions.evidence(table, np.array([0, 1, 2, 0]))
    alpha, log_c = hmm_recursions.forward(pi, A, x)
    np.testing.assert_allclose(alpha[:2], [pi, np.eye(K)[0]])
    np.testing.assert_allclose(log_c[:2], [0, -np.log(K)], atol=1e-15)
    assert np.isnan(alpha[2:]).all()
    assert np.isneginf(log_c[2:]).all()


@pytest.mark.parametrize("K", [3, 4, 5, 7, 8, 9, 17])
@pytest.mark.parametrize("lag", [2, 60])
def test_a_state_that_only_others_reach_may_be_infinitely_better(K: int, lag: int) -> None:
    """Two chains that never meet: an unreachable state changes nothing and causes no NaN."""
    rng = np.random.default_rng(K)
    A, table = np.zeros((K, K)), rng.normal(size=(5, K))
    A[:2, :2], A[2:, 2:] = rng.dirichlet(np.ones(2), 2), rng.dirichlet(np.ones(K - 2), K - 2)
    table[:, 2:] += 30.0  # a step: out of range after 24 of them
    pi = np.append([0.4, 0.6], np.zeros(K - 2))
    at = rng.integers(5, size=60)
    x, alone = hmm_recursions.evidence(table, at), hmm_recursions.evidence(table[:, :2], at)
    alpha, log_c = hmm_recursions.forward(pi, A, x)
    expected = hmm_recursions.forward(pi[:2], A[:2, :2], alone)
    np.testing.assert_allclose(alpha[:, :2], expected[0], rtol=1e-12)
    np.testing.assert_allclose(log_c, expected[1], rtol=0, atol=1e-12)
    beta, gamma = hmm_recursions.backward(A, x, alpha, lag)
    beta_alone, gamma_alone = hmm_recursions.backward(A[:2, :2], alone, expected[0], lag)
    assert np.isinf(beta).any() == (lag == 60)
    assert not np.isnan(beta).any()
    np.testing.assert_allclose(beta[:, :2], beta_alone, rtol=1e-11)
    np.testing.assert_allclose(gamma[:, :2], gamma_alone, rtol=1e-11)
    np.testing.assert_array_equal(gamma[:, 2:], 0)


@pytest.mark.parametrize("K", [2, 3])
def test_every_sequence_takes_its_own_start_transitions_likelihoods_and_times(K: int) -> None:
    """Each has its own axis; the reference is the sum over all paths."""
    rng = np.random.default_rng(K)
    pi, A = rng.dirichlet(np.ones(K), 2), rng.dirichlet(np.ones(K), (3, K))
    table, at = rng.normal(size=(4, 5, K)), rng.integers(5, size=(2, 3))
    x = hmm_recursions.evidence(table[:, None], at)
    own = pi[:, None, None, None], A[:, None, None], x
    alpha, log_c = hmm_recursions.forward(*own)
    assert alpha.shape == (2, 3, 4, 2, 3, K)
    counted, tracked = hmm_recursions.counts(*own)[-1], hmm_recursions.track(*own, 0)[-1]
    for i, j, m, s in np.ndindex(2, 3, 4, 2):
        likelihood = np.exp(table[m][at[s]])
        ends = np.zeros(K)
        for a, b, c in np.ndindex(K, K, K):
            path = pi[i, a] * A[j, a, b] * A[j, b, c]
            ends[c] += path * likelihood[0, a] * likelihood[1, b] * likelihood[2, c]
        np.testing.assert_allclose(alpha[i, j, m, s, -1], ends / ends.sum(), rtol=1e-12)
        total = [log_c[i, j, m, s].sum(), counted[i, j, m, s], tracked[i, j, m, s]]
        np.testing.assert_allclose(total, np.log(ends.sum()), rtol=1e-10)
