"""Equations of MLAPP 19.4.1 to 19.4.3, Ising and Potts models, and Hopfield networks."""

from itertools import combinations, product

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.graphs.pairwise import grid
from bythebook.models.types import AnyArray, Bools, Floats


def _network(rng: Generator, low: int) -> tuple[Floats, Floats, Floats]:
    """Symmetric weights without diagonal, biases, and all states of the units."""
    N = int(rng.integers(3, 7))
    W = np.triu(rng.normal(size=(N, N)), 1)
    states = np.array(list(product((low, 1), repeat=N)), dtype=float)
    return W + W.T, rng.normal(size=N), states


def _log_tables(W: Floats, y: Floats) -> float:
    """The log of the product of the potentials (19.17) of all links."""
    N = len(y)
    up = ((y + 1) / 2).astype(int)
    total = 0.0
    for s, t in combinations(range(N), 2):
        table = np.exp([[W[s, t], -W[s, t]], [-W[s, t], W[s, t]]])
        total += float(np.log(table[up[s], up[t]]))
    return total


@equation(
    "19.18",
    section="19.4.1",
    latex=r"\log \tilde{p}(\mathbf{y}) = -\sum_{s \sim t} y_s w_{st} y_t"
    r" = -\frac{1}{2} \mathbf{y}^T \mathbf{W} \mathbf{y}",
    corrected=r"\log \tilde{p}(\mathbf{y}) = \sum_{s \sim t} y_s w_{st} y_t"
    r" = \frac{1}{2} \mathbf{y}^T \mathbf{W} \mathbf{y}",
    cause="energy-for-log-probability",
)
def ising_log_probability(rng: Generator) -> Sides:
    """The unnormalised log probability, with the product of the potentials (19.17)."""
    W, _, states = _network(rng, low=-1)
    y = rng.choice(states)
    half = y @ W @ y / 2
    return Sides(truth=_log_tables(W, y), printed=-half, corrected=half)


@equation(
    "19.19",
    section="19.4.1",
    latex=r"\log \tilde{p}(\mathbf{y}) = \sum_{s \sim t} w_{st} y_s y_t + \sum_s b_s y_s"
    r" = \frac{1}{2} \mathbf{y}^T \mathbf{W} \mathbf{y} + \mathbf{b}^T \mathbf{y}",
)
def ising_with_field(rng: Generator) -> Sides:
    """The unnormalised log probability with a field, with the product of the potentials (19.17)."""
    W, b, states = _network(rng, low=-1)
    y = rng.choice(states)
    fields = sum(field if spin > 0 else -field for field, spin in zip(b, y, strict=True))
    return Sides(truth=_log_tables(W, y) + fields, printed=y @ W @ y / 2 + b @ y)


@equation(
    "19.20",
    section="19.4.1",
    latex=r"\mu = -\frac{1}{2} \Sigma^{-1} \mathbf{b}, \quad"
    r" \Sigma^{-1} = -\mathbf{W}, \quad c = \frac{1}{2} \mu^T \Sigma^{-1} \mu, \quad"
    r" \tilde{p}(\mathbf{y}) \propto \exp \left( -\frac{1}{2} (\mathbf{y} - \mu)^T"
    r" \Sigma^{-1} (\mathbf{y} - \mu) + c \right)",
    corrected=r"\mu = \Sigma \mathbf{b}",
    cause="mean-with-the-precision",
)
def ising_like_a_gaussian(rng: Generator) -> Sides:
    """The log probabilities of all states, each relative to the first state."""
    W, b, states = _network(rng, low=-1)
    precision = -W
    score = np.array([_log_tables(W, y) + b @ y for y in states])

    def exponents(mean: AnyArray) -> AnyArray:
        off = states - mean
        return np.asarray(-0.5 * np.einsum("ns,st,nt->n", off, precision, off))

    printed = exponents(-0.5 * precision @ b)
    corrected = exponents(np.linalg.solve(precision, b))
    return Sides(score - score[0], printed - printed[0], corrected - corrected[0])


@equation(
    "section 19.4.1, normaliser",
    section="19.4.1",
    latex=r"Z = |2 \pi \Sigma|",
    corrected=r"Z = |2 \pi \Sigma|^{1/2}",
    cause="root-of-the-determinant",
    within=1e-6,
)
def gaussian_normaliser(rng: Generator) -> Sides:
    """The integral of an unnormalised Gaussian in two dimensions, by a sum over a fine grid."""
    L = np.array([[rng.uniform(0.6, 1.5), 0.0], [rng.normal(0, 0.5), rng.uniform(0.6, 1.5)]])
    Sigma = L @ L.T
    side = np.linspace(-12, 12, 481) * np.sqrt(Sigma.diagonal().max())
    x = np.stack(np.meshgrid(side, side), -1)
    heights = np.exp(
        -0.5 * np.einsum("ijk,ijk->ij", x, np.linalg.solve(Sigma, x[..., None])[..., 0])
    )
    determinant = (2 * np.pi) ** 2 * (Sigma[0, 0] * Sigma[1, 1] - Sigma[0, 1] ** 2)
    return Sides(
        truth=heights.sum() * (side[1] - side[0]) ** 2,
        printed=determinant,
        corrected=determinant**0.5,
    )


@equation(
    "19.126, exercise 19.5",
    section="19.4.1",
    latex=r"p(y_s|\mathbf{y}_{-s}, \theta)"
    r" = p(y_s|\mathbf{y}_{\text{nbr}(s)}, \theta)",
)
def ising_conditional(rng: Generator) -> Sides:
    """The full conditional of a spin depends only on its neighbours, by sums over all states."""
    W, b, states = _network(rng, low=-1)
    W = W * (rng.random(W.shape) < 0.5)
    W = np.triu(W, 1) + np.triu(W, 1).T
    p = np.exp(np.einsum("ns,st,nt->n", states, W, states) / 2 + states @ b)
    y, s = rng.choice(states), int(rng.integers(len(b)))
    rest = np.arange(len(b)) != s
    truth, printed = (
        p[agree & (states[:, s] == y[s])].sum() / p[agree].sum()
        for agree in (_agree(states, y, rest), _agree(states, y, W[s] != 0))
    )
    return Sides(truth=truth, printed=printed)


def _agree(states: Floats, y: Floats, units: Bools) -> Bools:
    """The states that equal y in some units."""
    return np.asarray((states[:, units] == y[units]).all(1))


@equation(
    "19.22",
    section="19.4.3",
    latex=r"\psi_{st}(y_s, y_t) = \begin{pmatrix} e^J & 0 & 0 \\ 0 & e^J & 0 \\ 0 & 0 & e^J"
    r" \end{pmatrix}",
    corrected=r"\psi_{st}(y_s, y_t) = \begin{pmatrix} e^J & 1 & 1 \\ 1 & e^J & 1 \\ 1 & 1 & e^J"
    r" \end{pmatrix}",
    cause="zeros-off-the-diagonal",
)
def potts_potential(rng: Generator) -> Sides:
    """With two labels the Potts model is the Ising model, whose weights are half of J (19.17)."""
    rows, columns, J = int(rng.integers(1, 3)), int(rng.integers(2, 4)), rng.uniform(0.2, 2)
    links = grid(rows, columns)
    W = np.zeros((rows * columns, rows * columns))
    W[links[:, 0], links[:, 1]] = W[links[:, 1], links[:, 0]] = J / 2
    labels = np.array(list(product((0, 1), repeat=rows * columns)))
    equal = (labels[:, links[:, 0]] == labels[:, links[:, 1]]).sum(1)
    truth = np.exp([_log_tables(W, 2.0 * y - 1) for y in labels])
    printed = np.where(equal == len(links), np.exp(J * len(links)), 0.0)
    corrected = np.exp(J * equal)
    return Sides(*(p / p.sum() for p in (truth, printed, corrected)))


@equation(
    "19.21",
    section="19.4.2",
    latex=r"p(y_s = 1|\mathbf{y}_{-s}, \theta)"
    r" = \text{sigm}(\mathbf{w}_{s,:}^T \mathbf{y}_{-s} + b_s)",
)
def hopfield_conditional(rng: Generator) -> Sides:
    """The full conditional of a unit with states 0 and 1, from the probabilities of both states."""
    W, b, states = _network(rng, low=0)
    y, s = rng.choice(states), int(rng.integers(len(b)))
    both = np.array([_with(y, s, 1), _with(y, s, 0)])
    score = np.einsum("ns,st,nt->n", both, W, both) / 2 + both @ b
    p = np.exp(score - score.max())
    return Sides(truth=p[0] / p.sum(), printed=1 / (1 + np.exp(-(W[s] @ _with(y, s, 0) + b[s]))))


def _with(y: Floats, s: int, value: float) -> Floats:
    return np.where(np.arange(len(y)) == s, value, y)


@equation(
    "section 19.4.2, most probable state",
    section="19.4.2",
    latex=r"y_s^* = 1 \; \text{if} \; \sum_t w_{st} y_t > b_s, \quad \text{else} \; y_s^* = 0",
    corrected=r"y_s^* = 1 \; \text{if} \; \sum_t w_{st} y_t + b_s > 0, \quad"
    r" \text{else} \; y_s^* = 0",
    cause="bias-on-the-wrong-side",
)
def most_probable_state(rng: Generator) -> Sides:
    """The most probable state of a unit given all others, for all states of the network."""
    W, b, states = _network(rng, low=0)
    s = int(rng.integers(len(b)))
    on, off = (np.array([_with(y, s, value) for y in states]) for value in (1, 0))
    score = [np.einsum("ns,st,nt->n", y, W, y) / 2 + y @ b for y in (on, off)]
    truth = np.append(score[0] > score[1], True).astype(int)
    return Sides(
        truth=truth,
        printed=np.append(off @ W[s] > b[s], True).astype(int),
        corrected=np.append(off @ W[s] + b[s] > 0, True).astype(int),
    )
