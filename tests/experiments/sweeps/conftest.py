"""Fixtures: a grid of cells, and a job factory that counts its jobs."""

from typing import Any

import pytest

from bythebook.experiments.config.job import Job
from bythebook.experiments.config.validation import JobFactory, load_job
from bythebook.experiments.sweeps.grid import GridBlock, SweepGrid


class CountingFactory(JobFactory):
    """A job factory that counts the jobs it has created."""

    def __init__(self) -> None:
        self.n_jobs = 0

    def job(self, changes: Any = None) -> Job:
        self.n_jobs += 1
        return Job(load_job("fcml/fig-1.15").study, seed=int(changes["seed"]))


@pytest.fixture
def counting_factory() -> type[CountingFactory]:
    return CountingFactory


@pytest.fixture
def knobs() -> dict[str, list[str]]:
    return {"study.folds": ["2", "5"], "seed": ["0", "1", "2"]}


@pytest.fixture
def grid(knobs: dict[str, list[str]]) -> SweepGrid:
    """Two configurations, each with all combinations of the knobs."""
    axes = [[(knob, text, text) for text in values] for knob, values in knobs.items()]
    blocks = [GridBlock(CountingFactory(), {"data_dir": folder}, axes) for folder in ("a", "b")]
    return SweepGrid(blocks, ["data_dir", *knobs])
