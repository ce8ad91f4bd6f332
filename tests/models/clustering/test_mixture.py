"""The functions common to all mixtures, against scipy and against sums over all labels."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import logsumexp, softmax
from scipy.stats import dirichlet

from bythebook.models.clustering.mixture import (
    blocks,
    expected_complete,
    free_energy,
    kl_to_posterior,
    mixing_proportions,
    posterior,
    row_blocks,
)

log_joints = arrays(float, (2, 3, 4), elements=st.floats(-1e6, 1e6))


@settings(deadline=None)
@given(log_joints, st.sampled_from([0, 1, 2, -1]))
def test_posterior_is_softmax_and_logsumexp(log_joint, axis):
    gamma, log_evidence = posterior(log_joint, axis)
    np.testing.assert_allclose(gamma, softmax(log_joint, axis=axis), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(
        log_evidence, logsumexp(log_joint, axis=axis), rtol=1e-14, atol=1e-12
    )


def test_what_no_component_can_have_made_has_no_posterior():
    log_joint = np.array([[-np.inf, -np.inf], [-np.inf, 0.5]])
    gamma, log_evidence = posterior(log_joint)
    assert np.isnan(gamma[0]).all()
    assert gamma[1].tolist() == [0.0, 1.0]
    assert log_evidence.tolist() == [-np.inf, 0.5]


def all_paths(log_joint, q):
    """E_q ln p(X, Z), H(q), KL by enumeration of the K^N labellings of one restart."""
    N, K = q.shape
    complete = entropy = kl = 0.0
    evidence = logsumexp(log_joint, axis=1).sum()
    for z in itertools.product(range(K), repeat=N):
        probability = np.prod(q[np.arange(N), z])
        if probability > 0:
            joint = log_joint[np.arange(N), z].sum()
            complete += probability * joint
            entropy -= probability * np.log(probability)
            kl += probability * (np.log(probability) - (joint - evidence))
    return complete, entropy, kl


@pytest.mark.parametrize("hard", [False, True])
def test_bound_and_gap_by_enumeration(hard):
    rng = np.random.default_rng(1)
    log_joint = rng.normal(size=(2, 4, 3)) * 3
    q = rng.dirichlet(np.ones(3), size=(2, 4))
    if hard:  # the convention 0 ln 0 = 0, also against a joint of zero
        q = (q == q.max(-1, keepdims=True)).astype(float)
        log_joint[q == 0] = np.where(rng.random((q == 0).sum()) < 0.5, -np.inf, -1.0)
    for r in range(2):
        complete, entropy, kl = all_paths(log_joint[r], q[r])
        np.testing.assert_allclose(expected_complete(log_joint, q)[r], complete, rtol=1e-12)
        np.testing.assert_allclose(free_energy(log_joint, q)[r], complete + entropy, rtol=1e-12)
        np.testing.assert_allclose(kl_to_posterior(log_joint, q)[r], kl, rtol=1e-10, atol=1e-12)


@settings(deadline=None)
@given(log_joints, st.integers(0, 2**32 - 1))
def test_bound_plus_gap_is_the_evidence(log_joint, seed):
    q = np.random.default_rng(seed).dirichlet(np.ones(4), size=(2, 3))
    log_evidence = posterior(log_joint)[1].sum(1)
    bound, gap = free_energy(log_joint, q), kl_to_posterior(log_joint, q)
    np.testing.assert_allclose(bound + gap, log_evidence, rtol=1e-9, atol=1e-6)
    assert np.all(gap >= -1e-9)
    best = posterior(log_joint)[0]
    np.testing.assert_allclose(free_energy(log_joint, best), log_evidence, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("alpha", [1.0, 2.5])
def test_mixing_proportions_maximise(alpha):
    N = np.array([[3.0, 1.0, 6.0], [0.5, 0.2, 0.1]])
    pi = mixing_proportions(N, alpha)

    def objective(p, n):
        return n @ np.log(p) + dirichlet.logpdf(p, np.full(3, alpha))

    rng = np.random.default_rng(0)
    for n, best in zip(N, pi, strict=True):
        np.testing.assert_allclose(best.sum(), 1.0, rtol=1e-14)
        others = softmax(np.log(best) + 0.05 * rng.normal(size=(50, 3)), axis=1)
        assert all(objective(other, n) < objective(best, n) for other in others)


@settings(deadline=None)
@given(st.integers(0, 500), st.integers(1, 10**7))
def test_blocks_cover_every_row_once(rows, width):
    covered = [n for block in row_blocks(rows, width) for n in range(rows)[block]]
    assert covered == list(range(rows))


@pytest.mark.parametrize("rows", [0, 1, 272, 70_000])
@pytest.mark.parametrize("restarts", [0, 1, 150])
def test_blocks_cover_every_row_of_every_restart_once(restarts, rows):
    seen = np.zeros((restarts, rows), dtype=int)
    for some, part in blocks(restarts, rows, 3):
        seen[some, part] += 1
        assert seen[some, part].size * 3 <= 2**16
    assert (seen == 1).all()


def test_rows_are_cut_alike_however_many_restarts_there_are():
    for rows in (272, 70_000):
        cuts = [{part.start for _, part in blocks(R, rows, 4)} for R in (1, 7, 500)]
        assert cuts[0] == cuts[1] == cuts[2]
