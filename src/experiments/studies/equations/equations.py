"""Results that consist of printed equations, which the runner evaluates."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.study import Study


@dataclass
class Equations(Study):
    """Printed equations alone: there are no parameters, and no quantities are computed."""

    quantities: ClassVar = {}

    def run(self, rng: Generator) -> Outcome:
        return Outcome()
