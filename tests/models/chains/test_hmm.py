"""The oracle is the sum over all paths: K^T terms, each the plain product of the model."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from bythebook.models.chains import hmm
from bythebook.models.types import Floats, Ints


class Chain(NamedTuple):
    pi: Floats
    A: Floats
    log_lik: Floats  # (T, K)


def random_chain(K: int, T: int, seed: int, zeros: bool = False) -> Chain:
    """A model without pattern; with `zeros`, a left-to-right chain that begins in state 0."""
    rng = np.random.default_rng([K, T, seed])
    pi, A = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K)
    if zeros:
        pi, A = np.eye(K)[0], np.triu(A)
        A /= A.sum(axis=1, keepdims=True)
    return Chain(pi, A, rng.normal(scale=2.0, size=(T, K)))


CHAINS = [
    random_chain(K, T, seed, zeros)
    for K, T in [(1, 3), (2, 1), (2, 2), (2, 4), (3, 3), (3, 4)]
    for seed in range(2)
    for zeros in (False, True)
]
every_chain = pytest.mark.parametrize("chain", CHAINS, ids=lambda c: "T{}K{}".format(*c[2].shape))


def paths(chain: Chain, length: int | None = None) -> tuple[Ints, Floats]:
    """All paths (P, T), and p(x_1 .. x_length, z) of each."""
    T, K = chain.log_lik.shape
    z = np.array(list(itertools.product(range(K), repeat=T)))
    joint = chain.pi[z[:, 0]].copy()
    for t in range(T):
        if t > 0:
            joint *= chain.A[z[:, t - 1], z[:, t]]
        if length is None or t < length:
            joint *= np.exp(chain.log_lik[t, z[:, t]])
    return z, joint


def marginal(chain: Chain, t: int, length: int | None = None) -> Floats:
    """p(z_t | x_1 .. x_length)."""
    z, joint = paths(chain, length)
    return np.array([joint[z[:, t] == k].sum() for k in range(len(chain.pi))]) / joint.sum()


def evidence(chain: Chain, length: int | None = None) -> float:
    return float(paths(chain, length)[1].sum())


@every_chain
def test_filter_and_evidence_sum_over_all_paths(chain: Chain) -> None:
    T = len(chain.log_lik)
    forward = hmm.forward_filter(*chain)
    filtered = [marginal(chain, t, length=t + 1) for t in range(T)]
    np.testing.assert_allclose(forward.filtered, filtered, rtol=1e-12, atol=1e-15)
    partial = np.log([evidence(chain, t) for t in range(T + 1)])
    np.testing.assert_allclose(forward.log_scale, np.diff(partial), rtol=0, atol=1e-12)
    np.testing.assert_allclose(forward.log_evidence, partial[-1], rtol=1e-13, atol=1e-13)


@every_chain
def test_smoother_sums_over_all_paths(chain: Chain) -> None:
    T, K = chain.log_lik.shape
    posterior = hmm.smoother(*chain)
    smoothed = [marginal(chain, t) for t in range(T)]
    np.testing.assert_allclose(posterior.smoothed, smoothed, rtol=1e-12, atol=1e-15)
    for t, k in itertools.product(range(T), range(K)):  # beta-hat, also for states out of reach
        rest = Chain(np.eye(K)[k], chain.A, np.vstack([np.zeros(K), chain.log_lik[t + 1 :]]))
        expected = evidence(rest) / (evidence(chain) / evidence(chain, t + 1))
        np.testing.assert_allclose(posterior.backward[t, k], expected, rtol=1e-12)


@every_chain
def test_pairwise_marginals_and_expected_transitions(chain: Chain) -> None:
    T, K = chain.log_lik.shape
    z, joint = paths(chain)
    xi = np.zeros((T - 1, K, K))
    for t in range(T - 1):
        np.add.at(xi[t], (z[:, t], z[:, t + 1]), joint / joint.sum())
    posterior = hmm.smoother(*chain)
    computed = hmm.pairwise_marginals(chain.A, posterior)
    np.testing.assert_allclose(computed, xi, rtol=1e-12, atol=1e-15)
    counts = hmm.expected_transitions(chain.A, posterior)
    np.testing.assert_allclose(counts, xi.sum(axis=0), rtol=1e-12, atol=1e-15)


@every_chain
def test_fixed_lag_smoother_lies_between_filter_and_smoother(chain: Chain) -> None:
    T = len(chain.log_lik)
    forward = hmm.forward_filter(*chain)
    for lag in range(T + 2):
        expected = [marginal(chain, t, length=min(t + lag + 1, T)) for t in range(T)]
        lagged = hmm.fixed_lag_smoother(chain.A, chain.log_lik, forward, lag)
        np.testing.assert_allclose(lagged, expected, rtol=1e-12, atol=1e-15)


@every_chain
def test_viterbi_finds_the_best_of_all_paths(chain: Chain) -> None:
    z, joint = paths(chain)
    best = hmm.viterbi(*chain)
    np.testing.assert_array_equal(best.states, z[joint.argmax()])
    np.testing.assert_allclose(best.log_joint, np.log(joint.max()), rtol=1e-12, atol=1e-13)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(hmm.log_joint(*chain, z), np.log(joint), rtol=1e-12, atol=1e-13)


@every_chain
def test_prediction(chain: Chain) -> None:
    K = len(chain.pi)
    B = np.random.default_rng(0).dirichlet(np.ones(4), K)
    alpha = hmm.forward_filter(*chain).filtered[-1]
    for horizon in range(4):
        longer = chain._replace(log_lik=np.vstack([chain.log_lik, np.zeros((horizon, K))]))
        states = marginal(longer, -1)  # a row of zeros is a missing observation
        np.testing.assert_allclose(
            hmm.predict_states(alpha, chain.A, horizon), states, rtol=1e-12, atol=1e-15
        )
        symbols = hmm.predict_symbols(alpha, chain.A, B, horizon)
        np.testing.assert_allclose(symbols, states @ B, rtol=1e-12)


def test_the_stationary_distribution_stays() -> None:
    A = np.random.default_rng(3).dirichlet(np.ones(4), 4)
    p = hmm.stationary(A)
    np.testing.assert_allclose(p @ A, p, rtol=1e-12)
    np.testing.assert_allclose(p, np.linalg.matrix_power(A, 200)[0], rtol=1e-10)


def test_reversed_stationary_chain_gives_the_reversed_posterior() -> None:
    rng = np.random.default_rng(4)
    A = rng.dirichlet(np.ones(3), 3)
    stationary = np.linalg.matrix_power(A, 500)[0]
    reverse = stationary[None, :] * A.T / stationary[:, None]
    log_lik = rng.normal(scale=2.0, size=(40, 3))
    ahead = hmm.smoother(stationary, A, log_lik)
    back = hmm.smoother(stationary, reverse, log_lik[::-1])
    np.testing.assert_allclose(back.smoothed[::-1], ahead.smoothed, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(
        back.forward.log_evidence, ahead.forward.log_evidence, rtol=1e-12, atol=0
    )
    paths_agree = hmm.viterbi(stationary, reverse, log_lik[::-1]).states[::-1]
    np.testing.assert_array_equal(paths_agree, hmm.viterbi(stationary, A, log_lik).states)


def test_batches_give_the_bits_of_single_sequences_every_time() -> None:
    rng = np.random.default_rng(6)
    pi, A = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), 3)
    log_lik = rng.normal(size=(4, 2, 50, 3))
    batch, again = hmm.smoother(pi, A, log_lik), hmm.smoother(pi, A, log_lik)
    np.testing.assert_array_equal(batch.smoothed, again.smoothed)
    for index in np.ndindex(4, 2):
        single = hmm.smoother(pi, A, log_lik[index])
        np.testing.assert_array_equal(batch.smoothed[index], single.smoothed)
        np.testing.assert_array_equal(batch.forward.log_scale[index], single.forward.log_scale)
        path = hmm.viterbi(pi, A, log_lik).states[index]
        np.testing.assert_array_equal(path, hmm.viterbi(pi, A, log_lik[index]).states)


def test_names_of_states_do_not_matter() -> None:
    chain = random_chain(4, 60, seed=0)
    order = np.array([2, 0, 3, 1])
    renamed = Chain(chain.pi[order], chain.A[np.ix_(order, order)], chain.log_lik[:, order])
    plain, other = hmm.smoother(*chain), hmm.smoother(*renamed)
    np.testing.assert_allclose(other.smoothed, plain.smoothed[:, order], rtol=1e-11, atol=1e-15)
    np.testing.assert_array_equal(order[hmm.viterbi(*renamed).states], hmm.viterbi(*chain).states)


def test_equal_rows_give_the_responsibilities_of_a_mixture() -> None:
    """PRML 13.2: with A_jk = pi_k the data are independent."""
    pi, _, log_lik = random_chain(3, 50, seed=1)
    joint = np.log(pi) + log_lik
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    posterior = hmm.smoother(pi, np.tile(pi, (3, 1)), log_lik)
    np.testing.assert_allclose(posterior.smoothed, expected, rtol=1e-12)
    np.testing.assert_allclose(
        posterior.forward.log_evidence, logsumexp(joint, axis=1).sum(), rtol=1e-13
    )


def test_marginal_modes_can_be_an_impossible_path() -> None:
    """PRML 13.2.5: each state is probable, their sequence is not."""
    pi, A = np.array([0.4, 0.3, 0.3]), np.array([[0.0, 0.5, 0.5], [1.0, 0, 0], [1.0, 0, 0]])
    log_lik = np.zeros((2, 3))
    modes = hmm.smoother(pi, A, log_lik).smoothed.argmax(axis=1)
    assert list(modes) == [0, 0]
    assert hmm.log_joint(pi, A, log_lik, modes) == -np.inf
    assert hmm.viterbi(pi, A, log_lik).log_joint > -np.inf


def log_space_evidence(chain: Chain) -> float:
    log_alpha = np.log(chain.pi) + chain.log_lik[0]
    for row in chain.log_lik[1:]:
        log_alpha = row + logsumexp(log_alpha[:, None] + np.log(chain.A), axis=0)
    return float(logsumexp(log_alpha))


def test_long_chains_of_tiny_likelihoods_do_not_underflow() -> None:
    chain = random_chain(3, 5000, seed=2)
    chain = chain._replace(log_lik=40 * chain.log_lik - 800)
    posterior = hmm.smoother(*chain)
    np.testing.assert_allclose(posterior.smoothed.sum(axis=1), 1.0, rtol=1e-12)
    expected = log_space_evidence(chain)
    assert expected < -1e6
    np.testing.assert_allclose(posterior.forward.log_evidence, expected, rtol=1e-13)


def test_states_out_of_reach_may_explain_the_data_much_better() -> None:
    pi, A = np.array([1.0, 0.0, 0.0]), np.array([[0.5, 0.5, 0], [0, 1.0, 0], [0, 0, 1.0]])
    log_lik = np.array([[-3000.0, 0, 9000], [-2000, -2001, 9000], [-1000, -1000, 9000]])
    posterior = hmm.smoother(pi, A, log_lik)
    reachable = hmm.smoother(pi[:2], A[:2, :2], log_lik[:, :2] + 2000)
    np.testing.assert_array_equal(posterior.smoothed[:, 2], 0)
    np.testing.assert_allclose(posterior.smoothed[:, :2], reachable.smoothed, rtol=1e-12)
    xi = hmm.pairwise_marginals(A, posterior)
    np.testing.assert_allclose(xi.sum(axis=(1, 2)), 1.0, rtol=1e-12)
    np.testing.assert_allclose(
        hmm.expected_transitions(A, posterior), xi.sum(axis=0), rtol=1e-12, atol=1e-300
    )


def test_a_probability_that_underflows_counts_as_zero() -> None:
    """States that never mix: the odds of the first pass 1 : 1e-308 before the second would win."""
    log_lik = np.array([[0.0, 0.0], [0.0, -800.0], [-2000.0, 0.0]])
    posterior = hmm.smoother(np.array([0.5, 0.5]), np.eye(2), log_lik)
    np.testing.assert_array_equal(posterior.smoothed, [[1.0, 0.0]] * 3)
    mixing = hmm.smoother(np.array([0.5, 0.5]), np.full((2, 2), 0.5), log_lik)
    np.testing.assert_allclose(mixing.smoothed, [[0.5, 0.5], [1, 0], [0, 1]], rtol=1e-15)


def test_impossible_data_have_evidence_zero_and_no_posterior() -> None:
    pi, A = np.array([1.0, 0.0]), np.eye(2)
    log_lik = np.array([[0.0, 0.0], [-np.inf, 0.0], [0.0, 0.0]])
    posterior = hmm.smoother(pi, A, np.stack([log_lik, np.zeros((3, 2))]))
    np.testing.assert_array_equal(posterior.forward.log_evidence, [-np.inf, 0.0])
    np.testing.assert_array_equal(posterior.forward.filtered[0, 0], [1.0, 0.0])
    assert np.isnan(posterior.forward.filtered[0, 1:]).all()
    assert np.isnan(posterior.smoothed[0, :, 0]).all()
    np.testing.assert_array_equal(posterior.smoothed[1], [[1.0, 0.0]] * 3)
    assert hmm.viterbi(pi, A, log_lik).log_joint == -np.inf
    assert np.isnan(hmm.forward_filter(pi, A, np.full((3, 2), np.nan)).log_evidence)


def test_emissions_meet_every_sequence() -> None:
    rng = np.random.default_rng(7)
    B, symbols = rng.dirichlet(np.ones(4), (2, 3)), rng.integers(4, size=(5, 6))
    log_lik = hmm.categorical_log_likelihood(B, symbols)
    assert log_lik.shape == (2, 5, 6, 3)
    mu, x = rng.normal(size=(2, 3, 2)), rng.normal(size=(5, 6, 2))
    root = rng.normal(size=(2, 3, 2, 2))
    Sigma = root @ np.swapaxes(root, -1, -2) + np.eye(2)
    gaussian = hmm.gaussian_log_likelihood(mu, Sigma, x)
    assert gaussian.shape == (2, 5, 6, 3)
    for r, n, t, k in np.ndindex(2, 5, 6, 3):
        assert log_lik[r, n, t, k] == np.log(B[r, k, symbols[n, t]])
        density = multivariate_normal(mu[r, k], Sigma[r, k]).logpdf(x[n, t])
        np.testing.assert_allclose(gaussian[r, n, t, k], density, rtol=1e-12)
    assert hmm.gaussian_log_likelihood(mu[0], Sigma[0], x[0]).shape == (6, 3)
    Sigma[0, 1] = 0.0
    collapsed = hmm.gaussian_log_likelihood(mu, Sigma, x)
    np.testing.assert_array_equal(np.isnan(collapsed).any(axis=(1, 2)), [[0, 1, 0], [0, 0, 0]])


def assert_frequencies(draws: Ints, expected: Floats, axis: int = 0) -> None:
    """Each frequency is within 4.5 standard errors: 1 in 150,000 would not be by chance."""
    n = draws.shape[axis]
    frequency = np.stack([(draws == k).mean(axis=axis) for k in range(expected.shape[-1])], axis=-1)
    bound = 4.5 * np.sqrt(expected * (1 - expected) / n)
    assert (np.abs(frequency - expected) <= bound + 1e-12).all()


def test_sampled_sequences_have_the_frequencies_of_the_model() -> None:
    rng = np.random.default_rng(8)
    pi, A, _ = random_chain(3, 1, seed=3)
    A[0, 0], A[1, 2] = 0.0, 0.0
    A /= A.sum(axis=1, keepdims=True)
    z = hmm.sample_states(pi, A, rng.random((20_000, 4)))
    for t in range(4):
        assert_frequencies(z[:, t], pi @ np.linalg.matrix_power(A, t))
    for j in range(3):
        assert_frequencies(z[z[:, 2] == j, 3], A[j])
    B = np.array([[0.0, 0.5, 0.5, 0.0], [0.1, 0.2, 0.3, 0.4], [1.0, 0.0, 0.0, 0.0]])
    x = hmm.sample_symbols(B, z, rng.random(z.shape))
    for k in range(3):
        assert_frequencies(x[z == k], B[k])
    mu, Sigma = rng.normal(size=(3, 2)), np.array([np.eye(2), [[2, 1], [1, 1]], [[1, -1], [-1, 4]]])
    y = hmm.sample_gaussians(mu, Sigma, z, rng)
    for k in range(3):
        n = (z == k).sum()
        error = (y[z == k].mean(axis=0) - mu[k]) / np.sqrt(np.diag(Sigma[k]) / n)
        assert (np.abs(error) < 4.5).all()
        np.testing.assert_allclose(np.cov(y[z == k].T), Sigma[k], atol=4.5 * 4 * np.sqrt(2 / n))


def test_uniforms_at_the_ends_never_draw_what_has_probability_zero() -> None:
    ends = np.array([[0.0, 1 - 2.0**-53]])
    pi, A = np.array([0.0, 1.0, 0.0]), np.array([[1.0, 0, 0], [0.0, 1.0, 0.0], [0, 0, 1.0]])
    np.testing.assert_array_equal(hmm.sample_states(pi, A, ends), [[1, 1]])
    B = np.tile([0.0, 0.1, 0.2, 0.7, 0.0], (3, 1))
    symbols = hmm.sample_symbols(B, np.array([[1, 1]]), ends)
    np.testing.assert_array_equal(symbols, [[1, 3]])


@pytest.mark.parametrize("zeros", [False, True])
def test_posterior_samples_have_the_posterior_frequencies(zeros: bool) -> None:
    chain = random_chain(3, 4, seed=4, zeros=zeros)
    forward = hmm.forward_filter(*chain)
    draws = hmm.sample_posterior(forward.filtered, chain.A, 20_000, np.random.default_rng(9))
    _, joint = paths(chain)
    label = draws @ 3 ** np.arange(3, -1, -1)  # the index of the path in `paths`
    assert_frequencies(label, joint / joint.sum())
    batch = np.stack([forward.filtered] * 2)
    assert hmm.sample_posterior(batch, chain.A, 5, np.random.default_rng(9)).shape == (5, 2, 4)


def test_hmmlearn_agrees() -> None:
    other = pytest.importorskip("hmmlearn.hmm")
    rng = np.random.default_rng(10)
    pi, A, _ = random_chain(3, 1, seed=5)
    B, symbols = rng.dirichlet(np.ones(5), 3), rng.integers(5, size=80)
    model = other.CategoricalHMM(3)
    model.startprob_, model.transmat_, model.emissionprob_ = pi, A, B
    log_lik = hmm.categorical_log_likelihood(B, symbols)
    evidence, smoothed = model.score_samples(symbols[:, None])
    posterior = hmm.smoother(pi, A, log_lik)
    np.testing.assert_allclose(posterior.forward.log_evidence, evidence, rtol=1e-10)
    np.testing.assert_allclose(posterior.smoothed, smoothed, rtol=1e-8, atol=1e-12)
    mu, Sigma = rng.normal(size=(3, 2)), np.tile(np.eye(2), (3, 1, 1))  # no ties between paths
    model, x = other.GaussianHMM(3, covariance_type="full"), rng.normal(size=(80, 2))
    model.startprob_, model.transmat_, model.means_, model.covars_ = pi, A, mu, Sigma
    value, path = model.decode(x)
    best = hmm.viterbi(pi, A, hmm.gaussian_log_likelihood(mu, Sigma, x))
    np.testing.assert_array_equal(best.states, path)
    np.testing.assert_allclose(best.log_joint, value, rtol=1e-10)


def test_paths_are_drawn_for_many_chains_at_once() -> None:
    """Each chain has its own transitions; shares of states are its smoothed marginals."""
    rng = np.random.default_rng(11)
    pi, A = rng.dirichlet(np.ones(3), 2), rng.dirichlet(np.ones(3), (2, 3))
    log_lik = rng.normal(size=(2, 5, 3))
    posterior = hmm.smoother(pi, A, log_lik)
    draws = hmm.sample_posterior(posterior.forward.filtered, A, 40_000, rng)
    share = (draws[..., None] == np.arange(3)).mean(axis=0)
    np.testing.assert_allclose(share, posterior.smoothed, rtol=0, atol=4.5 * 0.5 / 200)
    pairs = hmm.pairwise_marginals(A, posterior)
    joint = np.einsum(
        "sntj,sntk->ntjk", *(np.eye(3)[draws[..., s]] for s in (slice(-1), slice(1, None)))
    )
    np.testing.assert_allclose(joint / 40_000, pairs, rtol=0, atol=4.5 * 0.5 / 200)
