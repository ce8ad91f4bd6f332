"""Every experiment: its claims come out as its file expects, and its study can be drawn."""

import os
from pathlib import Path

import pytest

from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import recorded_job
from experiments.contract import views
from experiments.contract.outcome import Outcome
from experiments.contract.vocabulary import VOCABULARY
from experiments.drawing import canvas, registry
from experiments.records.reading import read
from experiments.running.runner import perform_all
from models.data_sets.originals import ORIGINALS

NAMES = catalogue.names()
# What is computed in two ways, and meets to the last bit: a maximum, a bound that is tight.
REACHED = {"prml/9.4-incremental-em", "fcml/ex-7.1-7.3", "ghahramani/3-em-monotone"}
BOOK_DATA = os.environ.get("BOOK_DATA")
ON_ORIGINALS = [n for n in NAMES if ORIGINALS.keys() & set(experiment_job(n).study.data_sets())]
DRAWN = set({catalogue.read(name).study: name for name in NAMES}.values())  # one a study


@pytest.mark.parametrize("name", NAMES)
def test_it_comes_out_as_its_file_expects(name: str, tmp_path: Path) -> None:
    (done,) = perform_all([experiment_job(name)], tmp_path)
    assert done.record.finished, done.record["error"]
    record = read(done.record.folder)
    assert record.surprises == []
    assert len(record.verdicts) == len(experiment_job(name).claims)
    assert name in REACHED or repeated(record.outcome) == []
    assert not record.outcome.keys() & VOCABULARY.keys()  # a claim could not name it
    assert views.tables(record.outcome)
    if name in DRAWN:
        with canvas.style("screen"):
            figures = registry.figures(recorded_job(record.content).study, record.outcome)
            for figure in figures.values():
                figure.draw_without_rendering()
        assert figures


@pytest.mark.skipif(not BOOK_DATA, reason="the authors' original files are not here (BOOK_DATA)")
@pytest.mark.parametrize("name", ON_ORIGINALS)
def test_it_comes_out_as_its_file_expects_on_the_authors_data(name: str, tmp_path: Path) -> None:
    (done,) = perform_all([experiment_job(name, BOOK_DATA)], tmp_path)
    assert done.record.finished, done.record["error"]
    assert done.record.surprises == []


def repeated(outcome: Outcome) -> list[str]:
    """Scalars that stand in the outcome a second time; short numbers may meet by chance."""
    alone = {name: q.item for name, q in outcome.items() if not q.axes}
    return [
        f"{name} in {other}"
        for name, value in alone.items()
        if isinstance(value, float) and len(repr(value)) > 10 and abs(value) > 1e-9
        for other, quantity in outcome.items()
        if other != name and quantity.values.dtype.kind == "f" and (quantity.values == value).any()
    ]
