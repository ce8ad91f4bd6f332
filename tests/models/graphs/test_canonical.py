"""Gaussian factors against one joint Gaussian, written out."""

import numpy as np
from numpy.testing import assert_allclose

from bythebook.models.graphs.canonical import (
    Canonical,
    beliefs,
    keep,
    likelihood,
    linear,
    normal,
    product,
)

RNG = np.random.default_rng(1)


def positive(M: int) -> np.ndarray:
    root = RNG.standard_normal((M, M))
    return root @ root.T + np.eye(M)


def test_what_is_integrated_out_leaves_the_others_marginal() -> None:
    V, mean = positive(5), RNG.standard_normal(5)
    J = np.linalg.inv(V)
    whole = Canonical(("a", "b", "c"), (2, 1, 2), J, J @ mean)
    found = keep(whole, ["c", "a"])
    at = [3, 4, 0, 1]
    assert_allclose(np.linalg.inv(found.J), V[np.ix_(at, at)])
    assert_allclose(np.linalg.solve(found.J, found.h), mean[at])
    assert found.sizes == (2, 2)


def test_factors_are_the_densities_they_are_named_after() -> None:
    """Log ratios of factors at two points are those of the normal densities."""
    A, Q, C, R = RNG.standard_normal((2, 2)), positive(2), RNG.standard_normal((1, 2)), positive(1)
    z, y, u, x = (RNG.standard_normal(n) for n in (2, 2, 2, 1))

    def log(f: Canonical, v: np.ndarray) -> float:
        return float(-v @ f.J @ v / 2 + f.h @ v)

    def square(off: np.ndarray, V: np.ndarray) -> float:
        return float(-off @ np.linalg.solve(V, off) / 2)

    move = linear("y", "z", A, Q)
    assert_allclose(
        log(move, np.r_[y, z]) - log(move, np.r_[u, z]),
        square(y - A @ z, Q) - square(u - A @ z, Q),
    )
    seen = likelihood("z", x, C, R)
    assert_allclose(log(seen, z) - log(seen, u), square(x - C @ z, R) - square(x - C @ u, R))
    start = normal("z", y, Q)
    assert_allclose(log(start, z) - log(start, u), square(z - y, Q) - square(u - y, Q))


def test_messages_on_a_star_give_the_joints_marginals() -> None:
    Q = [positive(2) for _ in range(3)]
    A = [RNG.standard_normal((2, 2)) for _ in range(3)]
    factors = [normal("z", np.ones(2), Q[0])]
    factors += [linear(n, "z", a, q) for n, a, q in zip("abc", A, Q, strict=True)]
    factors.append(likelihood("c", np.array([0.5]), np.array([[1.0, -1.0]]), np.eye(1)))
    whole = product(factors)
    V = np.linalg.inv(whole.J)
    for name, (mean, covariance) in beliefs(factors).items():
        at = whole.places([name])
        assert_allclose(covariance, V[np.ix_(at, at)])
        assert_allclose(mean, (V @ whole.h)[at])
