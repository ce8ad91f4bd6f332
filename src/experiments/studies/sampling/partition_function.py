"""A partition function from samples: directly, and through intermediate energies (PRML 11.6)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling.partition import Model, chained, direct

WAYS = ("carried", "restarted")


@dataclass
class PartitionFunction(Study):
    """Ratios of partition functions: direct and chained estimates for wells (PRML 11.6)."""

    headline = {"log_ratio": "mean(log_ratio['carried'])"}
    quantities = {
        "log_ratio": quantity(
            "log of an estimated ratio of partition functions", "way ratios steps repetition"
        ),
        "apparent_error": quantity(
            "standard error of the first ratio from its own samples", "way ratios steps repetition"
        ),
        "log_direct": quantity("log of a direct estimate of the ratio", "width samples repetition"),
        "exact_log_ratio": quantity("log of the exact ratio", "width"),
    }
    axes = {
        "way": axis_of("whether a chain is carried on or restarted for each ratio"),
        "ratios": axis_of("number of ratios"),
        "steps": axis_of("samples of all ratios"),
        "width": axis_of("width of the Gaussian"),
        "samples": axis_of("number of samples"),
        "repetition": axis_of("estimate"),
    }

    dimension: int = knob(8, "of the energies", at_least=1, at_most=50)
    depth: float = knob(4.0, "of the wells", above=0)
    widths: list[float] = knob([1.0, 2.0], "of the Gaussians", above=0, distinct=True)
    samples: list[int] = knob([100, 1000], "direct: draws", at_least=2, distinct=True)
    ratios: list[int] = knob([1, 8], "chained: how many", at_least=1, distinct=True)
    steps: list[int] = knob([512], "chained: samples in all", at_least=2, distinct=True)
    repetitions: int = knob(100, "estimates", at_least=2, at_most=10_000)

    def problems(self) -> Iterator[str]:
        if max(self.ratios) * 2 > min(self.steps):
            yield f"study.ratios={self.ratios}; allowed: two samples each, of {min(self.steps)}"
        if max(self.samples) * self.repetitions * self.dimension > 20_000_000:
            yield "study.samples times repetitions times dimension; allowed: <= 20000000"

    def run(self, rng: Generator) -> Outcome:
        models = [Model(self.dimension, self.depth, w) for w in self.widths]
        direct_logs = [
            [direct(model, L, self.repetitions, rng).log_ratio for L in self.samples]
            for model in models
        ]
        found = [
            [
                [
                    chained(models[-1], K, n, self.repetitions, rng, carried=way == "carried")
                    for n in self.steps
                ]
                for K in self.ratios
            ]
            for way in WAYS
        ]
        chains = np.moveaxis(np.array(found), 3, 0)  # of both fields of an estimate
        return outcome(
            {
                "way": WAYS,
                "ratios": self.ratios,
                "steps": self.steps,
                "width": self.widths,
                "samples": self.samples,
                "repetition": self.repetitions,
            },
            log_direct=("width samples repetition", direct_logs),
            exact_log_ratio=(
                "width",
                [model.log_partition(1.0) - model.log_partition(0.0) for model in models],
            ),
            log_ratio=("way ratios steps repetition", chains[0]),
            apparent_error=("way ratios steps repetition", chains[1]),
        )
