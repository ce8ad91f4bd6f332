"""Messages along a hidden Markov chain compared with sums over all its paths (PRML 13.2).

Gaps are elementwise differences: for likelihoods of their ratio to one, for probabilities absolute.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.chains import hmm
from bythebook.models.chains import hmm_enumeration as by_paths
from bythebook.models.chains.hmm_recursions import (
    backward_unscaled,
    evidence_in_logs,
    forward_unscaled,
)
from bythebook.models.types import AnyArray, Floats, Ints


class Beliefs(NamedTuple):
    """Posterior marginals of N short sequences, by messages and, second, by all paths."""

    filtered: Floats  # (2, N, T, K)
    smoothed: Floats  # (2, N, T, K)
    two_filters: Floats  # (N, T, K) the smoothed ones by MLAPP exercise 17.2


def message_gaps(pi: Floats, A: Floats, lik: Floats) -> tuple[dict[str, Floats], Beliefs]:
    """The gaps of N chains, pi (N, K), A (N, K, K), likelihoods (N, T, K), and their marginals."""
    T, K = lik.shape[1:]
    posterior, paths = hmm.smoother(pi, A, np.log(lik)), by_paths.enumerate_paths(pi, A, lik)
    filtered, smoothed = posterior.forward.filtered, posterior.smoothed
    exact = by_paths.filtered_marginals(pi, A, lik), by_paths.state_marginals(paths, K)
    # (13.41): the same number at every step, from the messages without scaling
    by_step = np.sum(forward_unscaled(pi, A, lik) * backward_unscaled(A, lik), axis=-1)
    two = hmm.two_filter_smoother(pi[:, None], A[:, None], np.log(lik)[:, None])[:, 0]
    # With equal rows the chain forgets: the posterior is that of a mixture, point by point.
    rows, joint = np.broadcast_to(pi[:, None, :], A.shape), pi[:, None, :] * lik
    forgetful = hmm.smoother(pi, rows, np.log(lik)).smoothed
    columns = np.swapaxes(A, -1, -2)  # Ghahramani's A_ij = p(s_t = i | s_{t-1} = j)
    alpha = pi * lik[:, 0]
    for t in range(1, T):
        alpha = lik[:, t] * (columns @ alpha[..., None])[..., 0]
    gaps = {
        "evidence": np.exp(posterior.forward.log_evidence) / paths.evidence - 1.0,
        "evidence_by_step": by_step / paths.evidence[:, None] - 1.0,
        "filtered": filtered - exact[0],
        "smoothed": smoothed - exact[1],
        "pairs": hmm.pairwise_marginals(A, posterior) - by_paths.pair_marginals(paths, K),
        "two_filters": two - exact[1],
        "mixture": forgetful - joint / joint.sum(axis=-1, keepdims=True),  # 9.13
        "columns": alpha.sum(axis=-1) / paths.evidence - 1.0,
        "column_sums": columns.sum(axis=-2) - 1.0,
    }
    beliefs = Beliefs(np.stack([filtered, exact[0]]), np.stack([smoothed, exact[1]]), two)
    return gaps, beliefs


def printed_gaps(
    pi: Floats, A: Floats, lik: Floats, rng: Generator
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Gaps of backward messages and an M step's means: corrected, and as PRML prints them.

    The caption of Figure 13.13 weights by p(x_n | z_{n+1}). (13.40) sums data to n, read as short
    of the last; its states emit unit Gaussians, and the best means are those that maximise
    the expected log likelihood of data and states (13.12), which is a parabola in each.
    """
    T, K = lik.shape[1:]
    to_come = [
        [by_paths.enumerate_paths(A[:, k], A, lik[:, t + 1 :]).evidence for k in range(K)]
        for t in range(T - 1)
    ]
    beta = np.moveaxis(np.array(to_come), -1, 0)  # (N, T - 1, K)
    shifted = np.roll(lik, 1, axis=1)  # the likelihoods of a step earlier

    mu, x = 2 * rng.standard_normal(pi.shape), 2 * rng.standard_normal(lik.shape[:2])
    off = x[..., None] - mu[:, None]
    density = np.exp(-(off**2) / 2) / np.sqrt(2 * np.pi)
    gamma = by_paths.state_marginals(by_paths.enumerate_paths(pi, A, density), K)
    low, here, high = (-np.sum(gamma * (off - step) ** 2, axis=1) / 2 for step in (-1, 0, 1))
    best = mu + (low - high) / (low - 2 * here + high) / 2
    weight = forward_unscaled(pi, A, density) * backward_unscaled(A, density)
    means = [
        np.sum(weight[:, :n] * x[:, :n, None], axis=1) / weight[:, :n].sum(axis=1)  # 13.40
        for n in (T, T - 1)
    ]
    meant, printed = (
        {"backward": backward_unscaled(A, used)[:, :-1] / beta - 1, "means": mean - best}
        for used, mean in zip((lik, shifted), means, strict=True)
    )
    return meant, printed


class Survival(NamedTuple):
    """Underflow of unscaled messages and scaled messages of long sequences."""

    underflow: Floats  # (N,) the step at which unscaled ones are all zero; infinite if at none
    first_log_evidence: Floats  # (T,) by scaled ones, of the first sequence as it grows
    not_finite: Ints  # () scaled messages and log evidences that are lost, steps with none left
    log_evidence_gap: Floats  # (N,) between scaled messages and a recursion in logarithms


def survival(pi: Floats, A: Floats, log_lik: Floats) -> Survival:
    """Unscaled and scaled messages (13.2.4) of one model, log likelihoods (N, T, K)."""
    alive = forward_unscaled(pi, A, np.exp(log_lik)).any(axis=-1)
    posterior = hmm.smoother(pi, A, log_lik)
    log_evidence = posterior.forward.log_scale.cumsum(axis=-1)  # 13.63, so far
    messages = posterior.forward.filtered, posterior.backward
    lost = sum(np.sum(~np.isfinite(a)) for a in (*messages, posterior.smoothed, log_evidence))
    lost += sum(np.sum(~a.any(axis=-1)) for a in messages)
    ratio = log_evidence[:, -1] / evidence_in_logs(pi, A, log_lik)
    return Survival(
        np.where(alive.all(axis=-1), np.inf, alive.argmin(axis=-1) + 1),
        log_evidence[0],
        np.asarray(lost),
        ratio - 1,
    )


def scaled_gaps(pi: Floats, A: Floats, log_lik: Floats) -> dict[str, Floats]:
    """The gaps of scaled messages (13.2.4) for one model, log likelihoods (N, T, K).

    The key "printed_sum" has the sums of all pairs by (13.65) as printed, (N, T - 1).
    """
    T, K = log_lik.shape[-2:]
    lik, posterior = np.exp(log_lik), hmm.smoother(pi, A, log_lik)
    alpha, log_c = posterior.forward
    prefixes = [by_paths.enumerate_paths(pi, A, lik[:, :t]) for t in range(1, T + 1)]
    evidence = np.stack([paths.evidence for paths in prefixes], axis=-1)
    product = alpha[:, :-1, :, None] * A * (lik * posterior.backward)[:, 1:, None, :]
    c = np.exp(log_c)[:, 1:, None, None]
    as_printed = (c * product).sum(axis=(-2, -1))  # 13.65 as printed
    return {
        "evidence_gap": np.exp(log_c.cumsum(axis=-1)) / evidence - 1,
        "filtered_gap": alpha - by_paths.filtered_marginals(pi, A, lik),
        "smoothed_gap": alpha * posterior.backward  # 13.64
        - by_paths.state_marginals(prefixes[-1], K),
        "pair_gap": product / c - by_paths.pair_marginals(prefixes[-1], K),  # 13.103
        "printed_sum_gap": as_printed / c[..., 0, 0] ** 2 - 1,
        "printed_sum": as_printed,
    }


def pair_shares(paths: AnyArray, K: int) -> Floats:
    """Shares of pairs of successive states in sampled paths (S, T), shape (T - 1, K, K)."""
    pairs = K * paths[:, :-1] + paths[:, 1:]
    share = np.stack([np.mean(pairs == pair, axis=0) for pair in range(K * K)], axis=-1)
    return share.reshape(-1, K, K)


def prediction_gaps(belief: Floats, A: Floats, B: Floats, steps: int) -> dict[str, Floats]:
    """Gaps of predicted states and symbols some steps ahead of a belief (K,) to explicit sums."""
    K = len(A)
    twice = sum(belief[i] * A[i, j] * A[j] for i in range(K) for j in range(K))  # MLAPP 17.42
    paths = by_paths.enumerate_paths(belief, A, np.ones((steps + 1, K)))  # without observations
    powers = np.stack([hmm.predict_states(belief, A, h) for h in range(steps + 1)])
    unseen = np.ones((steps, K))  # each symbol is seen at the last step, and nothing before
    seen = [by_paths.enumerate_paths(belief, A, np.vstack([unseen, b])).evidence for b in B.T]
    return {
        "two_step_gap": hmm.predict_states(belief, A, 2) - twice,
        "all_paths_gap": powers - by_paths.state_marginals(paths, K),
        "symbol_gap": hmm.predict_symbols(belief, A, B, steps) - seen,
    }
