r"""The matrix algebra behind least squares, tried at random vectors and matrices (FCML 1.3).

    w^T X^T X w = w_0^2 sum 1 + 2 w_0 w_1 sum x_n + w_1^2 sum x_n^2                FCML exercise 1.3
    (X w)^T = w^T X^T                                                              FCML exercise 1.4
    sum x_n t_n = X^T t,    (sum x_n x_n^T) w = X^T X w                            FCML exercise 1.5

    f(w)     w^T z    w^T w    w^T C w
    df/dw    z        2 w      2 C w                                               FCML Table 1.4

The last rule is right where C is symmetric; otherwise the gradient is (C + C^T) w.
"""

import numpy as np
from numpy.random import Generator

from models.types import Floats


def identities(X: Floats, t: Floats, trials: int, rng: Generator) -> dict[str, float]:
    """How far the sides of exercises 1.3 to 1.5 are apart, relatively, for a line's X (N, 2)."""
    W = rng.standard_normal((trials, 2))
    sums = np.array([X[:, 0] @ X[:, 0], 2 * X[:, 0] @ X[:, 1], X[:, 1] @ X[:, 1]])
    products = np.stack([W[:, 0] ** 2, W[:, 0] * W[:, 1], W[:, 1] ** 2], axis=-1)
    outer = sum((np.outer(x, x) for x in X), np.zeros((2, 2)))
    sides = {
        "quadratic form": (np.einsum("si,ij,sj->s", W, X.T @ X, W), products @ sums),
        "transpose": ((X @ W.T).T, W @ X.T),
        "inputs times targets": ((X * t[:, None]).sum(0), X.T @ t),
        "outer products": (outer @ W.T, X.T @ X @ W.T),
    }
    return {name: float(np.abs(a - b).max() / np.abs(a).max()) for name, (a, b) in sides.items()}


def gradients(trials: int, rng: Generator) -> dict[str, float]:
    """How far the rules of Table 1.4 are from central differences, at random C, w and z."""
    C = rng.standard_normal((trials, 3, 3))
    w, z = rng.standard_normal((2, trials, 3))
    symmetric = C + np.swapaxes(C, -1, -2)
    h = 1e-5 * np.eye(3)[:, None]  # exact for a quadratic, but for rounding

    def form(w: Floats, A: Floats) -> Floats:
        return np.asarray(np.einsum("...si,sij,...sj->...s", w, A, w))

    up, down = w + h, w - h
    rules = {
        "linear": ((up * z).sum(-1), (down * z).sum(-1), z),
        "square": ((up**2).sum(-1), (down**2).sum(-1), 2 * w),
        "symmetric form": (form(up, symmetric), form(down, symmetric), 2 * np.matvec(symmetric, w)),
        "any form": (form(up, C), form(down, C), 2 * np.matvec(C, w)),
    }
    return {k: float(np.abs((f - g).T / 2e-5 - rule).max()) for k, (f, g, rule) in rules.items()}
