r"""Backpropagation in a network with one hidden layer, for three kinds of outputs.

    a = V x,  z = g(a),  b = W z,  y = h(b)                                     MLAPP 16.65
    delta_w = y - t,  delta_v = (W^T delta_w) g'(a),  dJ = [delta_v x, delta_w z]    16.69-16.76

x and z have a last entry of 1 for the offsets. Leading axes of V (..., H, D) and W (..., K, H + 1)
are networks; cases are along the last axis but one.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit, logsumexp, softmax

from bythebook.models.types import Floats

ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {"tanh": np.tanh, "sigm": expit}
OUTPUTS = ("regression", "binary", "multi-class")


class Weights(NamedTuple):
    """Weights of both layers."""

    V: Floats  # (..., H, D)
    W: Floats  # (..., K, H + 1)


class Tally:
    """The number of multiplications."""

    count = 0

    def times(self, a: Floats, b: Floats) -> Floats:
        """A product of two matrices."""
        self.count += a.shape[-2] * a.shape[-1] * b.shape[-1]
        return np.asarray(a @ b)


def derivative(name: str, z: Floats) -> Floats:
    """g'(a) from z = g(a)."""
    return 1 - z**2 if name == "tanh" else z * (1 - z)


def numerical_slope(g: Callable[[Floats], Floats], a: Floats, step: float = 0.01) -> Floats:
    """g'(a) by central differences with two steps, extrapolated to step zero."""
    wide, narrow = ((g(a + h) - g(a - h)) / (2 * h) for h in (step, step / 2))
    return np.asarray((4 * narrow - wide) / 3)


def linear_gap(g: Callable[[Floats], Floats], width: float) -> float:
    """Deviation of g from its tangent at the origin, relative to the tangent's rise."""
    a = np.array([0.0, width])
    rise = float(numerical_slope(g, a[:1], 1e-3)[0]) * width
    return abs(float(g(a)[1] - g(a)[0]) / rise - 1)


def forward(weights: Weights, x: Floats, activation: str) -> tuple[Floats, Floats]:
    """The hidden layer with its 1, (..., N, H + 1), and the outputs' inputs b, (..., N, K)."""
    z = ACTIVATIONS[activation](x @ np.swapaxes(weights.V, -1, -2))
    z = np.concatenate([z, np.ones((*z.shape[:-1], 1))], axis=-1)
    return z, z @ np.swapaxes(weights.W, -1, -2)


def outputs(kind: str, b: Floats) -> Floats:
    """h(b): the identity, a sigmoid for each, or softmax."""
    if kind == "regression":
        return b
    return np.asarray(expit(b) if kind == "binary" else softmax(b, axis=-1))


def error(kind: str, b: Floats, t: Floats) -> Floats:
    """The negative log likelihood J, summed over cases and outputs, (...)."""
    if kind == "regression":
        each = 0.5 * (b - t) ** 2  # 16.66, corrected
    elif kind == "binary":
        each = -t * log_expit(b) - (1 - t) * log_expit(-b)
    else:
        each = t * (logsumexp(b, axis=-1, keepdims=True) - b)  # 16.67
    return np.asarray(each.sum((-2, -1)))


def error_as_printed(kind: str, b: Floats, t: Floats) -> Floats:
    """(16.66) with its minus and without a half; (16.67) for classes of both kinds."""
    if kind == "regression":
        return np.asarray(-((b - t) ** 2).sum((-2, -1)))
    return np.asarray(-(t * np.log(outputs(kind, b))).sum((-2, -1)))


def gradient(
    weights: Weights, x: Floats, t: Floats, kind: str, activation: str, tally: Tally | None = None
) -> Weights:
    """The gradient of J by backpropagation (16.76), of one network."""
    tally = tally or Tally()
    z = ACTIVATIONS[activation](tally.times(x, weights.V.T))
    full = np.concatenate([z, np.ones((len(z), 1))], axis=1)
    delta_w = outputs(kind, tally.times(full, weights.W.T)) - t  # 16.69
    delta_v = tally.times(delta_w, weights.W[:, :-1]) * derivative(activation, z)  # 16.75
    return Weights(tally.times(delta_v.T, x), tally.times(delta_w.T, full))  # 16.76


def differences(f: Callable[[Floats], Floats], at: Floats, step: float = 1e-4) -> Floats:
    """Central differences of f in every entry of an array; f takes a batch of arrays."""
    moves = step * np.eye(at.size).reshape(-1, *at.shape)
    return np.asarray((f(at + moves) - f(at - moves)) / (2 * step)).reshape(at.shape)


def difference_operations(inputs: int, hidden: int, outs: int, cases: int) -> tuple[int, int]:
    """Weights, and multiplications of two passes forwards for each of them, as counted."""
    tally, x = Tally(), np.ones((cases, inputs))
    V, W = np.zeros((hidden, inputs)), np.zeros((outs, hidden + 1))
    for _ in range(2 * (V.size + W.size)):
        z = tally.times(x, V.T)
        tally.times(np.ones((cases, hidden + 1)) + 0 * z[:, :1], W.T)
    return V.size + W.size, tally.count
