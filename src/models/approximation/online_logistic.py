r"""Logistic regression online by assumed density filtering (MLAPP 18.5.3.2).

    s = x^T theta ~ N(m, v),  m = sum_j x_j mu_j,  v = sum_j x_j^2 tau_j            18.119-18.121
    m' = E{s},  v' = var{s}  under p(y | s) N(s | m, v)                             18.122-18.125
    mu_j' = mu_j + a_j (m' - m),   tau_j' = tau_j + a_j^2 (v' - v)                  18.128, 18.129
    a_j = x_j tau_j / v                                                                    18.130

The text prints tau_j squared, with the outer index, in the sum below a_j. Beliefs have leading
axes.
"""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, ndtr

from bythebook.models.approximation.variational_logistic import Tilted, tilted
from bythebook.models.operation_counts import Tallied
from bythebook.models.types import Floats


class Belief(NamedTuple):
    """Independent Gaussians of the parameters."""

    mean: Floats  # (..., D)
    variance: Floats  # (..., D)


def gain(x: Floats, variance: Floats, *, printed: bool = False) -> Floats:
    """a_j of 18.130; as printed the index of the sum's variance is j, and it is squared."""
    if printed:
        return np.asarray(x * variance / ((x**2).sum(-1, keepdims=True) * variance**2))
    return np.asarray(x * variance / (x**2 * variance).sum(-1, keepdims=True))


def update(belief: Belief, x: Floats, y: Floats, *, printed: bool = False) -> Belief:
    """Take in a label y (...), 0 or 1, of the inputs x (..., D)."""
    m, v = (x * belief.mean).sum(-1), (x**2 * belief.variance).sum(-1)
    found = tilted(m, v, 2 * y - 1)
    a = gain(x, belief.variance, printed=printed)
    return _moved(belief, a, (found.mean - m)[..., None], (found.variance - v)[..., None])


def _moved(belief: Any, a: Any, shift: Any, narrower: Any) -> Belief:
    """18.128 and 18.129."""
    return Belief(belief.mean + a * shift, belief.variance + a * a * narrower)


def filtered(X: Floats, y: Floats, variance: float) -> Belief:
    """Points (..., N, D) in turn, from N(0, variance)."""
    D = X.shape[-1]
    shape = *X.shape[:-2], D
    belief = Belief(np.zeros(shape), np.full(shape, variance))
    for n in range(X.shape[-2]):
        belief = update(belief, X[..., n, :], y[..., n])
    return belief


def exact_moments(belief: Belief, x: Floats, y: float, points: int = 161) -> Belief:
    """Means and variances of the updated posterior of two parameters, over a lattice of both."""
    side = np.linspace(-8, 8, points)
    z = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    theta = belief.mean + z * np.sqrt(belief.variance)
    mass = np.exp(-(z**2).sum(-1) / 2) * expit((2 * y - 1) * (theta @ x))
    mass /= mass.sum()
    mean = mass @ theta
    return Belief(mean, mass @ (theta - mean) ** 2)


def unscented(m: float, v: float, sign: float) -> Tilted:
    """Moments of a sigmoid times N(m, v) from three sigma points, with kappa = 2."""
    s = m + np.sqrt(3 * v) * np.array([-1.0, 0.0, 1.0])
    weight = np.array([1, 4, 1]) / 6 * expit(sign * s)
    mean = weight @ s / weight.sum()
    return Tilted(np.log(weight.sum()), mean, weight @ (s - mean) ** 2 / weight.sum())


def probit(m: Floats, v: Floats, sign: Floats) -> Tilted:
    """Moments of Phi(sign a) N(a | m, v) in closed form."""
    root = np.sqrt(1 + v)
    z = sign * m / root
    Z = ndtr(z)
    ratio = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) / Z
    mean = m + sign * v * ratio / root
    return Tilted(np.log(Z), mean, v - v**2 * ratio * (z + ratio) / (1 + v))


def operations(D: int) -> int:
    """Operations on parameters in one update, counted as they are executed."""
    tally: Counter[str] = Counter()
    wrap = np.frompyfunc(lambda value: Tallied(float(value), tally), 1, 1)
    x, mu, tau = (np.asarray(wrap(np.ones(D)), dtype=object) for _ in range(3))
    squares = x * x * tau
    _, v = (x * mu).sum(), squares.sum()
    a = (x * tau) / v
    shift, narrower = wrap(np.ones(D)), wrap(np.ones(D))
    _moved(Belief(mu, tau), a, shift, narrower)
    return sum(tally.values())
