"""Content of a data set (table, images, graph or text) and its provenance."""

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from bythebook.models.types import AnyArray, Floats, Ints

BOOK, ORIGINAL, STANDIN = GRADES = ("book", "original", "stand-in")

# The kind of content and, for a table, the roles of its columns.
TABLE, IMAGES, GRAPH, TEXT = "table", "images", "graph", "text"
REGRESSION = "regression"  # the first column is the input, the last the target
POINTS = "points"  # every column is a coordinate
CLASSES = "classes"  # attributes, and the class in the last column
KINDS = (TABLE, REGRESSION, POINTS, CLASSES, IMAGES, GRAPH, TEXT)


class DataError(ValueError):
    """A data file is missing, damaged or not the expected file."""


class Table(NamedTuple):
    """Columns by name, all of one length."""

    columns: dict[str, Floats]

    @property
    def arrays(self) -> list[AnyArray]:
        return list(self.columns.values())

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.arrays[0]), len(self.columns)

    @property
    def as_bytes(self) -> bytes:
        return np.column_stack(self.arrays).tobytes()


class Images(NamedTuple):
    """Images of one size, the first row at the top."""

    pixels: Floats  # (N, height, width) 0 is the background
    labels: Ints  # (N,) the class of each; empty if unknown

    @property
    def arrays(self) -> list[AnyArray]:
        return [self.pixels, self.labels]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.pixels.shape

    @property
    def as_bytes(self) -> bytes:
        return self.pixels.tobytes() + self.labels.tobytes()


class Graph(NamedTuple):
    """A directed graph."""

    nodes: tuple[str, ...]
    links: Ints  # (L, 2) from, to

    @property
    def G(self) -> Floats:
        """G[i, j] = 1 where node j has a link to node i (MLAPP 17.2.4), (N, N)."""
        matrix = np.zeros((len(self.nodes), len(self.nodes)))
        matrix[self.links[:, 1], self.links[:, 0]] = 1.0
        return matrix

    @property
    def arrays(self) -> list[AnyArray]:
        return [self.links]

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.nodes), len(self.links)

    @property
    def as_bytes(self) -> bytes:
        return "\n".join(self.nodes).encode() + self.links.tobytes()


class Text(NamedTuple):
    """A text; its lines end in a newline, independently of the file's line ends."""

    characters: str

    @property
    def arrays(self) -> list[AnyArray]:
        return []

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.characters),)

    @property
    def as_bytes(self) -> bytes:
        return self.characters.encode()


Content = Table | Images | Graph | Text
C = TypeVar("C", Table, Images, Graph, Text)
_CALLED = {Table: "a table", Images: "images", Graph: "a graph", Text: "a text"}


@dataclass(frozen=True)
class DataSet:
    """The content of a data set, and its provenance."""

    name: str
    content: Content
    grade: str  # book, original or stand-in
    origin: str
    sha256: str
    licence: str = ""  # of a public set that is part of the package

    @property
    def columns(self) -> dict[str, Floats]:
        """The columns of a table by name."""
        return self._held(Table).columns

    @property
    def matrix(self) -> Floats:
        """One row per case, shape (N, D): all columns side by side, or the pixels of each image."""
        if isinstance(self.content, Images):
            return self.content.pixels.reshape(len(self.content.pixels), -1)
        return np.column_stack(list(self.columns.values()))

    @property
    def xt(self) -> tuple[Floats, Floats]:
        """Input and target of a regression set: the first and the last column."""
        columns = list(self.columns.values())
        return columns[0], columns[-1]

    @property
    def images(self) -> Images:
        """The images, and their classes."""
        return self._held(Images)

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._held(Graph)

    @property
    def text(self) -> str:
        """The whole text."""
        return self._held(Text).characters

    def _held(self, kind: type[C]) -> C:
        if not isinstance(self.content, kind):
            found = _CALLED[type(self.content)]
            raise DataError(f"the data set {self.name} is {found}, not {_CALLED[kind]}")
        return self.content
