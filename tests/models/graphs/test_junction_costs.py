"""Rows of cliques, and the cost of the smallest by hand."""

from bythebook.models.graphs.junction_costs import CLIQUES, in_a_row, operations


def test_there_are_always_as_many_cliques_of_the_same_size() -> None:
    for size in (2, 3, 5):
        tree = in_a_row(size)
        assert [len(clique) for clique in tree.cliques] == [size] * CLIQUES
        assert tree.weight == (CLIQUES - 1) * (size - 1)


def test_operations_of_a_chain_by_hand() -> None:
    """Six tables over two nodes: potentials, ten messages, six beliefs, five separators."""
    potentials = 6 * (4 + 4)  # one times ones, times the factor
    messages = 2 * (4 + 2) + 8 * (4 + 4 + 2)  # the ends have received no message
    beliefs = 2 * (4 + 4) + 4 * (4 + 4 + 4)
    separators = 5 * (2 + 2)
    assert operations(2) == potentials + messages + beliefs + separators
