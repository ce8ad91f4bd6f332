"""Data sets: right rows, right sums, checked files, honest grades."""

import hashlib
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from bythebook.models import datasets
from bythebook.models.datasets import DataError, load, originals_in

BYTHEBOOK_DATA = os.environ.get("BYTHEBOOK_DATA")


@pytest.mark.parametrize("name", datasets.names())
def test_a_data_set_loads_with_provenance(name: str) -> None:
    data = load(name)
    assert data.origin
    assert len(data.sha256) == 64
    assert data.grade in datasets.GRADES
    assert min(data.content.shape) > 0
    assert all(np.isfinite(array).all() for array in data.content.arrays)
    assert not any(array.flags.writeable for array in data.content.arrays)


def test_the_olympic_tables_have_the_printed_averages() -> None:
    # FCML Table 1.2: the 27-row table with the games of 1906, not the 28-row file of later years.
    year, time = load("olympics-100m-men").xt
    assert len(year) == 27
    assert 1906 in year
    assert round(float(year.mean()), 2) == 1952.37
    assert round(float((year * time).mean()), 1) == 20268.1
    # FCML Table 1.3
    year, time = load("olympics-100m-women").xt
    assert len(year) == 19
    assert round(float(time.mean()), 2) == 11.22


def test_old_faithful_is_the_set_of_272() -> None:
    data = load("old-faithful").matrix
    assert data.shape == (272, 2)
    # R's `faithful`: column means 3.487783 and 70.89706
    assert data.mean(axis=0) == pytest.approx([3.487783, 70.89706], rel=1e-6)


def test_the_coin_tosses_have_the_printed_counts() -> None:
    columns = load("coin-tosses").columns
    heads = [int(columns["head"][columns["customer"] == c].sum()) for c in range(3)]
    assert heads == [9, 6, 8]  # FCML 3.1.1, 3.3.1


def test_the_curve_fitting_set_gives_the_cubic_of_prml_table_1_1() -> None:
    x, t = load("curve-fitting").xt
    w = np.polynomial.Polynomial.fit(x, t, 3, domain=[0, 1], window=[0, 1]).coef
    assert np.round(w, 2).tolist() == [0.31, 7.99, -25.43, 17.37]


def test_loaded_arrays_cannot_be_changed_by_one_user_for_all() -> None:
    x, _ = load("olympics-100m-men").xt
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 0


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(DataError, match=r"no data set 'olympics'; there are: coin-tosses"):
        load("olympics")


def test_names_can_be_restricted_to_a_kind_of_data() -> None:
    assert "newsgroups" in datasets.names(kind="table")
    assert "newsgroups" not in datasets.names(kind="regression")
    assert datasets.names(kind="text") == ["mlapp-darwin"]
    ways = ("table", "images", "graph", "text")
    stored = [name for kind in ways for name in datasets.names(kind=kind)]
    assert sorted(stored) == datasets.names()  # each is kept in one way
    for use in ("regression", "points", "classes"):
        assert set(datasets.names(kind=use)) < set(datasets.names(kind="table"))
    with pytest.raises(DataError, match="no kind of data 'tabel'; there are: table, regression"):
        datasets.names(kind="tabel")


def test_a_classes_table_ends_in_few_whole_numbers() -> None:
    for name in datasets.names(kind="classes"):
        t = load(name).matrix[:, -1]
        assert len(np.unique(t)) <= 10
        np.testing.assert_array_equal(t, np.round(t))


def test_without_the_original_a_stand_in_is_named_as_one() -> None:
    data = load("fcml-kmeans")
    assert data.grade == "stand-in"
    assert "in place of" in data.origin
    assert data.sha256 == hashlib.sha256(data.matrix.tobytes()).hexdigest()


def test_a_wrong_original_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fcml" / "kmeansdata" / "X.csv"
    path.parent.mkdir(parents=True)
    path.write_text("1,2\n3,4\n")
    with originals_in(tmp_path), pytest.raises(DataError, match="damaged or not the right one"):
        load("fcml-kmeans")


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a folder"), originals_in(tmp_path / "nowhere"):
        pass


@pytest.mark.skipif(
    not BYTHEBOOK_DATA, reason="the authors' original files are not here (BYTHEBOOK_DATA)"
)
def test_the_original_is_used_where_it_is(tmp_path: Path) -> None:
    assert BYTHEBOOK_DATA is not None
    shutil.copytree(Path(BYTHEBOOK_DATA) / "fcml" / "kmeansdata", tmp_path / "fcml" / "kmeansdata")
    with originals_in(tmp_path):
        data = load("fcml-kmeans")
    assert (data.grade, data.matrix.shape) == ("original", (100, 2))
    assert load("fcml-kmeans").grade == "stand-in"  # outside the block


def test_the_stand_ins_of_fcml_have_the_character_the_text_describes() -> None:
    squared = np.square(load("fcml-rings").matrix).sum(axis=1)
    assert ((squared < 0.5) | ((squared > 1) & (squared < 2))).all()
    votes, party = load("fcml-votes").matrix, load("fcml-votes-party").matrix[:, 0]
    assert votes.shape[1] == len(party)
    assert set(np.unique(votes)) == {-1.0, 0.0, 1.0}


@pytest.mark.skipif(
    not BYTHEBOOK_DATA, reason="the authors' original files are not here (BYTHEBOOK_DATA)"
)
def test_the_parties_of_1997() -> None:
    with originals_in(BYTHEBOOK_DATA):
        party = load("fcml-votes-party").matrix[:, 0]
        assert load("fcml-votes").matrix.shape == (1273, 678)
    # Lab, Con, LDem, SNP, PC, DUP, SDLP, UUP, others
    assert np.bincount(party.astype(int)).tolist() == [429, 166, 48, 6, 5, 3, 3, 10, 8]


def test_only_a_stand_in_for_an_absent_original_is_drawn() -> None:
    drawn = [name for name in datasets.names() if datasets.is_drawn(name)]
    for name in datasets.names():
        with originals_in(None, draw=1):
            other = load(name).sha256
        if name not in drawn:
            assert other == load(name).sha256, name
    assert "olympics-100m-men" not in drawn
    assert len(drawn) > 3


def test_by_default_a_folder_has_the_stand_ins_that_there_are_without_it(tmp_path: Path) -> None:
    plain = load("fcml-kmeans").sha256
    with originals_in(tmp_path):
        assert load("fcml-kmeans").sha256 == plain
    with originals_in(None, draw=1):
        assert load("fcml-kmeans").sha256 != plain
        with originals_in(None):
            assert load("fcml-kmeans").sha256 == plain
