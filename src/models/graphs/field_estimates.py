r"""Estimates of the parameters of fields from fully observed data (MLAPP 19.5.4, 19.5.5).

    l_PL(theta) = sum_i sum_s ln p(y_is | y_i,-s) / N                                  MLAPP 19.49

For spins -1 and 1, p(y_s | rest) = sigma(2 y_s (b_s + sum_t w_st y_t)), so the pseudo-likelihood is
that of a logistic regression whose rows are the spins of all cases. For a Gaussian of mean zero,
covariance S of the data and precision L it is sum_s (ln L_ss - (L S L)_ss / L_ss) / 2.
"""

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from bythebook.models.convergence import warn_not_converged
from bythebook.models.graphs.boltzmann import features, weight_matrix
from bythebook.models.types import Floats, Ints

TOLERANCE = 1e-9  # of the last Newton step


def conditional_rows(y: Floats, links: Ints) -> Floats:
    """Rows (case, spin, parameter) whose product with theta is y_s (b_s + sum_t w_st y_t)."""
    phi, N = features(y, links), y.shape[1]
    touches = np.zeros((N, phi.shape[1]))
    touches[links[:, 0], np.arange(len(links))] = 1
    touches[links[:, 1], np.arange(len(links))] = 1
    touches[np.arange(N), len(links) + np.arange(N)] = 1
    return np.asarray(phi[:, None, :] * touches)


def separate_rows(y: Floats, links: Ints) -> Floats:
    """The same with a parameter for each end of a link: first ends, second ends, biases."""
    rows, E = conditional_rows(y, links), len(links)
    first, second = rows[..., :E].copy(), rows[..., :E].copy()
    for e, (s, t) in enumerate(links):
        first[:, t, e] = 0
        second[:, s, e] = 0
    return np.concatenate([first, second, rows[..., E:]], axis=-1)


def logistic(rows: Floats, weight: Floats, ridge: float = 0.0, steps: int = 30) -> Floats:
    """Theta of largest sum w ln sigma(2 rows theta), by damped Newton steps; weights (row,)."""
    X = 2 * rows
    theta = np.zeros(X.shape[-1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(X @ theta))  # of the other value
        H = (X.T * (weight * p * (1 - p))) @ X + ridge * np.eye(len(theta))
        try:
            move = np.linalg.solve(H, (weight * p) @ X - ridge * theta)
        except np.linalg.LinAlgError:  # no finite optimum: all probabilities are 0 or 1
            warn_not_converged("Newton's method", iterations=steps, tol=TOLERANCE)
            break
        size = np.abs(move).max()
        theta = theta + move / max(size, 1.0)
        if size < TOLERANCE:  # the step after this one would be less than rounding
            break
    else:
        warn_not_converged("Newton's method", iterations=steps, tol=TOLERANCE)
    return theta


def pseudo_likelihood(share: Floats, y: Floats, links: Ints) -> Floats:
    """Pseudo-likelihood estimates for data sets given as the share (set, state) of each state y."""
    return _each(share, conditional_rows(y, links))


def separately(share: Floats, y: Floats, links: Ints) -> Floats:
    """Each conditional fitted separately: two estimates per link."""
    return _each(share, separate_rows(y, links))


def _each(share: Floats, rows: Floats) -> Floats:
    """A fit for each data set, from the states that occur in it."""
    found = []
    for own in share:
        seen = own > 0
        weight = np.repeat(own[seen], rows.shape[1])
        found.append(logistic(rows[seen].reshape(len(weight), -1), weight))
    return np.array(found)


def gaussian_pseudo_likelihood(S: Floats, links: Ints) -> Floats:
    """The precision, zero where there is no link, by a quasi-Newton search."""
    N = len(S)
    i, j = np.concatenate([links.T, [np.arange(N)] * 2], axis=1)

    def loss(free: Floats) -> tuple[float, Floats]:
        L = np.zeros((N, N))
        L[i, j] = L[j, i] = free
        own = L.diagonal()
        if own.min() <= 0:
            return np.inf, np.zeros_like(free)
        SL = S @ L
        fit = (L * SL.T).sum(1)  # (L S L)_ss
        G = -SL.T / own[:, None]
        G = G + G.T
        G[np.arange(N), np.arange(N)] = 0.5 / own + 0.5 * fit / own**2 - SL.diagonal() / own
        return -0.5 * float((np.log(own) - fit / own).sum()), -G[i, j]

    free = np.where(i == j, 1 / S[i, j], 0.0)
    for _ in range(3):  # with a new Hessian, because a line search may stop early
        free = minimize(loss, free, jac=True, method="BFGS", options={"gtol": 1e-10}).x
    L = np.zeros((N, N))
    L[i, j] = L[j, i] = free
    return L


def evidence_pair(x: Floats, y: Floats, ridge: float, *, pseudo: bool) -> Floats:
    """Two spins that are always equal, each with evidence x_s: the weights (w, v) of both.

    p(y_1, y_2 | x) ~ exp(w y_1 y_2 + v (x_1 y_1 + x_2 y_2)), with a Gaussian prior of precision
    `ridge` per case on both weights, because w has no finite optimum.
    """
    if pseudo:
        rows = np.stack([np.ones_like(x), y[:, None] * x], -1).reshape(-1, 2)
        return logistic(rows, np.full(x.size, 1 / len(x)), ridge)
    both = np.array([[1.0, 1.0], [1, -1], [-1, 1], [-1, -1]])

    def loss(theta: Floats) -> float:
        score = theta[0] * both.prod(1) + theta[1] * (x @ both.T)
        seen = theta[0] + theta[1] * y * x.sum(1)
        top = score.max(1)
        log_z = top + np.log(np.exp(score - top[:, None]).sum(1))
        return float(-(seen - log_z).mean() + ridge * (theta @ theta) / 2)

    return np.asarray(minimize(loss, np.zeros(2), method="BFGS").x)


def gibbs_sweep(y: Floats, theta: Floats, links: Ints, rng: Generator) -> None:
    """Redraw all spins, one by one, in place; y (..., sample, spin), theta (..., parameter)."""
    N = y.shape[-1]
    W, b = -2 * weight_matrix(theta, links, N), -2 * theta[..., len(links) :]
    u = 1 / rng.random((N, *y.shape[:-1])) - 1  # up if 1 + exp(-2 field) < 1 / u
    with np.errstate(over="ignore"):
        for s in range(N):
            down = np.exp((y @ W[..., s, :, None])[..., 0] + b[..., s, None])
            y[..., s] = np.where(down < u[s], 1.0, -1.0)


def swept(p: Floats, q: Floats) -> Floats:
    """The distribution after a sweep of Gibbs sampling from q, if it was p before; (2, ..., 2)."""
    for s in range(q.ndim):
        p = p.sum(s, keepdims=True) * (q / q.sum(s, keepdims=True))
    return p
