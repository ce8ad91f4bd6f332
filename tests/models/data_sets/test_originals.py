"""The authors' files of MLAPP and PRML, where they are here (BYTHEBOOK_DATA)."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from bythebook.models.datasets import load, originals_in

BYTHEBOOK_DATA = os.environ.get("BYTHEBOOK_DATA", "")
pytestmark = pytest.mark.skipif(
    not BYTHEBOOK_DATA, reason="the authors' original files are not here (BYTHEBOOK_DATA)"
)


def test_the_crawl_of_harvard() -> None:
    with originals_in(BYTHEBOOK_DATA):
        data = load("mlapp-harvard500")
    assert data.grade == "original"
    graph = data.graph
    file = scipy.io.loadmat(Path(BYTHEBOOK_DATA) / "mlapp" / "harvard500.mat")
    np.testing.assert_array_equal(graph.G, file["G"].toarray())
    assert graph.nodes[0] == "http://www.harvard.edu"
    assert len(graph.nodes) == 500
    # Moler, Numerical Computing with MATLAB, 2.11: page rank .0843, 195 links in and 26 out
    assert graph.G[0].sum() == 195
    assert graph.G[:, 0].sum() == 26
    G = graph.G - np.diag(np.diag(graph.G))
    out = G.sum(0)
    M = 0.85 * G / np.where(out > 0, out, 1)
    rank = np.linalg.solve(np.eye(500) - M, np.ones(500))
    assert round(float(rank[0] / rank.sum()), 4) == 0.0843


def test_the_letter() -> None:
    with originals_in(BYTHEBOOK_DATA):
        data = load("mlapp-letter-a")
    assert data.grade == "original"
    grey = scipy.io.loadmat(Path(BYTHEBOOK_DATA) / "mlapp" / "letterA.mat")["A"]
    pixels = data.images.pixels[0]
    np.testing.assert_array_equal(pixels == 1, grey > grey.mean())
    assert set(np.unique(pixels)) == {0.0, 1.0}
    # much the same letter as the one drawn in its place
    assert np.mean(pixels == load("mlapp-letter-a").images.pixels[0]) > 0.9


def test_the_origin_of_species() -> None:
    with originals_in(BYTHEBOOK_DATA):
        data = load("mlapp-darwin")
    assert data.grade == "original"
    assert data.text.count("\n") == 20844  # wc: 20844 lines, 209249 words, 1286961 bytes
    assert len(data.text.split()) == 209249
    assert len(data.text) == 1286961 - 20844  # a carriage return a line
    assert "\r" not in data.text


@pytest.mark.parametrize(
    ("name", "part", "counts"),
    [
        ("prml-oil-flow", "Trn", [343, 316, 341]),
        ("prml-oil-flow-test", "Tst", [324, 363, 313]),
        ("prml-oil-flow-validation", "Vdn", [334, 325, 341]),
    ],
)
def test_the_oil_flow(name: str, part: str, counts: list[int]) -> None:
    with originals_in(BYTHEBOOK_DATA):
        data = load(name)
    assert (data.grade, list(data.columns)[-2:]) == ("original", ["x12", "t"])
    file = scipy.io.loadmat(Path(BYTHEBOOK_DATA) / "prml" / "oilFlow3Class.mat")
    np.testing.assert_array_equal(data.matrix[:, :12], file[f"Data{part}"])
    t = data.columns["t"]
    assert [int((t == c).sum()) for c in (1, 2, 3)] == counts
    # in a mixed flow every beam sees the shares of the whole: path = share x chord, share recorded
    mixed = t == 1
    shares = file[f"Data{part}Frctns"][mixed]
    water, oil = data.matrix[mixed, 8], data.matrix[mixed, 9]  # the level beam through the centre
    assert np.abs(np.stack([water, oil], axis=1) - 2 * shares).mean() < 0.06
    assert np.abs(np.stack([oil, water], axis=1) - 2 * shares).mean() > 0.3
