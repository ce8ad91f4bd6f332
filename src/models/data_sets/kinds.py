"""What a data set may hold: a table, images, a graph or a text; and how it is known."""

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from models.types import AnyArray, Floats, Ints

BOOK, ORIGINAL, STANDIN = GRADES = ("book", "original", "stand-in")

# How a set is kept, and for a table what its columns may be used as.
TABLE, IMAGES, GRAPH, TEXT = "table", "images", "graph", "text"
REGRESSION = "regression"  # the first column is the input, the last the target
POINTS = "points"  # every column is a coordinate
CLASSES = "classes"  # attributes, and the class in the last column
KINDS = (TABLE, REGRESSION, POINTS, CLASSES, IMAGES, GRAPH, TEXT)


class DataError(ValueError):
    """A data file is missing, damaged or not what it should be."""


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
    """Pictures of one size, the first row at the top."""

    pixels: Floats  # (N, height, width) 0 is the background
    labels: Ints  # (N,) what each shows; empty where nobody says

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
    """A text; its lines end in a newline, whatever they end in on the disk."""

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
    """What a data set holds, and where it comes from."""

    name: str
    content: Content
    grade: str  # book, original or stand-in
    origin: str
    sha256: str
    licence: str = ""  # of a public set that travels with the package

    @property
    def columns(self) -> dict[str, Floats]:
        """The columns of a table by name."""
        return self._held(Table).columns

    @property
    def matrix(self) -> Floats:
        """A row a case, shape (N, D): all columns side by side, or the pixels of each image."""
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
        """The pictures, and what they show."""
        return self._held(Images)

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._held(Graph)

    @property
    def text(self) -> str:
        """The text, whole."""
        return self._held(Text).characters

    def _held(self, kind: type[C]) -> C:
        if not isinstance(self.content, kind):
            found = _CALLED[type(self.content)]
            raise DataError(f"the data set {self.name} is {found}, not {_CALLED[kind]}")
        return self.content
