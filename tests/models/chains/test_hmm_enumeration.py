"""The enumeration against a loop that writes each product out."""

import itertools

import numpy as np
import pytest

from bythebook.models.chains.hmm_enumeration import (
    all_paths,
    categorical_step,
    enumerate_paths,
    filtered_marginals,
    pair_marginals,
    path_index,
    state_marginals,
)
from bythebook.models.chains.hmm_examples import lilypad, three_regions, walk

K, T = 3, 4


@pytest.fixture(scope="module")
def chain() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(K), 2), rng.dirichlet(np.ones(K), (2, K)), rng.random((2, T, K))


def test_every_path_is_there_once_and_knows_its_place() -> None:
    paths = all_paths(K, T)
    assert [tuple(p) for p in paths] == list(itertools.product(range(K), repeat=T))
    np.testing.assert_array_equal(path_index(paths, K), np.arange(K**T))


def test_sums_over_written_out_products(chain: tuple[np.ndarray, ...]) -> None:
    pi, A, lik = chain
    paths = enumerate_paths(pi, A, lik)
    smoothed, pairs = state_marginals(paths, K), pair_marginals(paths, K)
    for b in range(2):
        weight = {}
        for z in itertools.product(range(K), repeat=T):
            weight[z] = pi[b, z[0]] * np.prod([lik[b, t, z[t]] for t in range(T)])
            weight[z] *= np.prod([A[b, i, j] for i, j in itertools.pairwise(z)])
        np.testing.assert_allclose(paths.joint[b], list(weight.values()), rtol=1e-13)
        total = sum(weight.values())
        np.testing.assert_allclose(paths.evidence[b], total, rtol=1e-13)
        for t, k in itertools.product(range(T), range(K)):
            at = sum(w for z, w in weight.items() if z[t] == k)
            np.testing.assert_allclose(smoothed[b, t, k], at / total, rtol=1e-12)
        pair = sum(w for z, w in weight.items() if (z[1], z[2]) == (2, 0))
        np.testing.assert_allclose(pairs[b, 1, 2, 0], pair / total, rtol=1e-12)


def test_filtering_is_smoothing_of_the_data_so_far(chain: tuple[np.ndarray, ...]) -> None:
    pi, A, lik = chain
    filtered = filtered_marginals(pi, A, lik)
    np.testing.assert_allclose(filtered.sum(axis=-1), 1.0, rtol=1e-13)
    first = pi * lik[:, 0]
    np.testing.assert_allclose(filtered[:, 0], first / first.sum(axis=1, keepdims=True), rtol=1e-13)
    whole = state_marginals(enumerate_paths(pi, A, lik), K)
    np.testing.assert_allclose(filtered[:, -1], whole[:, -1], rtol=1e-12)
    assert (np.abs(filtered[:, 0] - whole[:, 0]) > 1e-3).any()


@pytest.mark.parametrize("build", [lilypad, three_regions])
def test_examples_are_models_and_their_walks_stay(build: type) -> None:
    model = build()
    for rows in (model.pi, model.A):
        np.testing.assert_allclose(rows.sum(axis=-1), 1.0, rtol=1e-15)
    states, points = walk(model, 20, 500, np.random.default_rng(1))
    stay = np.mean(states[:, 1:] == states[:, :-1])
    assert abs(stay - model.A[0, 0]) < 4.5 * np.sqrt(0.1 * 0.9 / states.size) * 2
    for k in range(3):
        here = points[states == k]
        error = np.abs(here.mean(axis=0) - model.mu[k]) / np.sqrt(
            np.diag(model.Sigma[k]) / len(here)
        )
        assert (error < 4.5).all()


def test_a_step_of_em_by_counting_paths() -> None:
    rng = np.random.default_rng(2)
    pi, A, B = (rng.dirichlet(np.ones(n), lead) for n, lead in ((2, ()), (2, 2), (3, 2)))
    x = np.array([0, 2, 1, 2])
    first, moves, shows = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 3))
    for z in itertools.product(range(2), repeat=4):
        weight = pi[z[0]] * np.prod([A[i, j] for i, j in itertools.pairwise(z)])
        weight *= np.prod(B[list(z), x])
        first[z[0]] += weight
        for i, j in itertools.pairwise(z):
            moves[i, j] += weight
        for state, symbol in zip(z, x, strict=True):
            shows[state, symbol] += weight
    found = categorical_step(pi, A, B, x)
    for mine, counts in zip(found, (first, moves, shows), strict=True):
        np.testing.assert_allclose(mine, counts / counts.sum(axis=-1, keepdims=True), rtol=1e-12)
