"""What is lost when responsibilities become one label (FCML 6.3.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

from numpy.random import Generator

from experiments.contract.outcome import Outcome
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import numbered


@dataclass
class HardLabels(Study):
    """The responsibilities of one object, to be compared with its most probable component."""

    responsibilities: list[float] = knob([0.53, 0.45, 0.02], "q_nk of an object", at_least=0)

    def problems(self) -> Iterator[str]:
        if abs(sum(self.responsibilities) - 1) > 1e-9:
            yield f"study.responsibilities sum to {sum(self.responsibilities):g}; allowed: 1"

    def run(self, rng: Generator) -> Outcome:
        component = numbered("component", len(self.responsibilities))
        return Outcome(responsibility=component.of(self.responsibilities))
