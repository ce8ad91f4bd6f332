"""Study `graph_independence`: parsing of graphs, and invalid settings."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs._named import named
from bythebook.experiments.studies.graphs.graph_independence import GraphIndependence

Run = Callable[..., Outcome]


def test_graphs_are_read_as_written() -> None:
    fork = named("c -> a, c -> b, d")
    assert fork.nodes == ["c", "a", "b", "d"]
    assert fork.directed
    assert fork.graph == (frozenset(), frozenset([0]), frozenset([0]), frozenset())
    assert named("a - b").graph == (frozenset([1]), frozenset([0]))
    assert named("a -> c, b -> c").married == "a-b"
    assert named("a - c").married == ""


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"graphs": {"g": "a -> b, b -> c, c -> a"}, "statements": ["g: a, b"]}, "directed cycle"),
        ({"statements": ["tree: a, b"]}, "graphs fork, chain, collider"),
        ({"statements": ["fork: a, z"]}, "third of c, a, b"),
        ({"statements": ["fork: a"]}, "third of c, a, b"),
        ({"statements": ["fork: a, b | a"]}, "every node once"),
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        GraphIndependence(**changed)  # type: ignore[arg-type]


def test_a_chain_has_three_directed_graphs_and_one_undirected(run: Run) -> None:
    found = run(GraphIndependence({"g": "a - c, c - b"}, ["g: a, b | c", "g: a, b"], draws=3))
    assert found["directed_alike"].sel(small_graph="g").item == 3
    assert found["undirected_alike"].sel(small_graph="g").item == 1
    assert found["separated"].values.tolist() == [True, False]
    assert found["cliques"].sel(graph="g").item == "a c; b c"
    assert found["blanket"].sel(node="g: c").item == "a b"


def test_descriptions_of_graphs_and_nodes(run: Run) -> None:
    graphs = {"roots": "a -> d, b -> d, c -> d", "line": "a - b, b - c"}
    found = run(GraphIndependence(graphs, ["roots: a, b", "line: a, c | b"], draws=3))
    assert found["stated_count"].values.tolist() == [6, 1]
    assert found["moral_count"].values.tolist() == [0, 1]
    assert found["beyond"].coord("node").tolist()[4:] == ["line: a", "line: b", "line: c"]
    assert found["beyond"].values.max() <= 1e-12


def test_a_graph_of_more_than_four_nodes_is_not_compared(run: Run) -> None:
    found = run(GraphIndependence({"g": "a - b, b - c, c - d, d - e"}, ["g: a, c | b"], draws=2))
    assert "small_graph" not in found.axes
    assert found["within"].values.min() > 1e-9
