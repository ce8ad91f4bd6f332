"""The three ways to the best values; `test_hmm_recursions` compares them with their reference."""

import numpy as np
import pytest

from bythebook.models.chains import hmm_path_kernels
from bythebook.models.chains.hmm_path_kernels import LANES, MANY, ROWS
from bythebook.models.types import AnyArray, Floats

WAYS = ["_values_of_two", "_values_of_few", "_values_of_many"]


@pytest.mark.parametrize(
    "values",
    [[1.0], [1.0, 3.0, 3.0], [-np.inf, -np.inf], [2.0, np.nan, 5.0, np.nan], [-np.inf, -5.0]],
)
def test_the_best_state_is_that_of_numpy(values: list[float]) -> None:
    assert hmm_path_kernels._argmax(np.array(values)) == np.argmax(values)


def run(way: str, log_A: Floats, log_lik: Floats) -> tuple[Floats, AnyArray]:
    """The last omega of one kernel, from zeros, and all origins."""
    omega, origin = np.zeros(len(log_A)), np.zeros(log_lik.shape, dtype=np.uint8)
    at = np.arange(len(log_lik))
    getattr(hmm_path_kernels, way)(log_A, log_lik, at, origin, omega)
    return omega, origin


@pytest.mark.parametrize(
    "K", [2, 3, ROWS, ROWS + 1, LANES, MANY - 1, MANY, 2 * LANES, 2 * LANES + 1]
)
@pytest.mark.parametrize("ties", [False, True])
def test_every_way_gives_the_best_values_and_their_first_origin(K: int, ties: bool) -> None:
    """Against the formula; whole numbers tie, and steps that are impossible are never taken."""
    rng = np.random.default_rng([K, ties])
    log_A, log_lik = rng.normal(size=(K, K)), rng.normal(size=(30, K))
    if ties:
        log_A, log_lik = np.round(log_A), np.round(log_lik)
    log_A[rng.random((K, K)) < 0.3] = -np.inf
    log_A[:, -1] = -np.inf  # an unreachable state: its origin is the first
    omega, origin = np.zeros(K), np.zeros((30, K))
    for t in range(1, 30):
        arriving = omega[:, None] + log_A
        omega, origin[t] = log_lik[t] + arriving.max(0), arriving.argmax(0)
    for way in WAYS if K == 2 else WAYS[1:]:
        found = run(way, log_A, log_lik)
        np.testing.assert_array_equal(found[0], omega)
        np.testing.assert_array_equal(found[1], origin)
