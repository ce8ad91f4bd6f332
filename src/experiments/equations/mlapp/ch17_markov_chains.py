"""Equations of MLAPP 17.2.1 and 17.2.3, Markov chains."""

import numpy as np
from numpy.random import Generator
from scipy.linalg import eig

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.chains import markov_chain as markov
from bythebook.models.types import Floats


def _chain(rng: Generator) -> Floats:
    K = int(rng.integers(2, 5))
    return rng.dirichlet(np.ones(K), K)


def _path_sums(A: Floats, steps: int) -> Floats:
    """The n-step probabilities as sums over all paths (17.4)."""
    K = len(A)
    paths = np.indices((K,) * (steps + 1)).reshape(steps + 1, -1)
    found = np.zeros((K, K))
    np.add.at(found, (paths[0], paths[-1]), A[paths[:-1], paths[1:]].prod(0))
    return found


@equation(
    "17.4, 17.7",
    section="17.2.1",
    latex=r"A_{ij}(n) = p(X_{t+n} = j|X_t = i), \quad \mathbf{A}(n) = \mathbf{A}^n",
)
def n_step_probabilities(rng: Generator) -> Sides:
    """The probabilities of n steps are the entries of the n-th power of the transition matrix."""
    A, n = _chain(rng), int(rng.integers(1, 6))
    return Sides(truth=_path_sums(A, n), printed=np.linalg.matrix_power(A, n))


@equation(
    "17.5, 17.6",
    section="17.2.1",
    latex=r"A_{ij}(m + n) = \sum_{k=1}^K A_{ik}(m) A_{kj}(n)",
)
def chapman_kolmogorov(rng: Generator) -> Sides:
    """Getting from i to j in m + n steps is getting to some k in m, and from k to j in n."""
    A, (m, n) = _chain(rng), rng.integers(1, 4, 2)
    printed = np.einsum("ik,kj->ij", _path_sums(A, m), _path_sums(A, n))
    return Sides(truth=_path_sums(A, m + n), printed=printed)


@equation(
    "17.21, 17.25",
    section="17.2.3",
    latex=r"\pi_i \sum_{j \neq i} A_{ij} = \sum_{j \neq i} \pi_j A_{ji}",
)
def global_balance(rng: Generator) -> Sides:
    """In the stationary distribution the flow out of each state is the flow into it."""
    A = _chain(rng)
    values, vectors = eig(A.T)
    pi = vectors[:, values.real.argmax()].real
    pi = pi / pi.sum()
    off = A - np.diag(np.diagonal(A))
    return Sides(truth=pi @ off, printed=pi * off.sum(1))


@equation(
    "17.26",
    section="17.2.3",
    latex=r"\boldsymbol{\pi} \mathbf{M} = \mathbf{r}, \quad \mathbf{M} = \mathbf{I} - \mathbf{A}"
    r" \;\text{with a column of ones}, \quad \mathbf{r} = (0, \ldots, 0, 1)",
)
def stationary_by_a_column_of_ones(rng: Generator) -> Sides:
    """Whichever column of I - A becomes ones, the solution is the stationary distribution.

    Random irreducible chains of all kinds, with probabilities 0 and 1; the other side is a long
    average of the powers of A.
    """
    chains = markov.draw_chains(int(rng.integers(3, 6)), 8, rng)
    A = chains[markov.structure(chains).irreducible.argmax()]
    if not markov.structure(A).irreducible:
        A = np.roll(np.eye(len(A)), 1, axis=1)
    K, column = len(A), int(rng.integers(len(A)))
    M, r = np.eye(K) - A, np.zeros(K)
    M[:, column], r[column] = 1, 1
    return Sides(truth=markov.average_limit(A)[0], printed=np.linalg.solve(M.T, r))


@equation(
    "17.29, 17.30",
    section="17.2.3",
    latex=r"\pi_i A_{ij} = \pi_j A_{ji} \;\Rightarrow\; \boldsymbol{\pi} = \mathbf{A}"
    r" \boldsymbol{\pi}",
    corrected=r"\pi_i A_{ij} = \pi_j A_{ji} \;\Rightarrow\; \boldsymbol{\pi} = \boldsymbol{\pi}"
    r" \mathbf{A}",
    cause="product-from-the-wrong-side",
)
def detailed_balance_is_stationary(rng: Generator) -> Sides:
    """A distribution with detailed balance is stationary: the row pi times A is pi."""
    K = int(rng.integers(2, 7))
    flow = rng.uniform(size=(K, K))
    flow = flow + flow.T
    pi, A = flow.sum(1) / flow.sum(), flow / flow.sum(1, keepdims=True)
    return Sides(truth=pi, printed=A @ pi, corrected=pi @ A)
