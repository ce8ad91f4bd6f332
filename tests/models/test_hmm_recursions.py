"""Each compiled loop against its reference; the unscaled sums against joint probabilities."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from models import hmm
from models.hmm_recursions import (
    backward_reference,
    backward_unscaled,
    forward_reference,
    forward_unscaled,
    viterbi_reference,
)


@pytest.mark.parametrize("K", [2, 5])
def test_compiled_loops_equal_their_references(K: int) -> None:
    rng = np.random.default_rng(5)
    A = rng.dirichlet(np.full(K, 0.5), (7, 1, K))  # seven models, three sequences
    pi = rng.dirichlet(np.ones(K), (7, 1))
    log_lik = rng.normal(scale=3.0, size=(7, 3, 200, K))
    forward = hmm.forward_filter(pi, A, log_lik)
    filtered, log_scale = forward_reference(pi, A, log_lik)
    np.testing.assert_allclose(forward.filtered, filtered, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(forward.log_scale, log_scale, rtol=0, atol=1e-13)
    for lag in (0, 1, 7, 200):
        beta = backward_reference(A, log_lik, forward.log_scale, lag)
        expected = forward.filtered * beta
        lagged = hmm.fixed_lag_smoother(A, log_lik, forward, lag)
        np.testing.assert_allclose(lagged, expected, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(hmm.smoother(pi, A, log_lik).backward, beta, rtol=1e-11)
    best = hmm.viterbi(pi, A, log_lik)
    states, log_joint = viterbi_reference(pi, A, log_lik)
    np.testing.assert_array_equal(best.states, states)
    np.testing.assert_array_equal(best.log_joint, log_joint)


@pytest.mark.parametrize("dtype", [float, object])
def test_unscaled_messages_are_joint_probabilities(dtype: type) -> None:
    K, T = 2, 4
    rng = np.random.default_rng(6)
    pi, A, lik = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K), rng.random((T, K))
    alpha, beta = np.zeros((T, K)), np.zeros((T, K))
    for t in range(T):
        for z in itertools.product(range(K), repeat=t + 1):
            joint = pi[z[0]] * np.prod([A[i, j] for i, j in itertools.pairwise(z)])
            alpha[t, z[-1]] += joint * np.prod([lik[s, k] for s, k in enumerate(z)])
        for z in itertools.product(range(K), repeat=T - t):
            chain = np.prod([A[i, j] for i, j in itertools.pairwise(z)])
            beta[t, z[0]] += chain * np.prod([lik[t + s, k] for s, k in enumerate(z) if s > 0])
    pi, A, lik = (array.astype(dtype) for array in (pi, A, lik))
    np.testing.assert_allclose(forward_unscaled(pi, A, lik).astype(float), alpha, rtol=1e-12)
    np.testing.assert_allclose(backward_unscaled(A, lik).astype(float), beta, rtol=1e-12)


def test_unscaled_messages_broadcast_over_leading_axes() -> None:
    rng = np.random.default_rng(7)
    pi, A = rng.dirichlet(np.ones(3), (4, 1)), rng.dirichlet(np.ones(3), (4, 1, 3))
    lik = rng.random((4, 2, 5, 3))
    alpha, beta = forward_unscaled(pi, A, lik), backward_unscaled(A, lik)
    for i, j in np.ndindex(4, 2):
        np.testing.assert_allclose(alpha[i, j], forward_unscaled(pi[i, 0], A[i, 0], lik[i, j]))
        np.testing.assert_allclose(beta[i, j], backward_unscaled(A[i, 0], lik[i, j]))


def test_importing_the_module_does_not_import_numba() -> None:
    code = "import sys, models.hmm; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
