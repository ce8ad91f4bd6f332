"""The public sets that travel are the public sets."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bythebook.models import datasets
from bythebook.models.data_sets.embedded import EMBEDDED
from bythebook.models.datasets import load

PUBLIC = ["nile", "optical-digits", "optical-digits-binary", "pen-digits"]
FOLDER = Path(datasets.__file__).parent / "data"


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_set_says_whose_it_is_and_stands_in(name: str) -> None:
    data = load(name)
    assert data.licence in ("public domain", "CC BY 4.0")
    assert data.grade == "stand-in"  # no book's own
    assert "doi" in data.origin or name == "nile"


def test_every_file_that_travels_is_registered_and_all_are_small() -> None:
    found = {path.name: path.stat().st_size for path in FOLDER.iterdir() if path.is_file()}
    assert set(found) == {f"{name}.{entry.suffix}" for name, entry in EMBEDDED.items()}
    assert sum(found.values()) < 400_000


def test_the_nile_is_that_of_r() -> None:
    columns = load("nile").columns
    flow = columns["flow"]
    np.testing.assert_array_equal(columns["year"], np.arange(1871, 1971))
    # summary(Nile) in R: 456, 798.5, 893.5, 919.35, 1032.5, 1370
    found = [*np.quantile(flow, [0, 0.25, 0.5, 0.75, 1]), flow.mean()]
    assert found == pytest.approx([456, 798.5, 893.5, 1032.5, 1370, 919.35], abs=1e-9)
    assert (columns["year"][flow.argmin()], columns["year"][flow.argmax()]) == (1913, 1879)


def test_the_nile_is_that_of_statsmodels() -> None:
    nile = pytest.importorskip("statsmodels.datasets.nile")
    np.testing.assert_array_equal(load("nile").matrix, nile.load_pandas().data.to_numpy())


def test_the_optical_digits_are_those_of_scikit_learn() -> None:
    expected = pytest.importorskip("sklearn.datasets").load_digits()
    grey, binary = load("optical-digits").images, load("optical-digits-binary").images
    np.testing.assert_array_equal(grey.pixels, expected.images)
    np.testing.assert_array_equal(load("optical-digits").matrix, expected.data)
    np.testing.assert_array_equal(binary.pixels, expected.images / 16 > 0.5)
    for images in (grey, binary):
        np.testing.assert_array_equal(images.labels, expected.target)


def test_the_optical_digits_have_the_counts_of_uci() -> None:
    labels = load("optical-digits-binary").images.labels
    # optdigits.names, the classes of the test set
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_the_pen_digits_have_the_counts_and_the_rows_of_uci() -> None:
    columns = load("pen-digits").columns
    assert list(columns)[:3] == ["x1", "y1", "x2"]
    # pendigits.names, the classes of the training and of the test set
    train = np.array([780, 779, 780, 719, 780, 720, 720, 778, 719, 719])
    test = np.array([363, 364, 364, 336, 364, 335, 336, 364, 336, 336])
    digits = columns["digit"].astype(int)
    np.testing.assert_array_equal(np.bincount(digits), train + test)
    matrix = load("pen-digits").matrix
    rows = Counter(map(tuple, matrix.astype(int).tolist()))
    # the first line of pendigits.tra and that of pendigits.tes
    assert rows[47, 100, 27, 81, 57, 37, 26, 0, 0, 23, 56, 53, 100, 90, 40, 98, 8] == 1
    assert rows[88, 92, 2, 99, 16, 66, 94, 37, 70, 0, 0, 24, 42, 65, 100, 100, 8] == 1
    # every drawing was stretched until its larger side fills the range of 0 to 100
    points = matrix[:, :-1].reshape(-1, 8, 2)
    assert points.min() == 0
    np.testing.assert_array_equal(points.max(axis=(1, 2)), 100)
