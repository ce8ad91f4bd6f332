"""A grid of cells that says how many of its jobs were made."""

from typing import Any

import pytest

from experiments.configuration.build import Template, experiment_job
from experiments.configuration.jobs import Job
from experiments.sweeping.expand import Block, Grid


class Counted(Template):
    """A template of one study that says how many jobs were made from it."""

    def __init__(self) -> None:
        self.made = 0

    def job(self, changes: Any = None) -> Job:
        self.made += 1
        return Job(experiment_job("fcml/fig-1.15").study, seed=int(changes["seed"]))


@pytest.fixture
def counted() -> type[Counted]:
    return Counted


@pytest.fixture
def knobs() -> dict[str, list[str]]:
    return {"study.folds": ["2", "5"], "seed": ["0", "1", "2"]}


@pytest.fixture
def grid(knobs: dict[str, list[str]]) -> Grid:
    """Two configurations, each with all combinations of the knobs."""
    axes = [[(knob, text, text) for text in values] for knob, values in knobs.items()]
    blocks = [Block(Counted(), {"data.dir": folder}, axes) for folder in ("a", "b")]
    return Grid(blocks, ["data.dir", *knobs])
