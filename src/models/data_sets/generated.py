"""Generated stand-ins for the authors' files of MLAPP and PRML: a web, a letter, a text, a pipe.

Each has the size and the character of the original, is drawn from its own random stream, and is
named as a stand-in wherever it is used. Those of FCML are in `bythebook.models.standins`.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.data_sets.kinds import Graph, Images, Text
from bythebook.models.standins import stream
from bythebook.models.types import AnyArray, Floats, Ints

# Six beams through a pipe of radius 1, read off the authors' file: three upright, three level.
_ABSCISSAE = np.array([0.83, 0.48, 0.17])
_HEIGHTS = np.array([-0.48, 0.0, 0.48])
_ALPHABET = " etaoinshrdlcumwfgypbvkjxqz"
_VOWELS = "aeiou"


def web(draw: int = 0) -> Graph:
    """MLAPP 17.2.4: a crawl of 500 pages that grows by preferential attachment."""
    N = 500
    nodes = tuple(f"http://www.example.org/{page:03d}" for page in range(N))
    return Graph(nodes, grown_links(N, stream(176, draw)))


def grown_links(pages: int, rng: np.random.Generator) -> Ints:
    """The links (L, 2), from and to, of a crawl that grows by preferential attachment.

    A page is found by a link from an earlier page; three in four have links themselves, to pages
    known by then, with probability proportional to the number of links of a page. The number of
    links to a page then has a tail like a power law, as in the authors' crawl, and as there a
    quarter of the pages have no outgoing links and every page has an incoming link.
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


def letter_a(_draw: int = 0) -> Images:
    """MLAPP chapter 19: a letter A of three strokes with round ends, 128 x 128, the letter 1."""
    grid = np.moveaxis(np.indices((128, 128)), 0, -1).astype(np.float64)  # row, column
    strokes = np.array([[[108, 16], [20, 70]], [[20, 70], [105, 104]], [[79, 36], [79, 92]]])
    distances = [_distance(grid, start, end) for start, end in strokes.astype(np.float64)]
    ink = np.min(distances, axis=0) <= 9.0
    return Images(ink[None].astype(np.float64), np.zeros(0, dtype=np.int64))


def _distance(grid: Floats, start: Floats, end: Floats) -> Floats:
    """The distance of each pixel from a line between two points."""
    along = end - start
    share = np.clip((grid - start) @ along / (along @ along), 0.0, 1.0)
    return np.asarray(np.linalg.norm(grid - start - share[..., None] * along, axis=-1))


class TextSource(NamedTuple):
    """A Markov chain over a blank and the letters."""

    alphabet: str
    start: Floats  # (27,) stationary
    transition: Floats  # (27, 27) row: the letter before

    @property
    def entropy_rate(self) -> float:
        """Bits per character: the sum of pi_i P_ij log2 1/P_ij."""
        P = self.transition
        return float(-self.start @ (P * np.log2(np.where(P > 0, P, 1.0))).sum(1))


def text_source() -> TextSource:
    """Blanks, vowels and consonants follow each other with stated probabilities.

    The choice among vowels or consonants does not depend on the letters before: the letter of rank
    r in English (e, t, a, ...) has a weight of 1 / (r + 2) in its group.
    """
    group = np.array([0 if c == " " else 1 if c in _VOWELS else 2 for c in _ALPHABET])
    groups = np.array([[0.0, 0.3, 0.7], [0.25, 0.1, 0.65], [0.2, 0.6, 0.2]])
    weight = 1 / (np.arange(len(_ALPHABET)) + 2.0)
    within = weight / np.bincount(group, weight)[group]
    A = np.vstack([groups.T - np.eye(3), np.ones(3)])
    shares = np.linalg.lstsq(A, np.array([0.0, 0.0, 0.0, 1.0]), rcond=None)[0]
    return TextSource(_ALPHABET, shares[group] * within, groups[group][:, group] * within)


def text(draw: int = 0) -> Text:
    """MLAPP 17.2.2: forty thousand words of a chain over letters, twelve words per line.

    The chain restarts at each blank, so the words can be drawn simultaneously; the end of a line
    represents a blank.
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


def oil_flow(part: int, draw: int = 0) -> Floats:
    """PRML appendix A: twelve measurements on a pipe with water, oil and gas, and the class.

    Each of six beams measures the length of its path through water and through oil. The three are
    mixed (class 1), in rings with the gas inside and the water outside (2), or in layers (3). Their
    shares are Dirichlet(2, 2, 2), and the noise of a beam is Gaussian and takes from the oil what
    it gives to the water: both as in the authors' file, whose noise is that of counted photons.
    """
    rng = stream([11, part], draw)
    N = 1000
    shares = rng.dirichlet([2.0, 2.0, 2.0], N)  # of water, oil, gas
    t = rng.integers(1, 4, N)
    configurations = np.stack([_mixed(shares), _rings(shares), _layers(shares)])
    noise = 0.05 * rng.standard_normal((N, 6))
    return np.column_stack([configurations[t - 1, np.arange(N)] + _beams(noise, -1.2 * noise), t])


def _mixed(shares: Floats) -> Floats:
    chords = 2 * _half_chord(1.0, np.concatenate([_ABSCISSAE, _HEIGHTS]))
    return _beams(shares[:, :1] * chords, shares[:, 1:2] * chords)


def _rings(shares: Floats) -> Floats:
    offsets = np.concatenate([_ABSCISSAE, _HEIGHTS])
    gas = 2 * _half_chord(shares[:, 2:], offsets)
    liquid = 2 * _half_chord(1.0, offsets)
    oil_and_gas = 2 * _half_chord(shares[:, 1:].sum(1, keepdims=True), offsets)
    return _beams(liquid - oil_and_gas, oil_and_gas - gas)


def _layers(shares: Floats) -> Floats:
    h = np.linspace(-1, 1, 2001)
    below = 0.5 + (h * np.sqrt(1 - h**2) + np.arcsin(h)) / np.pi  # share of the disc below h
    top_of_water = np.interp(shares[:, :1], below, h)
    top_of_oil = np.interp(shares[:, :2].sum(1, keepdims=True), below, h)
    half = _half_chord(1.0, _ABSCISSAE)
    water, both = (np.clip(top, -half, half) + half for top in (top_of_water, top_of_oil))
    chord = 2 * _half_chord(1.0, _HEIGHTS)
    level_water, level_both = (chord * (top > _HEIGHTS) for top in (top_of_water, top_of_oil))
    return _beams(
        np.hstack([water, level_water]), np.hstack([both - water, level_both - level_water])
    )


def _half_chord(area: Floats | float, offset: Floats) -> Floats:
    """Half the chord at an offset from the centre of a disc with this share of the pipe."""
    return np.asarray(np.sqrt(np.maximum(area - offset**2, 0.0)))


def _beams(water: Floats, oil: Floats) -> AnyArray:
    """Water and oil alternately, beam by beam, (N, 12)."""
    return np.stack([water, oil], axis=-1).reshape(len(water), -1)
