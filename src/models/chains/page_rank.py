r"""PageRank: the stationary distribution of a surfer who follows links and sometimes jumps.

    M(i, j) = p G(i, j) / c_j + (1 - p) / n   and   1 / n where page j leads nowhere     MLAPP 17.34
    M = p G D + 1 z^T,    v = M v                                                         17.37

Links are pairs (from, to), each once. G D is sparse, so that the cost of a step is proportional to
the number of links. Equations are those of MLAPP 17.2.4.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import sparse

from bythebook.models.convergence import warn_not_converged
from bythebook.models.types import Floats, Ints


class Web:
    """Pages and the links between them."""

    def __init__(self, links: Ints, pages: int) -> None:
        self.links = np.asarray(links, dtype=np.int64).reshape(-1, 2)
        self.pages = pages
        self.out_links = np.bincount(self.links[:, 0], minlength=pages)
        self.nowhere = np.flatnonzero(self.out_links == 0)

    @cached_property
    def in_links(self) -> Ints:
        """The number of links to each page."""
        return np.bincount(self.links[:, 1], minlength=self.pages)

    @cached_property
    def GD(self) -> sparse.csr_array:
        """Column j: one over the links of page j, where they lead (17.35)."""
        source, to = self.links.T
        share = 1.0 / self.out_links[source]
        return sparse.csr_array((share, (to, source)), shape=(self.pages, self.pages))

    def z(self, p: float) -> Floats:
        """The chance of a jump to any one page, from each (17.36)."""
        return np.where(self.out_links > 0, (1 - p) / self.pages, 1 / self.pages)

    def step(self, v: Floats, p: float) -> Floats:
        """M v, without M (17.38)."""
        lost = (1 - p) / self.pages * v.sum() + p / self.pages * v[self.nowhere].sum()  # z^T v
        return np.asarray(p * (self.GD @ v) + lost)

    def matrix(self, p: float) -> Floats:
        """M, page by page as in (17.34)."""
        M = np.empty((self.pages, self.pages))
        linked = {(int(to), int(source)) for source, to in self.links}
        for i in range(self.pages):
            for j in range(self.pages):
                c = self.out_links[j]
                link = p * ((i, j) in linked) / c if c else 0.0
                M[i, j] = link + (1 - p) / self.pages if c else 1 / self.pages
        return M

    def with_link(self, source: int, to: int) -> "Web":
        """The same with one link more."""
        return Web(np.vstack([self.links, [source, to]]), self.pages)


class Powers(NamedTuple):
    """The iterates of the power method over T steps."""

    rank: Floats  # (n,) after the last
    change: Floats  # (T,) largest change of an entry in each
    error: Floats  # (T,) sum of absolute differences from the reference ranks


def solve(web: Web, p: float) -> Floats:
    """The stationary distribution: since z^T v is a number, (I - p G D)^-1 1 up to a factor."""
    if web.pages <= 1000:
        v = np.linalg.solve(np.eye(web.pages) - p * web.GD.toarray(), np.ones(web.pages))
    else:
        from scipy.sparse.linalg import spsolve

        v = spsolve(sparse.identity(web.pages, format="csc") - p * web.GD, np.ones(web.pages))
    return np.asarray(v / v.sum())


def iterates(web: Web, p: float, start: Floats | None = None) -> Iterator[Floats]:
    """The start, uniform by default, and the result of each step of the power method."""
    v = np.full(web.pages, 1 / web.pages) if start is None else start
    while True:
        yield v
        v = web.step(v, p)
        v = v / v.sum()


def powers(web: Web, p: float, steps: int, truth: Floats) -> Powers:
    """The power method from a uniform start, step by step."""
    course = iterates(web, p)
    v, changes, errors = next(course), [], []
    for _ in range(steps):
        before, v = v, next(course)
        changes.append(np.abs(v - before).max())
        errors.append(np.abs(v - truth).sum())
    return Powers(v, np.array(changes), np.array(errors))


def settle(
    web: Web, p: float, tolerance: float, start: Floats | None = None, most: int = 10_000
) -> tuple[Floats, int]:
    """The ranks once no entry changes by more than `tolerance`, and how many steps that took."""
    course = iterates(web, p, start)
    v = next(course)
    for k in range(1, most + 1):
        before, v = v, next(course)
        if np.abs(v - before).max() <= tolerance:
            return v, k
    warn_not_converged("The power method", iterations=most, tol=tolerance)
    return v, most


def surf(web: Web, p: float, steps: int, rng: Generator) -> Ints:
    """The pages (steps,) that one surfer visits, the first drawn uniformly.

    Between jumps the walk follows links, and a jump may lead to any page: the stretches from one
    jump to the next are independent, and are drawn simultaneously.
    """
    order = np.argsort(web.links[:, 0], kind="stable")
    targets, begins = web.links[order, 1], np.cumsum(web.out_links) - web.out_links
    found: list[Ints] = []
    left = steps
    while left > 0:
        stretches = int(left * (1 - p)) + 10
        page = rng.integers(web.pages, size=stretches)
        alive = np.arange(stretches)
        parts = [(alive, page)]
        while len(alive):
            onward = (web.out_links[page] > 0) & (rng.random(len(page)) < p)
            alive, page = alive[onward], page[onward]
            which = (rng.random(len(page)) * web.out_links[page]).astype(np.int64)
            page = targets[begins[page] + which]
            parts.append((alive, page))
        length = np.bincount(np.concatenate([who for who, _ in parts]), minlength=stretches)
        begin = np.cumsum(length) - length
        visits = np.empty(length.sum(), dtype=np.int64)
        for k, (who, pages) in enumerate(parts):
            visits[begin[who] + k] = pages
        found.append(visits[:left])
        left -= len(found[-1])
    return np.concatenate(found)


def draw_web(pages: int, rng: Generator) -> Web:
    """Links drawn one by one with some chance; some pages lead nowhere, some to themselves."""
    G = rng.random((pages, pages)) < rng.uniform(0.02, 0.4)
    G[rng.random(pages) < 0.2] = False  # rows: from
    return Web(np.argwhere(G), pages)


def with_farm(web: Web, target: int, size: int) -> Web:
    """Add new pages without incoming links, each with one link to the target."""
    new = np.arange(web.pages, web.pages + size)
    farm = np.column_stack([new, np.full(size, target)])
    return Web(np.vstack([web.links, farm]), web.pages + size)


def place(score: Floats | Ints, page: int) -> int:
    """The place of a page when all are ordered by score, 1 for the best."""
    return int((score > score[page]).sum()) + 1


class Influence(NamedTuple):
    """Pairs of pages that do not lead to a third one, each given a link to it in turn."""

    agrees: list[bool]  # the one of higher rank raises the third's rank by more
    same_out_links: list[bool]  # the two have as many links


def influence(web: Web, p: float) -> Influence:
    """All pairs of all targets."""
    rank = solve(web, p)
    linked = {(int(a), int(b)) for a, b in web.links}
    agrees, same = [], []
    for target in range(web.pages):
        others = [a for a in range(web.pages) if a != target and (a, target) not in linked]
        gain = {a: solve(web.with_link(a, target), p)[target] for a in others}
        for i, a in enumerate(others):
            for b in others[i + 1 :]:
                agrees.append(bool((rank[a] > rank[b]) == (gain[a] > gain[b])))
                same.append(bool(web.out_links[a] == web.out_links[b]))
    return Influence(agrees, same)
