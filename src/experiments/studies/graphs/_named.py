"""Graphs as an experiment file writes them: "a -> b, c -> b" or "a - b"."""

from collections.abc import Sequence
from typing import NamedTuple

from numpy.random import Generator

from bythebook.models.graphs.census import directed_stating, undirected_stating
from bythebook.models.graphs.independence import directed_joint, undirected_joint
from bythebook.models.graphs.structure import (
    Dag,
    Nodes,
    Statement,
    Undirected,
    blanket,
    d_separated,
    dag,
    links,
    moral,
    separated,
    skeleton,
    stated,
    stated_undirected,
    undirected,
)
from bythebook.models.types import Floats


class Named(NamedTuple):
    """A parsed graph such as "a -> b, c -> b" or "a - b", with its node names."""

    nodes: list[str]
    directed: bool
    graph: Dag | Undirected

    def set(self, some: Sequence[str]) -> Nodes:
        return frozenset(self.nodes.index(name) for name in some)

    def names_of(self, some: Nodes) -> str:
        return " ".join(sorted(self.nodes[i] for i in some))

    def separates(self, one: Nodes, other: Nodes, given: Nodes) -> bool:
        check = d_separated if self.directed else separated
        return check(self.graph, one, other, given)

    def near(self, node: int) -> Nodes:
        """The Markov blanket of a node; in an undirected graph, its neighbours."""
        return blanket(self.graph, node) if self.directed else self.graph[node]

    @property
    def linked(self) -> Undirected:
        """The graph itself, or the moral one of a directed graph."""
        return moral(self.graph) if self.directed else self.graph

    @property
    def joined(self) -> list[tuple[int, int]]:
        """The pairs that have a link or an arrow."""
        return links(skeleton(self.graph) if self.directed else self.graph)

    @property
    def married(self) -> str:
        """The links that the moral graph adds, such as "a-b c-d"."""
        if not self.directed:
            return ""
        new = set(links(self.linked)) - set(self.joined)
        return " ".join(sorted(self.names_of(frozenset(pair)).replace(" ", "-") for pair in new))

    def alike(self) -> tuple[int, int]:
        """Number of directed and undirected graphs on these nodes with the same independences."""
        M, own = len(self.nodes), self.statements()
        return directed_stating(M)[own], int(own in undirected_stating(M))

    def statements(self) -> frozenset[Statement]:
        """The independences of two nodes that the graph states."""
        return (stated if self.directed else stated_undirected)(self.graph)

    def moral_statements(self) -> frozenset[Statement]:
        """The same of the moral graph."""
        return stated_undirected(self.linked)

    def joint(self, K: int, rng: Generator) -> Floats:
        return (directed_joint if self.directed else undirected_joint)(self.graph, K, rng)


def named(text: str) -> Named:
    """Parse a graph from a text."""
    parts = [part.strip() for part in text.split(",")]
    pairs = [[end.strip() for end in part.replace("->", "-").split("-")] for part in parts]
    nodes = list(dict.fromkeys(name for pair in pairs for name in pair))
    ends = [(nodes.index(pair[0]), nodes.index(pair[1])) for pair in pairs if len(pair) == 2]
    directed = "->" in text
    return Named(nodes, directed, (dag if directed else undirected)(len(nodes), ends))
