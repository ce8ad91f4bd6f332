"""Equations of MLAPP 17.2.4, PageRank."""

import numpy as np
from numpy.random import Generator
from scipy.linalg import eig

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.chains import page_rank as ranks
from bythebook.models.chains.page_rank import Web
from bythebook.models.types import Floats


def _case(rng: Generator) -> tuple[Web, float]:
    return ranks.draw_web(int(rng.integers(5, 13)), rng), rng.uniform(0.5, 0.95)


def _M(web: Web, p: float) -> Floats:
    """M entry by entry (17.34), from the links from j to i."""
    n = web.pages
    G = np.zeros((n, n))
    for source, to in web.links:
        G[to, source] = 1
    delta, c = (1 - p) / n, G.sum(0)
    M = np.empty((n, n))
    for i, j in np.ndindex(n, n):
        M[i, j] = p * G[i, j] / c[j] + delta if c[j] else 1 / n
    return M


@equation(
    "17.32, 17.34",
    section="17.2.4",
    latex=r"\pi_j = \sum_i A_{ij} \pi_i, \quad M_{ij} = p G_{ij} / c_j + \delta"
    r" \;\text{if}\; c_j \neq 0, \; 1 / n \;\text{if}\; c_j = 0, \quad \mathbf{M} = \mathbf{A}^T",
)
def rank_is_stationary(rng: Generator) -> Sides:
    """PageRank is the stationary distribution: the eigenvector of M with eigenvalue one."""
    web, p = _case(rng)
    values, vectors = eig(_M(web, p))
    leading = vectors[:, np.abs(values - 1).argmin()].real
    return Sides(truth=ranks.solve(web, p), printed=leading / leading.sum())


@equation(
    "17.35 to 17.37",
    section="17.2.4",
    latex=r"\mathbf{M} = p \mathbf{G} \mathbf{D} + \mathbf{1} \mathbf{z}^T",
)
def compact_transition_matrix(rng: Generator) -> Sides:
    """The transition matrix is a sparse matrix with a correction of rank one."""
    web, p = _case(rng)
    n, c = web.pages, web.out_links
    G = np.zeros((n, n))
    G[web.links[:, 1], web.links[:, 0]] = 1
    D = np.diag(np.where(c > 0, 1 / np.maximum(c, 1), 0))
    z = np.where(c > 0, (1 - p) / n, 1 / n)
    return Sides(truth=_M(web, p), printed=p * G @ D + np.ones((n, 1)) * z)


@equation(
    "17.38",
    section="17.2.4",
    latex=r"\mathbf{v} \propto \mathbf{M} \mathbf{v} ="
    r" p \mathbf{G} \mathbf{D} \mathbf{v} + \mathbf{1} \mathbf{z}^T \mathbf{v}",
)
def step_of_the_power_method(rng: Generator) -> Sides:
    """A step of the power method needs the sparse matrix only."""
    web, p = _case(rng)
    v = rng.dirichlet(np.ones(web.pages))
    printed = p * (web.GD @ v) + web.z(p) @ v
    return Sides(truth=_M(web, p) @ v, printed=printed)


@equation(
    "section 17.2.4, the power method",
    section="17.2.4",
    latex=r"\mathbf{v}_{k+1} = \mathbf{M} \mathbf{v}_k / \sum_i (\mathbf{M} \mathbf{v}_k)_i"
    r" \rightarrow \boldsymbol{\pi}^T",
    within=1e-8,
)
def limit_of_the_power_method(rng: Generator) -> Sides:
    """Repeated multiplication and normalisation converge to the leading eigenvector."""
    web, p = _case(rng)
    v, M = rng.dirichlet(np.ones(web.pages)), _M(web, p)
    for _ in range(600):
        v = M @ v
        v = v / v.sum()
    return Sides(truth=ranks.solve(web, p), printed=v)
