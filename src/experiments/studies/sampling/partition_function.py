"""A partition function from samples: directly, and through intermediate energies (PRML 11.6)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling.partition import Model, chained, direct, telescoped

WAYS = ("carried", "restarted")
Z = np.linspace(-2, 2, 9)  # places of one dimension at which energies are compared
ALPHAS = [0.0, 0.25, 0.5, 1.0]  # of these energies


@dataclass
class PartitionFunction(Study):
    """Ratios of partition functions: direct and chained estimates for wells (PRML 11.6)."""

    headline = {"log_ratio": "mean(log_ratio['carried'])"}
    more_quantities = True
    quantities = {
        "log_ratio": quantity(
            "log of an estimated ratio of partition functions", "way ratios steps repetition"
        ),
        "log_direct": quantity("log of a direct estimate of the ratio", "width samples repetition"),
        "exact_log_ratio": quantity("log of the exact ratio", "width"),
        "relative_variance": quantity(
            "relative variance of a term of the direct estimate", "width"
        ),
        "energy": quantity("energy of a distribution of the chain", "alpha z"),
        "telescoped": quantity("product of the exact ratios of the chain", "ratios"),
        "apparent_error": quantity(
            "standard error that the samples show", "way ratios steps repetition"
        ),
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
        width, size = axis("width", self.widths), axis("samples", self.samples)
        way, ratios, steps = (
            axis("way", WAYS),
            axis("ratios", self.ratios),
            axis("steps", self.steps),
        )
        repetition = axis("repetition", self.repetitions)
        models = [Model(self.dimension, self.depth, w) for w in self.widths]
        logs = [
            [direct(model, L, self.repetitions, rng).log_ratio for L in self.samples]
            for model in models
        ]
        exact = [model.log_partition(1.0) - model.log_partition(0.0) for model in models]
        found = [
            [
                [
                    chained(models[-1], K, n, self.repetitions, rng, carried=name == "carried")
                    for n in self.steps
                ]
                for K in self.ratios
            ]
            for name in WAYS
        ]
        chains = way, ratios, steps, repetition
        return Outcome(
            log_direct=over(logs, width, size, repetition),
            exact_log_ratio=width.of(exact),
            gaussian_gap=width.of(
                [
                    m.log_partition(0.0) - m.dimension * np.log(m.width * np.sqrt(2 * np.pi))
                    for m in models
                ]
            ),
            relative_variance=width.of([model.relative_variance() for model in models]),
            energy=over(
                [models[-1]._replace(dimension=1).energy(Z[:, None], a) for a in ALPHAS],
                axis("alpha", ALPHAS),
                axis("z", Z),
            ),
            telescoped=ratios.of([telescoped(models[-1], K) for K in self.ratios]),
            log_ratio=over([[[e.log_ratio for e in r] for r in w] for w in found], *chains),
            apparent_error=over(
                [[[e.apparent_error for e in r] for r in w] for w in found], *chains
            ),
        )
