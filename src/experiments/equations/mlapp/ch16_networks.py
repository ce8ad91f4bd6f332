"""Equations of MLAPP 16.5, neural networks with one hidden layer.

Derivatives are taken by a complex step, Im f(x + ih) / h, which has no rounding error.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import stats
from scipy.special import expit

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.networks import network_evidence as laplace
from bythebook.models.networks.neural_network import (
    Sizes,
    layers,
    n_parameters,
    predict,
    random_start,
)
from bythebook.models.types import AnyArray, Floats

_REGRESSION, _BINARY, _CLASSES = "regression", "binary", "multi-class"
_STEP = 1e-30


def _slopes(f: Callable[[AnyArray], Any], at: Floats) -> Floats:
    """The derivatives of a function of an array in each of its entries."""
    found = np.empty(at.shape)
    for place in np.ndindex(at.shape):
        moved = at.astype(complex)
        moved[place] += 1j * _STEP
        found[place] = np.imag(f(moved)) / _STEP
    return found


def _logistic(a: AnyArray) -> AnyArray:
    return np.asarray(1 / (1 + np.exp(-a)))


_ACTIVATIONS: dict[str, Callable[[AnyArray], AnyArray]] = {"tanh": np.tanh, "sigm": _logistic}


def _outputs(kind: str, b: AnyArray) -> AnyArray:
    if kind == _REGRESSION:
        return b
    odds = np.exp(b)
    return _logistic(b) if kind == _BINARY else np.asarray(odds / odds.sum(-1, keepdims=True))


def _log_likelihood(kind: str, b: AnyArray, y: Floats) -> Any:
    """Of the targets, given the outputs' inputs b: unit variance, Bernoulli, one class of K."""
    f = _outputs(kind, b)
    if kind == _REGRESSION:
        return (-((y - f) ** 2) / 2).sum()
    other = (1 - y) * np.log(1 - f) if kind == _BINARY else 0
    return (y * np.log(f) + other).sum()


def _targets(kind: str, N: int, K: int, rng: Generator) -> Floats:
    if kind == _REGRESSION:
        return rng.normal(size=(N, K))
    if kind == _BINARY:
        return (rng.random((N, K)) < 0.5).astype(float)
    return np.eye(K)[rng.integers(K, size=N)]


def _network(rng: Generator) -> tuple[Floats, Floats, Floats]:
    """Inputs, and weights V and W; the last entries of inputs and hidden layer are 1."""
    N, D, H, K = rng.integers([1, 2, 1, 2], [6, 5, 5, 5])
    x = np.column_stack([rng.normal(size=(N, D)), np.ones(N)])
    return x, rng.normal(size=(H, D + 1)), rng.normal(size=(K, H + 1))


def _hidden(x: Floats, V: AnyArray, activation: str) -> AnyArray:
    z = _ACTIVATIONS[activation](x @ V.T)
    return np.concatenate([z, np.ones((len(x), 1))], axis=1)


def _slope_of(activation: str, z: Floats) -> Floats:
    """g'(a) from z = g(a)."""
    return 1 - z**2 if activation == "tanh" else z * (1 - z)


@equation(
    "16.74, derivatives of tanh and sigm",
    section="16.5.4",
    latex=r"\tanh'(a) = 1 - \tanh^2(a) = \mathrm{sech}^2(a), \quad"
    r" \sigma'(a) = \sigma(a) (1 - \sigma(a))",
)
def activation_slopes(rng: Generator) -> Sides:
    """The derivatives of the hyperbolic tangent and of the logistic sigmoid."""
    a = rng.normal(size=5) * 3
    tanh, sigm = (np.imag(g(a + 1j * _STEP)) / _STEP for g in _ACTIVATIONS.values())
    printed = 1 - np.tanh(a) ** 2, 1 / np.cosh(a) ** 2, expit(a) * (1 - expit(a))
    return Sides(truth=(tanh, tanh, sigm), printed=printed)


@equation(
    "16.69",
    section="16.5.4",
    latex=r"\frac{\partial J_n}{\partial b_{nk}} = \delta_{nk}^w = \hat{y}_{nk} - y_{nk}",
)
def output_error_signal(rng: Generator) -> Sides:
    """With the canonical link the error signal of the output layer is the output less the target.

    The outputs are those of a regression, of several binary targets, and of one class of K.
    """
    N, K = rng.integers([1, 2], 6)
    b = 2 * rng.normal(size=(N, K))
    truth, printed = [], []
    for kind in (_REGRESSION, _BINARY, _CLASSES):
        y = _targets(kind, N, K, rng)
        truth.append(-_slopes(partial(_log_likelihood, kind, y=y), b))
        printed.append(_outputs(kind, b) - y)
    return Sides(truth=tuple(truth), printed=tuple(printed))


@equation(
    "16.70, 16.71, 16.75, 16.76",
    section="16.5.4",
    latex=r"\nabla_\theta J = \sum_n [\delta_n^v \mathbf{x}_n, \delta_n^w \mathbf{z}_n], \quad"
    r" \delta_{nj}^v = \sum_k \delta_{nk}^w w_{kj} g'(a_{nj})",
)
def backpropagated_gradient(rng: Generator) -> Sides:
    """The gradient of the negative log likelihood in the weights of both layers."""
    x, V, W = _network(rng)
    kind = str(rng.choice([_REGRESSION, _BINARY, _CLASSES]))
    activation = str(rng.choice(list(_ACTIVATIONS)))
    y = _targets(kind, len(x), len(W), rng)

    def error(V: AnyArray, W: AnyArray) -> Any:
        return -_log_likelihood(kind, _hidden(x, V, activation) @ W.T, y)

    z = _hidden(x, V, activation)
    delta_w = _outputs(kind, z @ W.T) - y
    delta_v = (delta_w @ W)[:, :-1] * _slope_of(activation, z[:, :-1])
    return Sides(
        truth=(_slopes(lambda v: error(v, W), V), _slopes(lambda w: error(V, w), W)),
        printed=(delta_v.T @ x, delta_w.T @ z),
    )


@equation(
    "16.66",
    section="16.5.4",
    latex=r"J(\theta) = -\sum_n \sum_k (\hat{y}_{nk}(\theta) - y_{nk})^2",
    corrected=r"J(\theta) = \frac{1}{2} \sum_n \sum_k (\hat{y}_{nk}(\theta) - y_{nk})^2",
    cause="squared-error-with-minus",
)
def squared_error(rng: Generator) -> Sides:
    """The negative log likelihood of a regression, as a difference of two networks.

    The error signal (16.69) belongs to half the sum; the variance of the noise is 1.
    """
    y, one, two = rng.normal(size=(3, 4, 3))
    truth = stats.norm.logpdf(y, two).sum() - stats.norm.logpdf(y, one).sum()
    squares = ((one - y) ** 2).sum() - ((two - y) ** 2).sum()
    return Sides(truth=truth, printed=-squares, corrected=squares / 2)


@equation(
    "16.67",
    section="16.5.4",
    latex=r"J(\theta) = -\sum_n \sum_k y_{nk} \log \hat{y}_{nk}(\theta)",
)
def class_cross_entropy(rng: Generator) -> Sides:
    """The negative log likelihood of one class of K."""
    N, K = int(rng.integers(2, 6)), int(rng.integers(2, 6))
    f, y = rng.dirichlet(np.ones(K), N), np.eye(K)[rng.integers(K, size=N)]
    return Sides(truth=-stats.multinomial.logpmf(y, 1, f).sum(), printed=-(y * np.log(f)).sum())


@equation(
    "16.77, 16.78",
    section="16.5.6",
    latex=r"J = -\sum_n \log p(y_n | \mathbf{x}_n, \theta) + \frac{\alpha}{2} \left[ \sum_{ij}"
    r" v_{ij}^2 + \sum_{jk} w_{jk}^2 \right], \quad \nabla J = \left[ \sum_n \delta_n^v"
    r" \mathbf{x}_n + \alpha \mathbf{v}, \sum_n \delta_n^w \mathbf{z}_n + \alpha \mathbf{w}"
    r" \right]",
)
def decayed_gradient(rng: Generator) -> Sides:
    """The gradient of a regression's error with weight decay, which leaves the biases alone."""
    x, V, W = _network(rng)
    y, alpha = rng.normal(size=(len(x), len(W))), rng.uniform(0.2, 3)
    z = _hidden(x, V, "tanh")
    delta_w = z @ W.T - y
    delta_v = (delta_w @ W)[:, :-1] * (1 - z[:, :-1] ** 2)
    gradient = delta_v.T @ x, delta_w.T @ z
    for part, weights in zip(gradient, (V, W), strict=True):
        part[:, :-1] += alpha * weights[:, :-1]

    def error(V: AnyArray, W: AnyArray) -> Any:
        fit = -_log_likelihood(_REGRESSION, _hidden(x, V, "tanh") @ W.T, y)
        return fit + alpha / 2 * ((V[:, :-1] ** 2).sum() + (W[:, :-1] ** 2).sum())

    truth = _slopes(lambda v: error(v, W), V), _slopes(lambda w: error(V, w), W)
    return Sides(truth=truth, printed=gradient)


@equation(
    "section 16.5.5",
    section="16.5.5",
    latex=r"\mathbf{v}_j, w_{kj} \rightarrow -\mathbf{v}_j, -w_{kj}, \quad"
    r" j \rightarrow \pi(j): \quad f \text{ is the same}",
)
def equivalent_weights(rng: Generator) -> Sides:
    """Sign flips and permutations of tanh units leave the outputs unchanged."""
    D, H, K = (int(n) for n in rng.integers([1, 1, 1], [4, 6, 4]))
    sizes, x = (D, H, K), rng.normal(size=(7, D))
    theta = random_start(sizes, 1, rng)[0] * 2
    moved = theta.copy()
    first, second = layers(theta, sizes)
    V, W = layers(moved, sizes)
    order, sign = rng.permutation(H), rng.choice([-1.0, 1.0], H)
    V.W[...], V.b[...] = sign[:, None] * first.W[order], sign * first.b[order]
    W.W[...] = second.W[:, order] * sign
    return Sides(truth=predict(theta, sizes, x), printed=predict(moved, sizes, x))


@equation(
    "section 16.5.6.1",
    section="16.5.6.1",
    latex=r"c f(\mathbf{x}) + d = \tilde{f}(a \mathbf{x} + e): \quad \tilde{\mathbf{V}} ="
    r" \mathbf{V} / a, \quad \tilde{\mathbf{b}} = \mathbf{b} - \tilde{\mathbf{V}} e, \quad"
    r" \tilde{\mathbf{w}} = c \mathbf{w}, \quad \tilde{c} = c c_0 + d",
)
def rescaled_weights(rng: Generator) -> Sides:
    """A network scales its weights to compensate for scaled and shifted inputs and outputs.

    The weights of the first layer are divided by the scale of the inputs, those of the second are
    multiplied by the scale of the outputs.
    """
    D, H = (int(n) for n in rng.integers(1, 5, 2))
    sizes, x = (D, H, 1), rng.normal(size=(6, D))
    a, e, c, d = rng.uniform(0.3, 3), rng.normal(), rng.uniform(0.3, 3), rng.normal()
    theta = random_start(sizes, 1, rng)[0] * 2
    moved = theta.copy()
    first, second = layers(moved, sizes)
    first.W[...] /= a
    first.b[...] -= first.W.sum(1) * e
    second.W[...] *= c
    second.b[...] = c * second.b + d
    return Sides(truth=c * predict(theta, sizes, x) + d, printed=predict(moved, sizes, a * x + e))


def _regression(rng: Generator) -> tuple[Sizes, Floats, Floats, Floats, float, float]:
    """Sizes, weights, inputs and targets of a regression, and its precisions."""
    sizes = (int(rng.integers(1, 4)), int(rng.integers(1, 4)), 1)
    N = int(rng.integers(4, 9))
    x, t = rng.normal(size=(N, sizes[0])), rng.normal(size=N)
    return sizes, random_start(sizes, 1, rng)[0], x, t, rng.uniform(0.2, 3), rng.uniform(0.2, 9)


@equation(
    "16.82 to 16.85",
    section="16.5.7.1",
    latex=r"p(\mathbf{w} | \mathcal{D}) \propto e^{-E}, \quad E = \beta E_D + \alpha E_W, \quad"
    r" E_D = \frac{1}{2} \sum_n (y_n - f(\mathbf{x}_n, \mathbf{w}))^2, \quad"
    r" E_W = \frac{1}{2} \mathbf{w}^T \mathbf{w}",
)
def posterior_energy(rng: Generator) -> Sides:
    """The negative log posterior of a network's weights, as a difference of two weight vectors."""
    sizes, one, x, t, alpha, beta = _regression(rng)
    two = random_start(sizes, 1, rng)[0]

    def log_joint(w: Floats) -> float:
        f = predict(w, sizes, x)[:, 0]
        noise = stats.norm.logpdf(t, f, beta**-0.5).sum()
        return float(noise + stats.norm.logpdf(w, 0, alpha**-0.5).sum())

    def energy(w: Floats) -> float:
        E_D = ((t - predict(w, sizes, x)[:, 0]) ** 2).sum() / 2
        return float(beta * E_D + alpha * w @ w / 2)

    return Sides(truth=log_joint(two) - log_joint(one), printed=energy(one) - energy(two))


@equation(
    "16.87",
    section="16.5.7.1",
    latex=r"\mathbf{A} = \nabla \nabla E = \beta \mathbf{H} + \alpha \mathbf{I}, \quad"
    r" \mathbf{H} = \nabla \nabla E_D",
    within=1e-6,
)
def energy_hessian(rng: Generator) -> Sides:
    """The Hessian of the negative log posterior.

    The truth has differences of gradients of log densities, and H is the model's.
    """
    sizes, w, x, t, alpha, beta = _regression(rng)
    P = n_parameters(sizes)

    def gradient(w: Floats) -> Floats:
        def energy(v: AnyArray) -> Any:
            f = predict(v, sizes, x)[:, 0]
            return beta / 2 * ((t - f) ** 2).sum() + alpha / 2 * (v**2).sum()

        return _slopes(energy, w)

    moves = 1e-4 * np.eye(P)
    A = np.array([(gradient(w + e) - gradient(w - e)) / 2e-4 for e in moves])
    H = laplace.data_hessian(w[None], sizes, x[None], t[None])[0]
    return Sides(truth=A, printed=beta * H + alpha * np.eye(P))


@equation(
    "16.94, 16.95",
    section="16.5.7.3",
    latex=r"p(y | \mathbf{x}, \mathcal{D}) \approx \mathcal{N}(y | f(\mathbf{x}, \mathbf{w}_{MP}),"
    r" \sigma^2(\mathbf{x})), \quad \sigma^2(\mathbf{x}) = \beta^{-1} + \mathbf{g}^T"
    r" \mathbf{A}^{-1} \mathbf{g}",
)
def linearised_predictive(rng: Generator) -> Sides:
    """The mean and the variance of a prediction that is linear in Gaussian weights.

    The truth is the marginal of the joint Gaussian of the weights and the target.
    """
    P, beta, f = int(rng.integers(2, 7)), rng.uniform(0.2, 9), rng.normal()
    g, root, mode = rng.normal(size=P), rng.normal(size=(P, P)), rng.normal(size=P)
    A = root @ root.T + np.eye(P)
    joint = np.block([[A + beta * np.outer(g, g), -beta * g[:, None]], [-beta * g, beta]])
    offset = f - g @ mode  # y = g w + offset + noise
    pull = np.append(A @ mode - beta * g * offset, beta * offset)
    truth = np.linalg.solve(joint, pull)[-1], np.linalg.solve(joint, np.eye(P + 1)[-1])[-1]
    return Sides(truth=truth, printed=(f, 1 / beta + g @ np.linalg.solve(A, g)))
