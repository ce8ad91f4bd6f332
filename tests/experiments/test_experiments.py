"""Every result: its claims get the expected verdicts, and its figures can be drawn."""

import os
from pathlib import Path

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core import summaries
from bythebook.experiments.core.functions import FUNCTIONS
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.execution.runner import run_jobs
from bythebook.experiments.plotting import canvas
from bythebook.experiments.store import artifacts
from bythebook.experiments.store.run_reader import read_run
from bythebook.models.data_sets.originals import ORIGINALS

NAMES = catalogue.experiment_names()
# Results with quantities that two methods compute and that are equal bit for bit.
WITH_EQUAL_QUANTITIES = {"prml/9.4-incremental-em"}
BYTHEBOOK_DATA = os.environ.get("BYTHEBOOK_DATA")
ON_ORIGINALS = [n for n in NAMES if ORIGINALS.keys() & set(load_job(n).study.dataset_names())]
DRAWN = set(
    {catalogue.load_experiment(name).study: name for name in NAMES}.values()
)  # one per study


@pytest.mark.parametrize("name", NAMES)
def test_the_verdicts_are_as_expected(name: str, tmp_path: Path) -> None:
    (done,) = run_jobs([load_job(name)], tmp_path)
    assert done.record.finished, done.record["error"]
    record = read_run(done.record.folder)
    assert record.unexpected_verdicts == []
    assert len(record.verdicts) == len(load_job(name).claims)
    if catalogue.load_experiment(name).study == catalogue.EQUATIONS:
        return  # neither quantities nor figures
    assert name in WITH_EQUAL_QUANTITIES or repeated(record.outcome) == []
    assert not record.outcome.keys() & FUNCTIONS.keys()  # names that claims cannot use
    assert summaries.result_tables(record.outcome)
    if name in DRAWN or record.published.figures:
        with canvas.style("screen"):
            figures = artifacts.make_figures(record)
            for figure in figures.values():
                figure.draw_without_rendering()
        assert figures


@pytest.mark.skipif(not BYTHEBOOK_DATA, reason="needs the authors' files (BYTHEBOOK_DATA)")
@pytest.mark.parametrize("name", ON_ORIGINALS)
def test_the_verdicts_on_the_authors_data_are_as_expected(name: str, tmp_path: Path) -> None:
    (done,) = run_jobs([load_job(name, BYTHEBOOK_DATA)], tmp_path)
    assert done.record.finished, done.record["error"]
    assert done.record.unexpected_verdicts == []


def repeated(outcome: Outcome) -> list[str]:
    """Scalars that occur in another quantity; short numbers may be equal by chance."""
    scalars = {name: q.item for name, q in outcome.items() if not q.axes}
    return [
        f"{name} in {other}"
        for name, value in scalars.items()
        if isinstance(value, float) and len(repr(value)) > 10 and abs(value) > 1e-9
        for other, quantity in outcome.items()
        if other != name and quantity.values.dtype.kind == "f" and (quantity.values == value).any()
    ]
