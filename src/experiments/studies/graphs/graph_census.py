"""All graphs of a few nodes and the independences that they state (PRML 8.3.4; MLAPP 19.2)."""

from collections.abc import Mapping
from dataclasses import dataclass

from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.census import (
    copies,
    derived,
    directed_graphs,
    directed_stating,
    global_statements,
    is_ring,
    is_tree,
    local_statements,
    pairwise_statements,
    shapes,
    undirected_stating,
    unmonotone,
)
from bythebook.models.graphs.independence import dependence
from bythebook.models.graphs.structure import Undirected, is_chordal, links


@dataclass
class GraphCensus(Study):
    """Counts and independences of all directed and undirected graphs over few nodes (PRML 8.3.4).

    For the largest number of nodes: undirected graphs with a directed graph that states the same
    independences, and for each shape the implications between Markov properties.
    """

    headline = {"graphs": "max(directed_count)"}
    quantities = {
        "undirected_count": quantity(
            "number of undirected graphs with different independences", "M"
        ),
        "directed_count": quantity("number of directed graphs without cycles", "M"),
        "directed_unmonotone": quantity(
            "number of independences of directed graphs that one more given node removes", "M"
        ),
        "chordal": quantity("whether the graph is chordal", "graph"),
        "is_tree": quantity("whether the graph is a tree", "graph"),
        "ring": quantity("whether the graph is one cycle", "graph"),
        "directed_alike": quantity(
            "number of directed graphs with the same independences", "graph"
        ),
        "global_count": quantity("independences by the global Markov property", "shape"),
        "local_count": quantity("independences by the local Markov property", "shape"),
        "pairwise_count": quantity("independences by the pairwise Markov property", "shape"),
        "local_reached": quantity("local independences that are global ones", "shape"),
        "pairwise_reached": quantity(
            "pairwise independences that follow from the local ones", "shape"
        ),
        "positive_reached": quantity(
            "global independences that follow from the pairwise ones in positive densities",
            "shape",
        ),
        "copies_pairwise": quantity("dependence of two copies of a coin given all other copies"),
        "copies_global": quantity("dependence of two copies of a coin"),
    }
    axes = {
        "M": axis_of("number of nodes"),
        "graph": axis_of("links of an undirected graph"),
        "shape": axis_of("links of a graph without names of nodes"),
    }

    nodes: list[int] = knob([1, 2, 3, 4], "M, how many", at_least=1, at_most=4, distinct=True)

    def run(self, rng: Generator) -> Outcome:
        sizes, most = sorted(self.nodes), max(self.nodes)
        graphs, forms = undirected_stating(most), shapes(most)
        markov = [_markov(graph) for graph in forms]
        first, second = frozenset([0]), frozenset([1])
        return outcome(
            {
                "M": sizes,
                "graph": [link_text(graph) for graph in graphs.values()],
                "shape": [link_text(graph) for graph in forms],
            },
            undirected_count=("M", [len(undirected_stating(M)) for M in sizes]),
            directed_count=("M", [len(directed_graphs(M)) for M in sizes]),
            directed_unmonotone=(
                "M",
                [sum(unmonotone(g, M) for g in directed_graphs(M).values()) for M in sizes],
            ),
            chordal=("graph", [is_chordal(graph) for graph in graphs.values()]),
            is_tree=("graph", [is_tree(graph) for graph in graphs.values()]),
            ring=("graph", [is_ring(graph) for graph in graphs.values()]),
            directed_alike=("graph", [directed_stating(most)[said] for said in graphs]),
            **{name: ("shape", [row[name] for row in markov]) for name in markov[0]},
            copies_pairwise=dependence(copies(most), first, second, frozenset(range(2, most))),
            copies_global=dependence(copies(most), first, second, frozenset()),
        )


def link_text(graph: Undirected) -> str:
    """The links of a graph as a text such as "1-2 2-3"."""
    return " ".join(f"{i + 1}-{j + 1}" for i, j in links(graph)) or "none"


def _markov(graph: Undirected) -> Mapping[str, int]:
    """The number of independences by each Markov property, and how many follow from another."""
    everything = global_statements(graph)
    local, pairs = local_statements(graph), pairwise_statements(graph)
    return {
        "global_count": len(everything),
        "local_count": len(local),
        "pairwise_count": len(pairs),
        "local_reached": len(local & everything),
        "pairwise_reached": len(pairs & derived(local, positive=False)),
        "positive_reached": len(everything & derived(pairs, positive=True)),
    }
