r"""A Gaussian approximation of a network's posterior, and the evidence for its precisions.

    E(w) = beta E_D(w) + 1/2 sum_g alpha_g |w_g|^2                              MLAPP 16.83, 16.100
    p(w | D) ~ N(w_MP, A^-1),  A = beta H + diag(alpha),  H = Hessian of E_D        16.87, 16.88
    sigma^2(x) = 1 / beta + g^T A^-1 g,  g = df / dw                                 16.95

alpha_g and beta are re-estimated where gamma_g = W_g - alpha_g tr_g(A^-1) parameters are well
determined by the data: alpha_g = gamma_g / |w_g|^2, beta = (N - gamma) / 2 E_D (13.7.4.2). Networks
have one hidden layer and one output; R of them, each with its own data, are one batch.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.networks.neural_network import (
    Sizes,
    error_and_gradient,
    fit_networks,
    layers,
    n_parameters,
    output_jacobian,
)
from bythebook.models.types import Floats, Ints


class Posterior(NamedTuple):
    """R networks at their modes."""

    theta: Floats  # (R, P)
    alpha: Floats  # (R, G) of each group
    beta: Floats  # (R,)
    H: Floats  # (R, P, P) of E_D, without its negative part
    gamma: Floats  # (R, G) well-determined parameters of each group
    moved: Floats  # (R,) largest relative change of a precision in the last cycle


def groups(sizes: Sizes, kind: str) -> tuple[list[str], Ints]:
    """Names of groups, and the group (P,) of every parameter.

    "one": all parameters; "inputs": the weights from each input, and those of each other kind.
    """
    which = np.zeros(n_parameters(sizes), dtype=np.int64)
    if kind == "one":
        return ["all"], which
    D = sizes[0]
    first, second = layers(which.astype(float), sizes)
    first.W[...] = np.arange(D)
    first.b[...], second.W[...], second.b[...] = D, D + 1, D + 2
    flat = np.concatenate([first.W.ravel(), first.b, second.W.ravel(), second.b])
    return [f"x{i + 1}" for i in range(D)] + ["b", "w", "c"], flat.astype(np.int64)


def data_hessian(theta: Floats, sizes: Sizes, x: Floats, t: Floats, step: float = 1e-4) -> Floats:
    """H (R, P, P) of E_D by central differences of its gradient; x (R, N, D), t (R, N)."""
    P = theta.shape[1]
    moves = step * np.eye(P)
    data = x[:, None], t[:, None, :, None]
    up, down = (
        error_and_gradient(theta[:, None] + sign * moves, sizes, *data)[1] for sign in (1, -1)
    )
    H = (up - down) / (2 * step)
    return np.asarray((H + np.swapaxes(H, -1, -2)) / 2)


def positive_part(H: Floats) -> Floats:
    """H without its negative eigenvalues."""
    values, vectors = np.linalg.eigh(H)
    kept = np.maximum(values, 0.0)[..., None, :]
    return np.asarray((vectors * kept) @ np.swapaxes(vectors, -1, -2))


def squares(theta: Floats, which: Ints, G: int) -> Floats:
    """|w_g|^2, (R, G)."""
    return np.stack([(theta[:, which == g] ** 2).sum(1) for g in range(G)], axis=1)


def data_error(theta: Floats, sizes: Sizes, x: Floats, t: Floats) -> Floats:
    """E_D (R,) (16.84)."""
    return error_and_gradient(theta, sizes, x, t[..., None])[0]


def weighted_error(found: Posterior, sizes: Sizes, x: Floats, t: Floats, which: Ints) -> Floats:
    """E (R,) at the modes (16.83, 16.100)."""
    penalty = 0.5 * (found.alpha[:, which] * found.theta**2).sum(1)
    return np.asarray(found.beta * data_error(found.theta, sizes, x, t) + penalty)


def well_determined(H: Floats, alpha: Floats, beta: Floats, which: Ints) -> Floats:
    """gamma_g (R, G) for given precisions."""
    A = beta[:, None, None] * H + _diagonal(alpha[:, which])
    spread = np.diagonal(_inverse(A), axis1=1, axis2=2)
    G = alpha.shape[1]
    traces = np.stack([spread[:, which == g].sum(1) for g in range(G)], axis=1)
    return np.asarray(np.bincount(which, minlength=G) - alpha * traces)


def fit_posterior(
    start: Floats,
    sizes: Sizes,
    x: Floats,
    t: Floats,
    which: Ints,
    *,
    alpha: float,
    beta: float,
    cycles: int,
    updates: int = 1,
) -> Posterior:
    """Modes and precisions alternately: a fit, then some updates of the precisions."""
    R, G, N = len(start), int(which.max()) + 1, t.shape[1]
    theta = start
    a, b = np.full((R, G), alpha), np.full(R, beta)
    moved = np.zeros(R)
    for cycle in range(cycles + 1):
        theta = fit_networks(theta, sizes, x, t, decay=a[:, which] / b[:, None], max_iter=300).theta
        H = positive_part(data_hessian(theta, sizes, x, t))
        if cycle == cycles:
            break
        before_a, before_b = a, b
        w2, E_D = squares(theta, which, G), data_error(theta, sizes, x, t)
        for _ in range(updates):
            gamma = well_determined(H, a, b, which)
            a = np.clip(gamma / w2, 1e-8, 1e8)
            b = np.clip((N - gamma.sum(1)) / (2 * E_D), 1e-6, 1e8)
        change = np.concatenate([np.log(a / before_a), np.log(b / before_b)[:, None]], axis=1)
        moved = np.abs(change).max(1)
    return Posterior(theta, a, b, H, well_determined(H, a, b, which), moved)


def covariance(found: Posterior, which: Ints) -> Floats:
    """A^-1 (R, P, P) (16.88)."""
    A = found.beta[:, None, None] * found.H + _diagonal(found.alpha[:, which])
    return _inverse(A)


def predictive(
    found: Posterior, which: Ints, sizes: Sizes, grid: Floats, *, diagonal: bool = False
) -> tuple[Floats, Floats]:
    """Means f(x, w_MP) and variances (16.95), (R, len(grid)); or with the diagonal of A alone."""
    f, g = output_jacobian(found.theta, sizes, grid)
    A = found.beta[:, None, None] * found.H + _diagonal(found.alpha[:, which])
    if diagonal:
        spread = (g**2 / np.diagonal(A, axis1=1, axis2=2)[:, None]).sum(-1)
    else:
        spread = (g * np.linalg.solve(A, g.mT).mT).sum(-1)
    return f, 1 / found.beta[:, None] + spread


def _inverse(A: Floats) -> Floats:
    return np.asarray(np.linalg.solve(A, np.broadcast_to(np.eye(A.shape[-1]), A.shape)))


def _diagonal(entries: Floats) -> Floats:
    return np.asarray(entries[..., None] * np.eye(entries.shape[-1]))
