"""All graphs of a few nodes and the independences that they state (PRML 8.3.4; MLAPP 19.2)."""

from collections.abc import Iterable
from dataclasses import dataclass

from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.census import (
    can_be_ordered,
    comes_back,
    copies,
    derived,
    directed_graphs,
    directed_stating,
    global_statements,
    is_ring,
    is_tree,
    local_statements,
    moralised,
    pairwise_statements,
    rewritten,
    rootings,
    shapes,
    undirected_stating,
    unmonotone,
)
from bythebook.models.graphs.independence import dependence
from bythebook.models.graphs.structure import Statement, Undirected, all_directed, is_chordal, links


@dataclass
class GraphCensus(Study):
    """Counts and independences of all directed and undirected graphs over few nodes (PRML 8.3.4).

    For the largest number of nodes: undirected graphs with a directed graph that states the same
    independences, trees of both types, moralisation against all undirected graphs, and for each
    shape the implications between Markov properties.
    """

    headline = {"graphs": "max(directed_count)"}
    more_quantities = True
    quantities = {
        "directed_count": quantity("number of directed graphs without cycles", "M"),
    }

    nodes: list[int] = knob([1, 2, 3, 4], "M, how many", at_least=1, at_most=4, distinct=True)
    draws: int = knob(5, "tables drawn on each tree", at_least=1, at_most=100)

    def run(self, rng: Generator) -> Outcome:
        some, most = sorted(self.nodes), max(self.nodes)
        sizes = axis("M", some)
        each = list(undirected_stating(most).values())
        return Outcome(
            undirected_count=sizes.of([len(undirected_stating(M)) for M in some]),
            directed_count=sizes.of([len(directed_graphs(M)) for M in some]),
            class_count=sizes.of([len(directed_stating(M)) for M in some]),
            order_disagrees=sizes.of([_disagreeing(M) for M in some]),
            undirected_unmonotone=sizes.of([_lost(M, undirected_stating(M)) for M in some]),
            directed_unmonotone=sizes.of([_lost(M, directed_graphs(M).values()) for M in some]),
            **_undirected(each, most),
            **self._trees([graph for graph in each if is_tree(graph)], rng),
            **_moral(most),
            **_markov(shapes(most)),
            copies_pairwise=_copies(most, rest=True),
            copies_global=_copies(most, rest=False),
        )

    def _trees(self, trees: list[Undirected], rng: Generator) -> dict[str, Quantity]:
        """Distributions on trees, rewritten with every root."""
        tree, draw = axis("tree", [link_text(graph) for graph in trees]), axis("draw", self.draws)
        found = [[rewritten(graph, rng) for _ in range(self.draws)] for graph in trees]
        return {
            "rooted_error": over(
                [[one.undirected_as_directed for one in row] for row in found], tree, draw
            ),
            "directed_tree_error": over(
                [[one.directed_as_undirected for one in row] for row in found], tree, draw
            ),
        }


def link_text(graph: Undirected) -> str:
    """The links of a graph as a text such as "1-2 2-3"."""
    return " ".join(f"{i + 1}-{j + 1}" for i, j in links(graph)) or "none"


def _disagreeing(M: int) -> int:
    """Number of directed graphs for which walks and orders disagree about cycles."""
    return sum(comes_back(graph) == can_be_ordered(graph) for graph in all_directed(M))


def _lost(M: int, said: Iterable[frozenset[Statement]]) -> int:
    return sum(unmonotone(one, M) for one in said)


def _undirected(each: list[Undirected], M: int) -> dict[str, Quantity]:
    """Recorded quantities of each undirected graph."""
    graph = axis("graph", [link_text(one) for one in each])
    twins = directed_stating(M)
    return {
        "chordal": graph.of([is_chordal(one) for one in each]),
        "is_tree": graph.of([is_tree(one) for one in each]),
        "ring": graph.of([is_ring(one) for one in each]),
        "directed_alike": graph.of([twins[said] for said in undirected_stating(M)]),
        "rootings": graph.of([rootings(one) for one in each]),
    }


def _moral(M: int) -> dict[str, Quantity]:
    """Links added and statements kept, by moralisation and at best, for each directed graph."""
    found = [moralised(graph) for graph in directed_graphs(M)]
    graph = axis("directed", len(found))
    return {
        "married_count": graph.of([one.married for one in found]),
        "fewest_added": graph.of([one.fewest for one in found]),
        "moral_kept": graph.of([one.kept for one in found]),
        "most_kept": graph.of([one.most for one in found]),
    }


def _markov(each: list[Undirected]) -> dict[str, Quantity]:
    """Number of statements of one Markov property that follow from another, by shape."""
    shape = axis("shape", [link_text(graph) for graph in each])
    found: dict[str, list[int]] = {}
    for graph in each:
        whole = global_statements(graph)
        local, pairs = local_statements(graph), pairwise_statements(graph)
        counts = {
            "global_count": len(whole),
            "local_count": len(local),
            "pairwise_count": len(pairs),
            "local_reached": len(local & whole),
            "pairwise_reached": len(pairs & derived(local, positive=False)),
            "positive_reached": len(whole & derived(pairs, positive=True)),
            "any_reached": len(whole & derived(pairs, positive=False)),
        }
        for name, count in counts.items():
            found.setdefault(name, []).append(count)
    return {name: shape.of(counts) for name, counts in found.items()}


def _copies(M: int, *, rest: bool) -> float:
    """Dependence of two copies of a coin, given all other copies or none."""
    given = frozenset(range(2, M)) if rest else frozenset[int]()
    return dependence(copies(M), frozenset([0]), frozenset([1]), given)
