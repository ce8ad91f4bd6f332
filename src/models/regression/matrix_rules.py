r"""The matrix algebra of least squares, evaluated at random vectors and matrices (FCML 1.3).

    w^T X^T X w = w_0^2 sum 1 + 2 w_0 w_1 sum x_n + w_1^2 sum x_n^2                FCML exercise 1.3
    (X w)^T = w^T X^T                                                              FCML exercise 1.4
    sum x_n t_n = X^T t,    (sum x_n x_n^T) w = X^T X w                            FCML exercise 1.5

    f(w)     w^T z    w^T w    w^T C w
    df/dw    z        2 w      2 C w                                               FCML Table 1.4

The last rule is right where C is symmetric; otherwise the gradient is (C + C^T) w.

    L = 1/N sum (t_n - w_0 - w_1 x_n)^2                                            FCML 1.3

Its other forms are compared with it, its derivatives with differences; both as they are printed.
Every function gives the two sides of each equation by its name.
"""

import numpy as np
from numpy.random import Generator

from bythebook.models.types import Floats

Sides = dict[str, tuple[Floats, Floats]]


def identities(X: Floats, t: Floats, trials: int, rng: Generator) -> Sides:
    """The sides of exercises 1.3 to 1.5 for a line's X (N, 2)."""
    W = rng.standard_normal((trials, 2))
    sums = np.array([X[:, 0] @ X[:, 0], 2 * X[:, 0] @ X[:, 1], X[:, 1] @ X[:, 1]])
    products = np.stack([W[:, 0] ** 2, W[:, 0] * W[:, 1], W[:, 1] ** 2], axis=-1)
    outer = sum((np.outer(x, x) for x in X), np.zeros((2, 2)))
    return {
        "quadratic form": (np.einsum("si,ij,sj->s", W, X.T @ X, W), products @ sums),
        "transpose": ((X @ W.T).T, W @ X.T),
        "inputs times targets": ((X * t[:, None]).sum(0), X.T @ t),
        "outer products": (outer @ W.T, X.T @ X @ W.T),
        "example of a product": _example(*rng.spawn(1)),
    }


def gradients(trials: int, rng: Generator) -> Sides:
    """Central differences and the rules of Table 1.4, (trials, 3), at random C, w and z."""
    C = rng.standard_normal((trials, 3, 3))
    w, z = rng.standard_normal((2, trials, 3))
    symmetric = C + np.swapaxes(C, -1, -2)
    h = 1e-5 * np.eye(3)[:, None]  # exact for a quadratic, up to rounding

    def form(w: Floats, A: Floats) -> Floats:
        return np.asarray(np.einsum("...si,sij,...sj->...s", w, A, w))

    up, down = w + h, w - h
    rules = {
        "linear": ((up * z).sum(-1), (down * z).sum(-1), z),
        "square": ((up**2).sum(-1), (down**2).sum(-1), 2 * w),
        "symmetric form": (form(up, symmetric), form(down, symmetric), 2 * np.matvec(symmetric, w)),
        "any form": (form(up, C), form(down, C), 2 * np.matvec(C, w)),
    }
    return {name: ((f - g).T / 2e-5, rule) for name, (f, g, rule) in rules.items()}


def losses(X: Floats, t: Floats, trials: int, rng: Generator) -> Sides:
    """The loss of a line, X (N, 2), and its other forms, (trials,), at random weights."""
    W, x, n = rng.standard_normal((trials, 2)), X[:, 1], len(t)
    w0, w1 = W.T[..., None]
    terms = w1**2 * x**2 + 2 * w1 * x * (w0 - t) + w0**2 - 2 * w0 * t + t**2
    fitted = W @ X.T
    quadratic = np.einsum("si,ij,sj->s", W, X.T @ X, W)
    loss = _loss(W, X, t)
    return {
        "in sums": (loss, terms.mean(-1)),  # FCML 1.5
        "product of the brackets": (loss, np.vecdot(fitted - t, fitted - t)),  # as in FCML 1.14
        "multiplied out": (loss, (quadratic - 2 * W @ (X.T @ t) + t @ t) / n),  # 1.14, last line
    }


def slopes(X: Floats, t: Floats, trials: int, rng: Generator) -> Sides:
    """Central differences of the loss and its derivatives, (trials,)."""
    W, x = rng.standard_normal((trials, 2)), X[:, 1]
    (w0, w1), step = W.T, np.eye(2)  # differences of a quadratic are exact at any step
    by_w0, by_w1 = ((_loss(W + h, X, t) - _loss(W - h, X, t)) / 2 for h in step)
    in_averages = 2 * w0 * x.mean() + 2 * w1 * (x**2).mean()
    return {
        "equation 1.6": (by_w1, 2 * w1 * (x**2).mean() + 2 * (x * (w0[:, None] - t)).mean(-1)),
        "equation 1.7": (by_w0, 2 * w0 + 2 * w1 * x.mean() - 2 * t.mean()),
        "in averages, w_1": (by_w1, in_averages - 2 * t.mean()),  # as FCML 1.3 prints it
        "with the average of x t": (by_w1, in_averages - 2 * (x * t).mean()),
    }


def curvatures(X: Floats, t: Floats, trials: int, rng: Generator) -> Sides:
    """Second differences of the loss in w_0 and w_1, (trials,), and the second derivatives."""
    W = rng.standard_normal((trials, 2))
    middle = 2 * _loss(W, X, t)
    w0, w1 = (_loss(W + h, X, t) - middle + _loss(W - h, X, t) for h in np.eye(2))
    return {"w_0": (w0, np.array(2.0)), "w_1": (w1, 2 * (X[:, 1] ** 2).mean())}  # FCML 1.9


def _loss(W: Floats, X: Floats, t: Floats) -> Floats:
    """The average squared loss at weights W (S, 2), shape (S,)."""
    return np.asarray(np.mean((t - W @ X.T) ** 2, axis=-1))  # FCML 1.3


def _example(rng: Generator) -> tuple[Floats, Floats]:
    """A product of matrices (2, 2) and (2, 3), and as the example of FCML comment 1.7 prints it."""
    A, B = rng.standard_normal((2, 2)), rng.standard_normal((2, 3))
    row = A[0, 0] * B[0] + A[0, 1] * B[1]
    return A @ B, np.stack([row, row])
