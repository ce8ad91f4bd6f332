r"""Polynomial least squares of all orders from one factorisation.

    t_n = sum_{k=0}^{K} w_k x_n^k + noise                                      FCML 1.4-1.5

The spaces of polynomials are nested, so one QR of the largest design matrix serves every order: the
first k + 1 columns of Q span the polynomials of order k, the fit of order k is the projection onto
them, and with the leverages h_n (the squared rows of Q, summed) the leave-one-out residual is

    t_n - f_{-n}(x_n) = (t_n - f(x_n)) / (1 - h_n)                             FCML eq. 1.19

without refitting. Legendre polynomials on the range of x keep the factorisation well conditioned
where powers of a year do not. Leading axes of x and t are a batch of data sets.

Where only the losses are needed, the columns of Q are computed one by one, each from x times the
previous one made orthogonal to all before (Arnoldi; for real x only the last two matter, up to
rounding):

    q_k  ~  x q_{k-1} - sum_{j < k} q_j (q_j . x q_{k-1})

Brubeck, Nakatsukasa and Trefethen, "Vandermonde with Arnoldi", SIAM Review 63 (2021).
"""

from typing import NamedTuple

import numpy as np
from numpy.polynomial import Legendre, Polynomial
from numpy.polynomial.legendre import legvander

from bythebook.models.compiled import compiled
from bythebook.models.regression.linear import maximum_log_likelihood
from bythebook.models.types import Floats, Ints

_FIXED = 1e-10  # a point with less slack than this, 1 - h_n, fixes its own fit


class OrderFits(NamedTuple):
    """The least-squares fits of order 0 to K of t (..., N) on x (..., N)."""

    low: Floats  # (...,) the range of x, mapped to [-1, 1]
    high: Floats
    Q: Floats  # (..., N, K + 1) orthonormal; the first k + 1 columns span the order-k polynomials
    R: Floats  # (..., K + 1, K + 1)
    c: Floats  # (..., K + 1) = Q^T t
    residuals: Floats  # (..., K + 1, N): t_n - f_k(x_n), order k in row k
    leverage: Floats  # (..., K + 1, N): diagonal of each order's hat matrix


def fit_orders(x: Floats, t: Floats, max_order: int) -> OrderFits:
    """Fit every order up to `max_order`; it takes at least `max_order + 1` points."""
    x, t = _data(x, t, max_order)
    low, high = x.min(axis=-1), x.max(axis=-1)
    Q, R = np.linalg.qr(legvander(_scaled(x, low, high), max_order))
    c = np.einsum("...nk,...n->...k", Q, t)
    fitted = np.cumsum(Q * c[..., None, :], axis=-1)
    residuals = np.swapaxes(t[..., None] - fitted, -1, -2)
    leverage = np.swapaxes(np.cumsum(Q**2, axis=-1), -1, -2)
    return OrderFits(low, high, Q, R, c, residuals, leverage)


def training_loss(fits: OrderFits) -> Floats:
    """Mean squared residual of every order, shape (..., K + 1)."""
    return np.asarray(np.mean(fits.residuals**2, axis=-1))  # FCML 1.3


def loo_loss(fits: OrderFits) -> Floats:
    """Mean squared leave-one-out residual of every order; infinite where a point fixes itself."""
    slack = 1 - fits.leverage
    free = slack > _FIXED
    left_out = np.where(free, fits.residuals / np.where(free, slack, 1.0), np.inf)
    return np.asarray(np.mean(left_out**2, axis=-1))  # FCML 1.19


def loo_by_order(x: Floats, t: Floats, max_order: int) -> Floats:
    """`loo_loss` of `fit_orders` in a small part of the time, shape (..., K + 1).

    The loop is compiled, for very many small data sets or a very large one. No fit is stored.
    """
    x, t = _data(x, t, max_order)
    loss = np.empty((*t.shape[:-1], max_order + 1))
    N = x.shape[-1]
    x, t = np.ascontiguousarray(x).reshape(-1, N), np.ascontiguousarray(t).reshape(-1, N)
    _loo_kernel(x, t, loss.reshape(-1, max_order + 1))
    return loss


@compiled
def _loo_kernel(x: Floats, t: Floats, loss: Floats) -> None:
    """`loo_loss` of `fit_orders`, a data set at a time: losses (S, K + 1) of S data sets (S, N)."""
    N = x.shape[1]
    Q = np.empty((loss.shape[1], N))
    centred, r, slack, left_out = np.empty(N), np.empty(N), np.empty(N), np.empty(N)
    for s in range(len(x)):
        middle = x[s].mean()
        for n in range(N):
            centred[n] = x[s, n] - middle
            r[n], slack[n] = t[s, n], 1.0
        for k in range(len(Q)):
            q = Q[k]
            for n in range(N):
                q[n] = centred[n] * Q[k - 1, n] if k else 1.0
            for j in range(max(k - 2, 0), k):  # the others are orthogonal already
                _subtract(q, _dot(Q[j], q), Q[j])
            for j in range(k):  # up to rounding, which this takes away
                _subtract(q, _dot(Q[j], q), Q[j])
            q /= np.sqrt(_dot(q, q))
            _subtract(r, _dot(q, r), q)
            for n in range(N):
                slack[n] -= q[n] * q[n]
                left_out[n] = r[n] / slack[n] if slack[n] > _FIXED else np.inf
            loss[s, k] = _dot(left_out, left_out) / N  # FCML 1.19


@compiled
def _dot(a: Floats, b: Floats) -> float:
    """The inner product in four sums: a single sum would wait for each addition."""
    s0 = s1 = s2 = s3 = 0.0
    whole = len(a) - len(a) % 4
    for n in range(0, whole, 4):
        s0 += a[n] * b[n]
        s1 += a[n + 1] * b[n + 1]
        s2 += a[n + 2] * b[n + 2]
        s3 += a[n + 3] * b[n + 3]
    for n in range(whole, len(a)):
        s0 += a[n] * b[n]
    return (s0 + s1) + (s2 + s3)


@compiled
def _subtract(a: Floats, factor: float, b: Floats) -> None:
    for n in range(len(a)):
        a[n] -= factor * b[n]


def kfold_loss(fits: OrderFits, folds: list[Ints]) -> Floats:
    """Mean squared error on held-out folds for every order, shape (..., K + 1), without refitting.

    The residuals of a fold F left out are (I - H_FF)^-1 r_F, the block form of the formula above.
    """
    total = np.zeros_like(fits.c)
    for order in range(fits.c.shape[-1]):
        for fold in folds:
            Q = fits.Q[..., fold, : order + 1]
            H = Q @ np.swapaxes(Q, -1, -2)
            r = fits.residuals[..., order, fold]
            left_out = np.linalg.solve(np.eye(len(fold)) - H, r[..., None])[..., 0]
            total[..., order] += np.sum(left_out**2, axis=-1)
    return total / sum(len(fold) for fold in folds)


def predict_orders(fits: OrderFits, x: Floats) -> Floats:
    """Predictions of every order at new points (..., M), shape (..., K + 1, M)."""
    max_order = fits.c.shape[-1] - 1
    V = legvander(_scaled(np.asarray(x, dtype=np.float64), fits.low, fits.high), max_order)
    Z = np.linalg.solve(np.swapaxes(fits.R, -1, -2), np.swapaxes(V, -1, -2))  # V R^-1, transposed
    return np.cumsum(Z * fits.c[..., None], axis=-2)


def loss_at(fits: OrderFits, x: Floats, t: Floats) -> Floats:
    """Mean squared error of every order at other points (..., M), shape (..., K + 1)."""
    return np.asarray(np.mean((t[..., None, :] - predict_orders(fits, x)) ** 2, axis=-1))


def noise_gain(x: Floats, max_order: int, at: Floats, weight: Floats) -> Floats:
    """Effect of noise of standard deviation 1 at inputs x (N,) on each order's fit, (K + 1,).

    It is the root mean square change, weighted over places. Fits are linear in t, so it follows
    from unit changes of single targets.
    """
    unit = predict_orders(fit_orders(x, np.eye(len(x)), max_order), at)
    return np.asarray(np.sqrt((unit**2).sum(axis=0) @ weight))


def monomial_weights(fits: OrderFits, order: int) -> Floats:
    """The weights w_0..w_k of 1, x, ..., x^k for the fit of one order (a single data set)."""
    k = order + 1
    legendre = np.linalg.solve(fits.R[:k, :k], fits.c[:k])
    fitted = Legendre(legendre, domain=[float(fits.low), float(fits.high)])
    weights = fitted.convert(domain=[-1, 1], window=[-1, 1], kind=Polynomial).coef
    return np.pad(weights, (0, k - len(weights)))


def log_likelihood(fits: OrderFits) -> Floats:
    """Gaussian log likelihood of every order at its maximum, noise variance included."""
    return maximum_log_likelihood(training_loss(fits), fits.residuals.shape[-1])


def random_folds(n: int, k: int, rng: np.random.Generator) -> list[Ints]:
    """A random partition of n points into k folds whose sizes differ by at most one."""
    return [np.sort(fold) for fold in np.array_split(rng.permutation(n), k)]


def _data(x: Floats, t: Floats, max_order: int) -> tuple[Floats, Floats]:
    """The data in one shape, if there are enough."""
    x, t = np.asarray(x, dtype=np.float64), np.asarray(t, dtype=np.float64)
    if x.shape[-1] <= max_order:
        raise ValueError(f"order {max_order} needs {max_order + 1} points, not {x.shape[-1]}")
    if x.shape != t.shape:
        x, t = np.broadcast_arrays(x, t)
    return x, t


def _scaled(x: Floats, low: Floats, high: Floats) -> Floats:
    low, high = low[..., None], high[..., None]
    return (2 * x - low - high) / (high - low)
