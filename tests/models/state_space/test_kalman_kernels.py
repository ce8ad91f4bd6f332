"""Each kernel names its NumPy reference; `test_kalman` compares it with the compiled recursion."""

import inspect
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bythebook.models.compiled import compiled
from bythebook.models.state_space import kalman, kalman_kernels
from bythebook.models.types import Floats

KERNELS = {name: k for name, k in vars(kalman_kernels).items() if type(k) is compiled}
RECURSIONS = [name for name in KERNELS if not name.startswith("_")]


@pytest.mark.parametrize("name", RECURSIONS)
def test_every_kernel_names_its_reference(name: str) -> None:
    named = re.findall(r"`kalman\.(\w+)`", KERNELS[name].__doc__ or "")
    assert any(inspect.isfunction(vars(kalman).get(other)) for other in named)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_small_matrices_are_those_of_numpy(n: int) -> None:
    """Every docstring states its kernel in NumPy; this evaluates it."""
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n))
    S, plus = root @ root.T + np.eye(n), rng.normal(size=(3, 3))
    A, B = rng.normal(size=(3, n)), rng.normal(size=(n, 3))
    product, lower, BS, sandwiched = np.empty((3, 3)), np.zeros((n, n)), np.empty((3, n)), plus * 0
    solved, spoilt, copied = B.copy(), S.copy(), np.empty((n, 3))
    kalman_kernels._multiply(A, B, product)
    kalman_kernels._sandwich(A, S, plus, BS, sandwiched)
    kalman_kernels._cholesky(S, lower)
    kalman_kernels._solve(spoilt, solved)
    kalman_kernels._copy(B, copied)
    found: dict[str, tuple[Floats | float, Floats | float]] = {
        "_dot": (kalman_kernels._dot(A[0], S[0]), A[0] @ S[0]),
        "_copy": (copied, B),
        "_multiply": (product, A @ B),
        "_sandwich": (sandwiched, A @ S @ A.T + plus),
        "_cholesky": (lower, np.linalg.cholesky(S)),
        "_solve": (solved, np.linalg.solve(S, B)),
        "_same": (kalman_kernels._same(S, S.copy()), True),
    }
    assert found.keys() == KERNELS.keys() - set(RECURSIONS)
    for mine, numpys in found.values():
        assert_allclose(mine, numpys, rtol=1e-10, atol=1e-12)
    assert_allclose(BS, A @ S, rtol=1e-12, atol=1e-12)
    assert not kalman_kernels._same(S, np.nextafter(S, np.inf))


def test_what_is_read_is_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of the kernels gives what numba made of it, also where covariances rest."""
    A = np.array([[0.5, 0.1], [0.0, 0.4]])
    theta = kalman.LDS(A, np.eye(2), np.eye(2), np.eye(2), np.ones(2), 3 * np.eye(2))
    x = np.random.default_rng(0).normal(size=(2, 40, 2))

    def both_passes() -> list[Floats]:
        passed = kalman.kalman_filter(theta, x)
        smoothed = kalman.rts_smoother(theta, passed)
        return [*passed.predicted, *passed.filtered, passed.log_c, *smoothed.state, smoothed[1]]

    expected = both_passes()
    assert_array_equal(expected[1][-1], expected[1][-2])
    for module in (kalman_kernels, kalman):
        for name in KERNELS.keys() & vars(module).keys():
            monkeypatch.setattr(module, name, KERNELS[name].plain)
    for mine, compiled_one in zip(both_passes(), expected, strict=True):
        assert_allclose(mine, compiled_one, rtol=1e-12)


def test_singular_matrices_are_refused_as_numpy_refuses_them() -> None:
    """The remainder of the second row is exactly zero."""
    ones = np.ones((2, 2))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        kalman_kernels._cholesky(ones, np.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        kalman_kernels._solve(ones, np.eye(2))
