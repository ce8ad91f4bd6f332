r"""A multilayer perceptron for regression: tanh hidden units, linear outputs, any depth.

    z_0 = x,   z_l = tanh(W_l z_{l-1} + b_l)  for the hidden layers,   y = W_L z_{L-1} + b_L

    J(theta) = 1/2 sum_n |y(x_n) - t_n|^2 + 1/2 sum_i decay_i theta_i^2 + sum_i l1_i |theta_i|

MLAPP 16.5 (back-propagation 16.65-16.76, weight decay 16.77-16.78, consistent priors 16.79, pruning
16.5.6.2), notes 2.4 (2.121). J is the negative log posterior of Gaussian noise of unit variance, so
`decay` holds the prior's precisions; for a noise variance s^2 multiply the penalties by s^2.

theta is one flat vector, so that a penalty is a vector of the same length: a coefficient for each
layer's weights and biases, laid out by `per_layer` (biases at 0 are not penalised), and the same
for the l1 coefficients. Leading axes are restarts, or settings of the penalties, or both.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import optimize

from bythebook.models.convergence import warn_not_converged
from bythebook.models.types import Bools, Floats, Ints

Sizes = Sequence[int]  # units in each layer, from inputs to outputs: (1, 10, 1)
Method = Literal["L-BFGS-B", "CG"]

_CACHED = 100_000  # maximum number of entries of a Jacobian


class Layer(NamedTuple):
    """One layer's share of theta (views, not copies)."""

    W: Floats  # (..., units, inputs)
    b: Floats  # (..., units)


class Trained(NamedTuple):
    """R networks at a local minimum of J."""

    theta: Floats  # (R, P)
    objective: Floats  # (R,) J at theta
    iterations: Ints  # (R,)
    converged: Bools  # (R,) stopped by the tolerance, not by the limit


class Descent(NamedTuple):
    """Gradient descent of R networks over T epochs."""

    theta: Floats  # (R, P) after the last epoch
    train: Floats  # (R, T + 1) mean of |y(x_n) - t_n|^2 before the first and after each epoch
    validation: Floats  # (R, T + 1) the same on the validation data
    stopped: Floats  # (R, P) theta at the epoch of the smallest validation error
    epoch: Ints  # (R,) that epoch
    first_rise: Floats  # (R, P) theta before the epoch that first raises it; the last if none does


def n_parameters(sizes: Sizes) -> int:
    """P, the length of theta: the number of inputs plus one for each unit."""
    return sum(units * (inputs + 1) for inputs, units in pairwise(sizes))


def layers(theta: Floats, sizes: Sizes) -> list[Layer]:
    """Theta (..., P) cut into the layers' weights and biases."""
    found, begin = [], 0
    for inputs, units in pairwise(sizes):
        middle, end = begin + units * inputs, begin + units * (inputs + 1)
        W = theta[..., begin:middle].reshape(*theta.shape[:-1], units, inputs)
        found.append(Layer(W, theta[..., middle:end]))
        begin = end
    return found


def per_layer(
    sizes: Sizes, weights: float | Sequence[float], biases: float | Sequence[float] = 0.0
) -> Floats:
    """A coefficient for every parameter, shape (P,), from one for each layer, or one for all.

    MLAPP's (16.79) is `weights=(alpha_v, alpha_w), biases=(alpha_b, alpha_c)`.
    """
    spread = np.empty(n_parameters(sizes))
    n_layers = len(sizes) - 1
    for layer, weight, bias in zip(
        layers(spread, sizes),
        np.broadcast_to(weights, n_layers),
        np.broadcast_to(biases, n_layers),
        strict=True,
    ):
        layer.W[...], layer.b[...] = weight, bias
    return spread


def sample_prior(precision: Floats, n_samples: int, rng: np.random.Generator) -> Floats:
    """Draw theta ~ N(0, diag(precision)^-1), shape (n_samples, P) (16.79)."""
    return np.asarray(rng.standard_normal((n_samples, precision.shape[-1])) / np.sqrt(precision))


def random_start(sizes: Sizes, n_restarts: int, rng: np.random.Generator) -> Floats:
    """Small weights, variance 1 / inputs, so that tanh starts near its linear range; (R, P)."""
    return sample_prior(per_layer(sizes, sizes[:-1], sizes[:-1]), n_restarts, rng)


def predict(theta: Floats, sizes: Sizes, x: Floats) -> Floats:
    """The outputs y (..., N, outputs), for inputs x of shape (N, inputs) or (..., N, inputs)."""
    return _forward(layers(theta, sizes), x)[-1]


def error_and_gradient(theta: Floats, sizes: Sizes, x: Floats, t: Floats) -> tuple[Floats, Floats]:
    """E = 1/2 sum_n |y(x_n) - t_n|^2, shape (...), and its gradient, shape (..., P).

    x has shape (N, inputs), t has shape (N, outputs).
    """
    network = layers(theta, sizes)
    z = _forward(network, x)
    delta = z[-1] - t  # (16.69): the error signal of a linear output
    error = 0.5 * (delta**2).sum((-2, -1))
    gradient = np.empty_like(theta)
    slots = layers(gradient, sizes)
    for index in reversed(range(len(network))):
        slots[index].W[...] = delta.mT @ z[index]  # (16.70), (16.71)
        slots[index].b[...] = delta.sum(-2)
        if index:
            delta = (delta @ network[index].W) * (1 - z[index] ** 2)  # (16.75)
    return error, gradient


def fit_network(
    start: Floats,
    sizes: Sizes,
    x: Floats,
    t: Floats,
    *,
    decay: Floats | float = 0.0,
    l1: Floats | float = 0.0,
    method: Method = "L-BFGS-B",
    tol: float = 1e-6,
    max_iter: int = 5000,
) -> Trained:
    """Minimise J from each of R starts, shape (R, P), by L-BFGS-B or conjugate gradients ("CG").

    Stops where no entry of the (projected) gradient exceeds `tol`. An l1 penalty has a kink at 0,
    which needs L-BFGS-B: theta = u - v with u, v >= 0 makes |theta| = u + v smooth, and a pruned
    weight is an exact zero.
    """

    def smooth(theta: Floats) -> tuple[Floats, Floats]:
        error, gradient = error_and_gradient(theta, sizes, x, t)
        return error + 0.5 * (decay * theta**2).sum(), gradient + decay * theta  # (16.77), (16.78)

    def split(uv: Floats) -> tuple[Floats, Floats]:
        u, v = np.split(uv, 2)
        value, gradient = smooth(u - v)
        return value + (l1 * (u + v)).sum(), np.concatenate([gradient + l1, l1 - gradient])

    options = {"maxiter": max_iter, "gtol": tol}
    if method == "L-BFGS-B":
        options |= {"maxfun": 10 * max_iter, "ftol": 1e-15}  # the gradient decides, not the value
    if not np.any(l1):
        return _warned(_minimise(smooth, start, method, options), method, max_iter, tol)
    if method != "L-BFGS-B":
        raise ValueError(f"{method} cannot bound variables, as the l1 penalty needs")
    positive = np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)], axis=-1)
    found = _minimise(split, positive, method, options, optimize.Bounds(0, np.inf))
    u, v = np.split(found.theta, 2, axis=-1)
    return _warned(found._replace(theta=u - v), method, max_iter, tol)


def _warned(found: Trained, method: str, max_iter: int, tol: float) -> Trained:
    at_limit = int(np.count_nonzero(found.iterations >= max_iter))
    warn_not_converged(method, iterations=max_iter, tol=tol, fits=at_limit)
    return found


def output_jacobian(theta: Floats, sizes: Sizes, x: Floats) -> tuple[Floats, Floats]:
    """The output y, shape (..., N), of a network with one, and dy / dtheta, shape (..., N, P)."""
    if sizes[-1] != 1:
        raise ValueError(f"the Jacobian is that of one output, not of {sizes[-1]}")
    network = layers(theta, sizes)
    z = _forward(network, x)
    shape = z[-1].shape[:-1]
    J = np.empty((*shape, theta.shape[-1]))
    delta, end = np.ones((*shape, 1)), theta.shape[-1]
    for index in reversed(range(len(network))):
        inputs, units = sizes[index], sizes[index + 1]
        J[..., end - units : end] = delta  # laid out as theta is: weights, then biases
        by_weight = delta[..., :, np.newaxis] * z[index][..., np.newaxis, :]
        begin = end - units * (inputs + 1)
        J[..., begin : end - units] = by_weight.reshape(*shape, units * inputs)
        end = begin
        if index:
            delta = (delta @ network[index].W) * (1 - z[index] ** 2)  # (16.75)
    return z[-1][..., 0], J


def fit_networks(
    start: Floats,
    sizes: Sizes,
    x: Floats,
    t: Floats,
    *,
    decay: Floats | float = 0.0,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> Trained:
    """Minimise J without l1 for R networks at once, by Levenberg and Marquardt's method.

    For small data sets: a step solves N equations, however many weights there are. The networks
    have one output; x (N, inputs) or (R, N, inputs), t (N,) or (R, N), decay (P,) or (R, P).
    They go in groups whose Jacobians fit in the cache.
    """
    R, P = start.shape
    x = np.broadcast_to(x, (R, *x.shape[-2:]))
    t = np.broadcast_to(t, (R, t.shape[-1]))
    decay = np.broadcast_to(decay, (R, P))
    size = max(1, _CACHED // (t.shape[-1] * P))
    groups = [slice(begin, begin + size) for begin in range(0, R, size)]
    found = [_fit(start[g], sizes, x[g], t[g], decay[g], tol, max_iter) for g in groups]
    fits = Trained(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
    at_limit = int(np.count_nonzero(~fits.converged & (fits.iterations >= max_iter)))
    warn_not_converged("Levenberg-Marquardt", iterations=max_iter, tol=tol, fits=at_limit)
    return fits


def _fit(
    start: Floats, sizes: Sizes, x: Floats, t: Floats, decay: Floats, tol: float, max_iter: int
) -> Trained:
    """A group of R networks by Levenberg and Marquardt's method; every array has R rows."""
    R = len(start)
    theta = np.array(start)
    damping = np.ones(R)
    iterations, converged = np.zeros(R, dtype=np.int64), np.zeros(R, dtype=bool)

    def objective(theta: Floats, rows: Ints) -> Floats:
        r = predict(theta, sizes, x[rows])[..., 0] - t[rows]
        return np.asarray(0.5 * (r**2).sum(-1) + 0.5 * (decay[rows] * theta**2).sum(-1))

    active = np.arange(R)
    value = objective(theta, active)
    for _ in range(max_iter):
        y, J = output_jacobian(theta[active], sizes, x[active])
        r, pull = y - t[active], decay[active] * theta[active]
        gradient = np.vecmat(r, J) + pull
        converged[active] = np.abs(gradient).max(-1) <= tol
        going = ~converged[active] & (damping[active] < 1e12)
        if not going.any():
            break
        active, J, r, pull = active[going], J[going], r[going], pull[going]
        # argmin 1/2 |r + J d|^2 + 1/2 decay |theta + d|^2 + 1/2 damping |d|^2, by N equations.
        D = decay[active] + damping[active, np.newaxis]
        rest = -pull / D
        K = (J / D[:, np.newaxis]) @ J.mT + np.eye(J.shape[-2])
        d = rest - np.vecmat(np.linalg.solve(K, (r + np.matvec(J, rest))[..., None])[..., 0], J) / D
        tried = objective(theta[active] + d, active)
        better = tried < value[active]
        rows = active[better]
        theta[rows] += d[better]
        value[rows] = tried[better]
        damping[active] *= np.where(better, 1 / 3, 4.0)
        iterations[active] += 1
    return Trained(theta, value, iterations, converged)


def descend(
    start: Floats,
    sizes: Sizes,
    x: Floats,
    t: Floats,
    *,
    validation: tuple[Floats, Floats],
    rate: float,
    n_epochs: int,
    decay: Floats | float = 0.0,
    l1: Floats | float = 0.0,
) -> Descent:
    """Plain gradient descent on J for R networks at once, with early stopping on validation data.

    `rate` multiplies the gradient of the sum over the data. `decay` and `l1` may differ between
    networks, shape (R, P), as may the data: x (R, N, inputs), t (R, N, outputs), and the validation
    data. The l1 penalty acts by its proximal step, a soft threshold.
    """
    theta = np.array(start)
    x_held, t_held = validation
    stopped, epoch_of = theta.copy(), np.zeros(len(theta), dtype=np.int64)
    lowest = np.full(len(theta), np.inf)
    before, first_rise, risen = theta, theta.copy(), np.zeros(len(theta), dtype=np.bool_)
    history = np.empty((2, len(theta), n_epochs + 1))
    for epoch in range(n_epochs + 1):
        error, gradient = error_and_gradient(theta, sizes, x, t)
        held = ((predict(theta, sizes, x_held) - t_held) ** 2).sum((-2, -1)) / x_held.shape[-2]
        history[:, :, epoch] = 2 * error / x.shape[-2], held
        better = held < lowest
        stopped[better], epoch_of[better], lowest[better] = theta[better], epoch, held[better]
        rises = ~risen & (epoch > 0) & (held > history[1, :, epoch - 1])
        first_rise[rises], risen = before[rises], risen | rises
        before = theta
        if epoch < n_epochs:
            theta = theta - rate * (gradient + decay * theta)
            theta = np.sign(theta) * np.maximum(np.abs(theta) - rate * l1, 0)
    first_rise[~risen] = theta[~risen]
    return Descent(theta, history[0], history[1], stopped, epoch_of, first_rise)


def _forward(network: list[Layer], x: Floats) -> list[Floats]:
    """The outputs of every layer, the inputs first."""
    z = [x]
    for index, layer in enumerate(network):
        a = z[-1] @ layer.W.mT + layer.b[..., np.newaxis, :]
        z.append(np.tanh(a) if index < len(network) - 1 else a)
    return z


def _minimise(
    objective: Callable[[Floats], tuple[Any, Floats]],
    start: Floats,
    method: Method,
    options: Any,
    bounds: optimize.Bounds | None = None,
) -> Trained:
    results = [
        optimize.minimize(objective, one, jac=True, method=method, bounds=bounds, options=options)
        for one in start
    ]
    return Trained(
        np.array([result.x for result in results]),
        np.array([result.fun for result in results]),
        np.array([result.nit for result in results]),
        np.array([result.success for result in results]),
    )
