"""PageRank of large random webs, against networkx and a power iteration with SciPy's matrices.

All start from equal ranks and end when no rank changes by more than a small fraction of the mean,
so they take the same number of steps. Each function starts from its own input: links or a graph.
networkx needs too much memory for the large web; its time on a smaller web is scaled with the size.
"""

from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import page
from benchmarks.case import Case, Contest
from bythebook.models.chains.page_rank import Web, settle
from bythebook.models.types import Floats, Ints

P, LINKS, REST = 0.85, 10, 1e-6  # LINKS per page; REST is a fraction of the mean rank


def _links(pages: int) -> Ints:
    """Ten links per page, most of them to few pages; one page in 20 has no links."""
    rng = np.random.default_rng(0)
    source = rng.integers(pages, size=LINKS * pages)
    to = (pages * rng.random(len(source)) ** 3).astype(np.int64)
    key = np.unique((source * pages + to)[source % 20 > 0])
    return np.column_stack([key // pages, key % pages])


def _ours(links: Ints, pages: int) -> dict[str, Any]:
    return {"rank": settle(Web(links, pages), P, REST / pages)[0]}


def against_networkx(pages: int) -> Contest:
    """The graph is built before the timing."""
    import networkx as nx

    links = _links(pages)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(pages))
    graph.add_edges_from(links.tolist())

    def peer() -> dict[str, Any]:
        # networkx stops when the changes of all pages sum to less than `tol` times their number.
        rank = nx.pagerank(graph, P, tol=REST / pages / 10, max_iter=1000)
        return {"rank": np.array([rank[k] for k in range(pages)])}

    why = "Both end at a millionth of the mean rank."
    return Contest(lambda: _ours(links, pages), peer, tolerance=1e-5, why=why)


def _plain(links: Ints, pages: int) -> Floats:
    """A power iteration with SciPy: a sparse transition matrix and two corrections."""
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
    """Both functions start from the links."""
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
