"""Generated stand-ins for the authors' files of MLAPP: a web, a text.

Each has the size and the character of the original, is drawn from a stream of its own, and is named
as a stand-in wherever it is used. Those of FCML are in `models.standins`.
"""

from typing import NamedTuple

import numpy as np

from models.data_sets.kinds import Graph, Text
from models.standins import stream
from models.types import Floats, Ints

_ALPHABET = " etaoinshrdlcumwfgypbvkjxqz"
_VOWELS = "aeiou"


def web(draw: int = 0) -> Graph:
    """MLAPP 17.2.4: a crawl of 500 pages that grows by preferential attachment."""
    N = 500
    nodes = tuple(f"http://www.example.org/{page:03d}" for page in range(N))
    return Graph(nodes, grown_links(N, stream(176, draw)))


def grown_links(pages: int, rng: np.random.Generator) -> Ints:
    """The links (L, 2), from and to, of a crawl that grows by preferential attachment.

    A page is found by a link from a page before it; three in four have links of their own, to
    pages known by then, each as likely as the number of links it has. The number of links to a
    page then has a tail like a power law, as in the authors' crawl, and as there a quarter of the
    pages lead nowhere and none is without a link to it.
    """
    N = pages
    G = np.zeros((N, N), dtype=bool)  # G[i, j]: page j has a link to page i
    leads_on = rng.random(N) < 0.75
    leads_on[0] = True
    for page in range(N):
        if page:
            G[page, rng.choice(np.flatnonzero(leads_on[:page]))] = True
        if leads_on[page]:
            popular = np.maximum(G[: page + 1].sum(1), 1)
            links = rng.geometric(1 / 8)
            G[rng.choice(page + 1, links, p=popular / popular.sum()), page] = True
    to, source = np.nonzero(G)
    return np.column_stack([source, to]).astype(np.int64)


class TextSource(NamedTuple):
    """A Markov chain over a blank and the letters."""

    alphabet: str
    start: Floats  # (27,) stationary
    transition: Floats  # (27, 27) row: the letter before

    @property
    def entropy_rate(self) -> float:
        """Bits a character: the sum of pi_i P_ij log2 1/P_ij."""
        P = self.transition
        return float(-self.start @ (P * np.log2(np.where(P > 0, P, 1.0))).sum(1))


def text_source() -> TextSource:
    """Blanks, vowels and consonants follow each other with stated probabilities.

    Which vowel or consonant it is does not depend on what went before: the letter of rank r in
    English (e, t, a, ...) has a weight of 1 / (r + 2) among its like.
    """
    group = np.array([0 if c == " " else 1 if c in _VOWELS else 2 for c in _ALPHABET])
    groups = np.array([[0.0, 0.3, 0.7], [0.25, 0.1, 0.65], [0.2, 0.6, 0.2]])
    weight = 1 / (np.arange(len(_ALPHABET)) + 2.0)
    within = weight / np.bincount(group, weight)[group]
    A = np.vstack([groups.T - np.eye(3), np.ones(3)])
    shares = np.linalg.lstsq(A, np.array([0.0, 0.0, 0.0, 1.0]), rcond=None)[0]
    return TextSource(_ALPHABET, shares[group] * within, groups[group][:, group] * within)


def text(draw: int = 0) -> Text:
    """MLAPP 17.2.2: forty thousand words of a chain over letters, twelve words a line.

    The chain starts anew at each blank, so the words can be drawn side by side; the end of a line
    stands for a blank.
    """
    rng = stream(172, draw)
    source = text_source()
    cumulative = source.transition.cumsum(1)
    letters = np.zeros(40_000, dtype=np.int64)  # every word comes after a blank
    unfinished = np.arange(len(letters))
    drawn = []
    while len(unfinished):
        draws = rng.random(len(unfinished))
        step = (draws[:, None] >= cumulative[letters[unfinished], :-1]).sum(1)
        letters[unfinished] = step
        unfinished = unfinished[step > 0]
        drawn.append(letters.copy())
    rows = np.stack(drawn, axis=1)
    characters = np.array(list(source.alphabet))[rows]
    words = ["".join(row[: np.argmin(codes)]) for row, codes in zip(characters, rows, strict=True)]
    lines = (" ".join(words[i : i + 12]) for i in range(0, len(words), 12))
    return Text("\n".join(lines) + "\n")
