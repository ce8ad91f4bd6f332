"""Equations of MLAPP 19.5.7, iterative proportional fitting of tables and of Gaussians."""

from itertools import combinations

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.graphs import proportional_fitting as ipf
from bythebook.models.types import Floats


def _decomposable(rng: Generator) -> tuple[list[ipf.Clique], int]:
    """The cliques of a decomposable graph: each new one shares some variables of one before."""
    found = [tuple(range(int(rng.integers(1, 4))))]
    N = len(found[0])
    for _ in range(int(rng.integers(1, 4))):
        old = found[rng.integers(len(found))]
        shared = rng.choice(old, int(rng.integers(0, len(old))), replace=False)
        new = range(N, N + int(rng.integers(1, 3)))
        if N + len(new) > 6:
            break
        N += len(new)
        found.append(tuple(sorted([*map(int, shared), *new])))
    return found, N


def _table(rng: Generator, N: int) -> Floats:
    return ipf.normalised(rng.gamma(1.0, size=(1, *[2] * N)) + 0.01, N)


@equation(
    "19.60, section 19.5.7.2",
    section="19.5.7.2",
    latex=r"\psi_c^{t+1} = \psi_c^t \times"
    r" \frac{p_{\text{emp}}(\mathbf{y}_c)}{p(\mathbf{y}_c|\psi^t)}"
    r" \; \to \; \operatorname{argmax}_{\psi} \ell(\psi)",
    within=1e-7,
)
def proportional_fitting_converges(rng: Generator) -> Sides:
    """Iterative proportional fitting converges to the maximum that Newton's method finds."""
    N = int(rng.integers(3, 5))
    pairs = list(combinations(range(N), 2))
    of: list[ipf.Clique] = [pairs[k] for k in rng.permutation(len(pairs))[: rng.integers(2, 7)]]
    of += [(k,) for k in range(N)]
    target = _table(rng, N)
    wanted = [ipf.marginal(target, clique, N) for clique in of]
    p = np.full_like(target, 1 / target.size)
    for _ in range(400):
        for clique, goal in zip(of, wanted, strict=True):
            p = p * goal / ipf.marginal(p, clique, N)
    features = ipf.interactions(of, N).reshape(-1, 2**N)
    best = ipf.log_linear(features, ipf.newton(target.reshape(1, -1), features))
    return Sides(truth=best.ravel(), printed=p.ravel())


@equation(
    "section 19.5.7.4, one iteration",
    section="19.5.7.4",
    latex=r"p(\mathbf{y}_c|\psi^1) = p_{\text{emp}}(\mathbf{y}_c)"
    r" \; \text{for decomposable graphs}",
)
def one_sweep_suffices(rng: Generator) -> Sides:
    """On a decomposable graph one sweep matches the marginals of all cliques.

    The cliques come in a random order in which each is linked with those before, as in a tree.
    """
    of, N = _decomposable(rng)
    target = _table(rng, N)
    p = np.full_like(target, 1 / target.size)
    for clique in of:
        p = p * ipf.marginal(target, clique, N) / ipf.marginal(p, clique, N)
    return Sides(
        truth=np.concatenate([ipf.marginal(target, clique, N).ravel() for clique in of]),
        printed=np.concatenate([ipf.marginal(p, clique, N).ravel() for clique in of]),
    )


@equation(
    "19.61",
    section="19.5.7.4",
    latex=r"\hat{\psi}_c(\mathbf{y}_c = k)"
    r" = \frac{1}{N} \sum_{i=1}^N \mathbb{I}(\mathbf{y}_{i,c} = k)",
    corrected=r"\prod_c \hat{\psi}_c \Big/ \prod_s \hat{\psi}_s",
    cause="separators-left-in",
    within=1e-7,
)
def potentials_in_closed_form(rng: Generator) -> Sides:
    """The maximum likelihood estimate on a decomposable graph, from frequencies of its cliques.

    The reference is Newton's method. The corrected form divides by the frequencies of separators.
    """
    of, N = _decomposable(rng)
    while len(of) < 2 or not any(set(a) & set(b) for a, b in combinations(of, 2)):
        of, N = _decomposable(rng)
    target = _table(rng, N)
    features = ipf.interactions(of, N).reshape(-1, 2**N)
    best = ipf.log_linear(features, ipf.newton(target.reshape(1, -1), features))
    forms = ipf.closed_form(target, ipf.perfect_order(of) or [], N)
    return Sides(best.ravel(), forms.printed.ravel(), forms.corrected.ravel())


def _linked(rng: Generator) -> tuple[list[ipf.Clique], Floats]:
    """A decomposable graph with a separator, and the covariance of data."""
    of, N = _decomposable(rng)
    while len(of) < 2 or not any(set(a) & set(b) for a, b in combinations(of, 2)):
        of, N = _decomposable(rng)
    X = rng.normal(size=(10 * N, N)) @ (np.eye(N) + 0.4 * rng.normal(size=(N, N)))
    return of, np.asarray(np.cov(X.T, bias=True))


@equation(
    "section 19.5.7.3, Gaussians",
    section="19.5.7.3",
    latex=r"\mathbf{K}_{cc} \leftarrow \mathbf{K}_{cc} + \mathbf{S}_{cc}^{-1}"
    r" - (\mathbf{K}^{-1})_{cc}^{-1}",
    within=1e-7,
)
def gaussian_proportional_fitting(rng: Generator) -> Sides:
    """Proportional fitting of a Gaussian matches covariances in cliques, with zeros elsewhere."""
    N = int(rng.integers(3, 6))
    ring: list[ipf.Clique] = [tuple(sorted((k, (k + 1) % N))) for k in range(N)]
    of = ring if N > 3 and rng.random() < 0.5 else _linked(rng)[0]
    N = 1 + max(max(clique) for clique in of)
    X = rng.normal(size=(10 * N, N)) @ (np.eye(N) + 0.4 * rng.normal(size=(N, N)))
    S = np.cov(X.T, bias=True)
    K = ipf.gaussian_fit(S[None], of, 400)[0]
    linked = np.zeros((N, N), dtype=bool)
    for clique in of:
        linked[np.ix_(clique, clique)] = True
    covariance = np.linalg.solve(K, np.eye(N))
    return Sides(truth=np.where(linked, S, 0), printed=np.where(linked, covariance, K))


@equation(
    "19.62",
    section="19.5.7.4",
    latex=r"\hat{\Sigma}_c = \frac{1}{N} \sum_i (\mathbf{y}_{ic} - \hat{\mu}_c)"
    r" (\mathbf{y}_{ic} - \hat{\mu}_c)^T",
    corrected=r"\mathbf{K} = \sum_c \hat{\Sigma}_c^{-1} - \sum_s \hat{\Sigma}_s^{-1}",
    cause="separators-left-in",
    within=1e-7,
)
def gaussian_potentials_in_closed_form(rng: Generator) -> Sides:
    """The precision of the product of the cliques' Gaussians, with proportional fitting.

    The corrected form subtracts the precisions of the separators.
    """
    of, S = _linked(rng)
    forms = ipf.gaussian_closed_form(S[None], ipf.perfect_order(of) or [])
    return Sides(ipf.gaussian_fit(S[None], of, 5)[0], forms.printed[0], forms.corrected[0])
