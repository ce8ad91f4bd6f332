"""The content of a data set is available as its own kind, and as no other."""

import numpy as np
import pytest

from bythebook.models.data_sets.kinds import DataSet, Graph, Images, Table, Text
from bythebook.models.datasets import DataError, load


def held(content: Table | Images | Graph | Text) -> DataSet:
    return DataSet("a-set", content, "book", "nowhere", "0" * 64)


def test_the_wrong_kind_is_refused_by_name() -> None:
    with pytest.raises(DataError, match="mlapp-darwin is a text, not a table"):
        _ = load("mlapp-darwin").columns
    with pytest.raises(DataError, match="mlapp-darwin is a text, not a table"):
        _ = load("mlapp-darwin").matrix
    with pytest.raises(DataError, match="mlapp-letter-a is images, not a table"):
        _ = load("mlapp-letter-a").xt
    with pytest.raises(DataError, match="old-faithful is a table, not a text"):
        _ = load("old-faithful").text
    with pytest.raises(DataError, match="old-faithful is a table, not a graph"):
        _ = load("old-faithful").graph
    with pytest.raises(DataError, match="mlapp-harvard500 is a graph, not images"):
        _ = load("mlapp-harvard500").images


def test_a_row_of_the_matrix_is_an_image_line_by_line() -> None:
    pixels = np.arange(24.0).reshape(2, 3, 4)
    data = held(Images(pixels, np.array([7, 8])))
    assert data.matrix.tolist() == [list(range(12)), list(range(12, 24))]
    assert data.content.shape == (2, 3, 4)


def test_a_link_from_j_to_i_is_in_column_j() -> None:
    graph = Graph(("a", "b", "c"), np.array([[0, 2], [1, 1]]))
    assert graph.G.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert held(graph).content.shape == (3, 2)


def test_equal_bytes_are_equal_content() -> None:
    one = Graph(("a", "b"), np.array([[0, 1]]))
    assert one.as_bytes == Graph(("a", "b"), np.array([[0, 1]])).as_bytes
    assert one.as_bytes != Graph(("a", "b"), np.array([[1, 0]])).as_bytes
    assert one.as_bytes != Graph(("a", "c"), np.array([[0, 1]])).as_bytes
    labels = np.array([1])
    image = Images(np.ones((1, 2, 2)), labels)
    assert image.as_bytes != Images(np.ones((1, 2, 2)), labels + 1).as_bytes
