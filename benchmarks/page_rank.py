"""PageRank of large random webs, against networkx and a power iteration with SciPy's matrices.

All start uniform and end when no page's rank changes by more than a small part of the mean rank, so
that they take as many steps; both sides of a case begin with what they take: links, or a graph.
Memory keeps networkx to a smaller web, whose time is scaled with the number of pages.
"""

from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import page
from benchmarks.case import Case, Contest
from models.chains.page_rank import Web, settle
from models.types import Floats, Ints

P, LINKS, REST = 0.85, 10, 1e-6  # links a page; a part of the mean rank


def _links(pages: int) -> Ints:
    """Ten links a page, most of them to few pages; one page in twenty leads nowhere."""
    rng = np.random.default_rng(0)
    source = rng.integers(pages, size=LINKS * pages)
    to = (pages * rng.random(len(source)) ** 3).astype(np.int64)
    key = np.unique((source * pages + to)[source % 20 > 0])
    return np.column_stack([key // pages, key % pages])


def _ours(links: Ints, pages: int) -> dict[str, Any]:
    return {"rank": settle(Web(links, pages), P, REST / pages)[0]}


def against_networkx(pages: int) -> Contest:
    """The graph is there before the clock runs."""
    import networkx as nx

    links = _links(pages)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(pages))
    graph.add_edges_from(links.tolist())

    def peer() -> dict[str, Any]:
        # It ends when the changes of all pages sum up to `tol` times their number.
        rank = nx.pagerank(graph, P, tol=REST / pages / 10, max_iter=1000)
        return {"rank": np.array([rank[k] for k in range(pages)])}

    why = "Both end at a millionth of the mean rank."
    return Contest(lambda: _ours(links, pages), peer, tolerance=1e-5, why=why)


def _plain(links: Ints, pages: int) -> Floats:
    """A power iteration as one writes it with SciPy: a matrix of shares, and two corrections."""
    out = np.bincount(links[:, 0], minlength=pages)
    shares = sparse.coo_array(
        (1.0 / out[links[:, 0]], (links[:, 1], links[:, 0])), shape=(pages, pages)
    ).tocsr()
    nowhere = out == 0
    v = np.full(pages, 1 / pages)
    while True:
        new = P * (shares @ v + v[nowhere].sum() / pages) + (1 - P) / pages
        if np.abs(new - v).max() <= REST / pages:
            return np.asarray(new)
        v = new


def against_scipy(pages: int) -> Contest:
    """Both from the links."""
    links = _links(pages)
    return Contest(lambda: _ours(links, pages), lambda: {"rank": _plain(links, pages)})


CASES = [
    Case(
        "PageRank, links given",
        "networkx",
        20,
        against_networkx,
        size=100_000,
        unit="pages with ten links each",
        package="networkx",
        peer_size=20_000,
        rounds=3,
    ),
    Case(
        "PageRank, links given",
        "SciPy's sparse matrices",
        1,
        against_scipy,
        size=1_000_000,
        unit="pages with ten links each",
        package="scipy",
        sizes=(50_000, 100_000, 200_000, 400_000),
        rounds=3,
    ),
]


if __name__ == "__main__":
    results = [case.run() for case in CASES]
    print(page.comparison(results), page.growth(results), sep="\n\n")
