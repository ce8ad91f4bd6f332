r"""Iterative proportional fitting of tables and of Gaussians on graphs (MLAPP 19.5.7).

    psi_c <- psi_c p_emp(y_c) / p(y_c | psi)                                           MLAPP 19.60
    K_cc <- K_cc + inv(S_cc) - inv(Sigma_cc)                    the same for a Gaussian's precision

A table has an axis for each variable and any number of axes before them; a clique is a tuple of
variables' numbers. A graph is written as its cliques, `AB BC CD`.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from bythebook.models.convergence import warn_not_converged
from bythebook.models.types import Floats

Clique = tuple[int, ...]
TOLERANCE = 1e-9  # of the last Newton step


def cliques(graph: str) -> list[Clique]:
    """`AB BC` as (0, 1), (1, 2): variables in the order of their letters."""
    letters = sorted(set(graph) - {" "})
    return [tuple(sorted(letters.index(name) for name in word)) for word in graph.split()]


def graph_cliques(of: Sequence[Clique], variables: int) -> list[Clique]:
    """The largest sets of variables of which all pairs are linked: the cliques of the graph."""
    linked = {pair for clique in of for pair in combinations(clique, 2)}
    found = list[Clique]()
    for size in range(variables, 0, -1):
        for some in combinations(range(variables), size):
            whole = all(pair in linked for pair in combinations(some, 2))
            if whole and not any(set(some) <= set(larger) for larger in found):
                found.append(some)
    return found


def marginal(p: Floats, clique: Clique, variables: int) -> Floats:
    """The sum over all variables that are not in the clique; their axes stay, of length one."""
    others = tuple(k - variables for k in range(variables) if k not in clique)
    return np.asarray(p.sum(others, keepdims=True))


def product(potentials: Sequence[Floats], table: Floats) -> Floats:
    """The normalised product of potentials, over all variables."""
    p = np.ones_like(table)
    for psi in potentials:
        p = p * psi
    return p


def sweeps(target: Floats, of: Sequence[Clique], variables: int) -> Iterator[list[Floats]]:
    """The potentials after each sweep of Algorithm 19.2, beginning with ones.

    The target sums to one in each table of a batch; products of potentials do so after one update.
    """
    axes = tuple(range(-variables, 0))
    wanted = [marginal(target, clique, variables) for clique in of]
    potentials = [np.ones_like(goal) for goal in wanted]
    while True:
        yield list(potentials)
        for c, clique in enumerate(of):
            p = product(potentials, target)
            p = p / p.sum(axes, keepdims=True)
            potentials[c] = potentials[c] * wanted[c] / marginal(p, clique, variables)  # (19.60)


def normalised(p: Floats, variables: int) -> Floats:
    return np.asarray(p / p.sum(tuple(range(-variables, 0)), keepdims=True))


def margin_gaps(p: Floats, target: Floats, of: Sequence[Clique], variables: int) -> Floats:
    """Differences of the cliques' marginals, one after another, for each table of a batch."""
    gaps = [marginal(p - target, c, variables).reshape(len(p), -1) for c in of]
    return np.concatenate(gaps, axis=1)


def perfect_order(of: Sequence[Clique]) -> list[tuple[Clique, Clique]] | None:
    """Cliques with their separators: what each shares with all before it lies in one of these.

    The result is None if the graph is not decomposable, or these are not its cliques.
    """
    rest, order = list(of), list[tuple[Clique, Clique]]()
    while rest:
        seen = set().union(*(clique for clique, _ in order))
        clique = max(rest, key=lambda one: len(seen & set(one)))  # connected cliques come first
        shared = seen & set(clique)
        if order and not any(shared <= set(before) for before, _ in order):
            return None
        order.append((clique, tuple(sorted(shared))))
        rest.remove(clique)
    return order


class ClosedForms(NamedTuple):
    """Products of clique terms: as (19.61, 19.62) print them, and with separators."""

    printed: Floats
    corrected: Floats


def closed_form(target: Floats, order: Sequence[tuple[Clique, Clique]], N: int) -> ClosedForms:
    """The table whose potentials are frequencies of cliques, over those of separators or not."""
    above = below = np.ones_like(target)
    for clique, separator in order:
        above = above * marginal(target, clique, N)
        below = below * marginal(target, separator, N)
    return ClosedForms(normalised(above, N), normalised(above / below, N))


def _within(part: Floats, clique: Clique, N: int) -> Floats:
    """A matrix of a clique's own size, at its place among zeros."""
    whole = np.zeros((*part.shape[:-2], N, N))
    whole[..., np.array(clique)[:, None], np.array(clique)] = part
    return whole


def _inverse(S: Floats) -> Floats:
    return np.asarray(np.linalg.solve(S, np.eye(S.shape[-1])), dtype=np.float64)


def _block(S: Floats, clique: Clique) -> Floats:
    return np.asarray(S[..., np.array(clique)[:, None], np.array(clique)])


def gaussian_closed_form(S: Floats, order: Sequence[tuple[Clique, Clique]]) -> ClosedForms:
    """The precision of the product of the cliques' Gaussians, over those of separators or not."""
    N = S.shape[-1]
    printed = np.zeros_like(S)
    divided = np.zeros_like(S)
    for clique, separator in order:
        printed = printed + _within(_inverse(_block(S, clique)), clique, N)
        if separator:
            divided = divided + _within(_inverse(_block(S, separator)), separator, N)
    return ClosedForms(printed, printed - divided)


def gaussian_fit(S: Floats, of: Sequence[Clique], count: int) -> Floats:
    """The precision after some sweeps, from a diagonal one; S is the empirical covariance."""
    N = S.shape[-1]
    K = _within(1 / np.diagonal(S, axis1=-2, axis2=-1)[..., None] * np.eye(N), tuple(range(N)), N)
    for _ in range(count):
        for clique in of:
            Sigma = _inverse(K)
            new = _inverse(_block(S, clique)) - _inverse(_block(Sigma, clique))
            K = K + _within(new, clique, N)
    return np.asarray(K)


def interactions(of: Sequence[Clique], variables: int) -> Floats:
    """Features of binary tables: the product of signs over each subset of a clique, (F, 2, ...)."""
    parts = {part for c in of for size in range(1, len(c) + 1) for part in combinations(c, size)}
    signs = 2.0 * np.indices([2] * variables) - 1
    return np.array([np.prod(signs[list(part)], axis=0) for part in sorted(parts)])


def log_linear(features: Floats, theta: Floats) -> Floats:
    """p(y) ~ exp(theta' f(y)), for theta (..., F) and features (F, states)."""
    return np.asarray(softmax(theta @ features, axis=-1))


def newton(target: Floats, features: Floats, steps: int = 30) -> Floats:
    """Maximum likelihood of `log_linear` for targets (..., states), by damped Newton steps."""
    theta = np.zeros((*target.shape[:-1], len(features)))
    goal = target @ features.T
    for _ in range(steps):
        p = log_linear(features, theta)
        mean = p @ features.T
        H = (features * p[..., None, :]) @ features.T
        H = H - mean[..., :, None] * mean[..., None, :]
        move = np.linalg.solve(H, (goal - mean)[..., None])[..., 0]
        size = np.abs(move).max(-1, keepdims=True)
        theta = theta + move / np.maximum(size, 1.0)
        if size.max() < TOLERANCE:  # the step after this one would be less than rounding
            break
    else:
        fits = int((size >= TOLERANCE).sum())
        warn_not_converged("Newton's method", iterations=steps, tol=TOLERANCE, fits=fits)
    return theta


def scaling_passes(target: Floats, features: Floats, best: float, near: float, most: int) -> int:
    """Generalised iterative scaling of non-negative features: passes until within `near` of best.

    theta <- theta + ln(E_emp f / E_model f) / C, with a last feature that makes all sum to C.
    """
    C = features.sum(0).max()
    full = np.vstack([features, C - features.sum(0)])
    full = full[full.max(1) > 0]
    theta, goal = np.zeros(len(full)), full @ target
    for passes in range(1, most + 1):
        p = log_linear(full, theta)
        if best - target @ np.log(p) <= near:
            return passes
        theta = theta + np.log(goal / (full @ p)) / C
    warn_not_converged("iterative scaling", iterations=most, tol=near)
    return most


def gradient_passes(target: Floats, features: Floats, best: float, near: float) -> int:
    """Passes of a quasi-Newton search along the gradient until within `near` of the best."""
    from scipy.optimize import minimize

    gaps = list[float]()

    def loss(theta: Floats) -> tuple[float, Floats]:
        p = log_linear(features, theta)
        value = float(target @ np.log(p))
        gaps.append(best - value)
        return -value, features @ (p - target)

    minimize(loss, np.zeros(len(features)), jac=True, method="BFGS")
    reached = [k for k, gap in enumerate(gaps) if gap <= near]
    return reached[0] + 1 if reached else len(gaps)


def pair_features(variables: int) -> Floats:
    """Features of states 0 and 1: each variable and each pair's product; (F, states)."""
    y = np.indices([2] * variables).reshape(variables, -1)
    s, t = np.triu_indices(variables, 1)
    return np.vstack([y, y[s] * y[t]]).astype(float)
