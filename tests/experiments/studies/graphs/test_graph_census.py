"""The census of three nodes, by hand."""

from collections.abc import Callable

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.graph_census import GraphCensus

Run = Callable[..., Outcome]


def test_three_nodes(run: Run) -> None:
    found = run(GraphCensus([3]))
    assert found["undirected_count"].sel(M=3).item == 8
    assert found["directed_count"].sel(M=3).item == 25
    # A chain is stated by three directed graphs, a triangle by six, the graph without links by one.
    alike = found["directed_alike"]
    assert [alike.sel(graph=g).item for g in ("1-2 2-3", "1-2 1-3 2-3", "none")] == [3, 6, 1]
    assert found["chordal"].values.all()
    assert not found["ring"].values.any()
    assert found["is_tree"].values.sum() == 3
    assert found["directed_unmonotone"].sel(M=3).item == 3
