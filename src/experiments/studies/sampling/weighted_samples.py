"""Weighted draws of a proposal: importance sampling and resampling (PRML 11.1.4-5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling import importance as models
from bythebook.models.sampling.importance import FUNCTIONS, Target
from bythebook.models.sampling.uniformity import distance
from bythebook.models.types import Floats

POINTS = np.array([-1.5, -0.5, 0.5, 1.5])  # at which the distribution function is compared
CUBE = 2000  # uniform samples
CURVE = 201


@dataclass
class WeightedSamples(Study):
    """Importance sampling with good and bad proposals, and resampling (PRML 11.1.4-5)."""

    headline = {"effective_size": "min(mean(effective_size, over='repetition'))"}
    more_quantities = True
    quantities = {
        "effective_size": quantity(
            "effective number of samples", "target proposal size repetition"
        ),
        "estimate": quantity(
            "estimate of an expectation with the partition function given",
            "target proposal function size repetition",
            equation="PRML 11.19",
        ),
        "normalised_estimate": quantity(
            "estimate of an expectation with normalised weights",
            "target proposal function size repetition",
        ),
        "plain_average": quantity(
            "mean over the samples without weights", "target proposal function size repetition"
        ),
        "resampled_average": quantity(
            "mean over resampled samples", "target proposal function size repetition"
        ),
        "term_sd": quantity(
            "standard deviation of a weighted term", "target proposal function size repetition"
        ),
        "partition": quantity("estimated partition function", "target proposal size repetition"),
        "largest_weight": quantity("largest normalised weight", "target proposal size repetition"),
        "weight_sd": quantity(
            "standard deviation of the weights", "target proposal size repetition"
        ),
        "weighted_distance": quantity(
            "largest distance of the weighted samples' distribution from the target",
            "target proposal size repetition",
        ),
        "resampled_distance": quantity(
            "largest distance of the resampled samples' distribution from the target",
            "target proposal size repetition",
        ),
        "weighted_distribution": quantity(
            "distribution function of the weighted samples",
            "target proposal size repetition point",
            equation="PRML 11.25",
        ),
        "exact": quantity("exact expectation", "target function"),
        "exact_partition": quantity("exact partition function", "target"),
        "exact_distribution": quantity("exact distribution function", "target point"),
        "density": quantity("density of the target", "target z"),
    }

    targets: list[str] = knob(
        ["gaussian"], "gaussian, or bumps and the distance of the second one", distinct=True
    )
    proposals: list[str] = knob(
        ["0 1.5"], "Gaussian ones: mean and standard deviation", distinct=True
    )
    functions: list[str] = knob(
        ["square"], "functions to average", choices=tuple(FUNCTIONS), distinct=True
    )
    sizes: list[int] = knob([100, 1000], "draws", at_least=2, at_most=100_000, distinct=True)
    dimensions: list[int] = knob(
        [], "of a cube that is sampled uniformly", at_least=1, at_most=20, may_be_empty=True
    )
    repetitions: int = knob(200, "sets of draws", at_least=2, at_most=10_000)

    def problems(self) -> Iterator[str]:
        for what, names, read in (
            ("targets", self.targets, models.named),
            ("proposals", self.proposals, models.proposal),
        ):
            for name in names:
                try:
                    read(name)
                except ValueError as error:
                    yield f"study.{what}: {error}"
        if max(self.sizes) * self.repetitions > 5_000_000:
            yield "study.sizes times repetitions; allowed: <= 5000000"

    def run(self, rng: Generator) -> Outcome:
        target, way = axis("target", self.targets), axis("proposal", self.proposals)
        function, size = axis("function", self.functions), axis("size", self.sizes)
        repetition, point = axis("repetition", self.repetitions), axis("point", POINTS)
        densities = [models.named(name) for name in self.targets]
        shapes = [(self.repetitions, L) for L in self.sizes]
        noise = [[(rng.standard_normal(s), rng.random(s)) for s in shapes] for _ in self.proposals]
        cells = [  # the same draws for every target
            [self._cell(d, name, drawn) for name, drawn in zip(self.proposals, noise, strict=True)]
            for d in densities
        ]
        plain = (size, repetition)
        axes: dict[str, tuple[Any, ...]] = {
            "estimate": (function, *plain),
            "normalised_estimate": (function, *plain),
            "plain_average": (function, *plain),
            "resampled_average": (function, *plain),
            "term_sd": (function, *plain),
            "partition": plain,
            "effective_size": plain,
            "largest_weight": plain,
            "weight_sd": plain,
            "weighted_distance": plain,
            "resampled_distance": plain,
            "weighted_distribution": (*plain, point),
        }
        found = {
            name: over([[cell[name] for cell in row] for row in cells], target, way, *places)
            for name, places in axes.items()
        }
        if self.dimensions:
            shares = [models.contributing(d, CUBE, self.repetitions, rng) for d in self.dimensions]
            found["contributing"] = over(shares, axis("dimension", self.dimensions), repetition)
        known = [[FUNCTIONS[name][1](d) for name in self.functions] for d in densities]
        z = axis("z", np.linspace(-6, 8, CURVE))
        return Outcome(
            **found,
            exact=over(known, target, function),
            exact_partition=target.of([d.partition for d in densities]),
            exact_distribution=over([d.cdf(POINTS) for d in densities], target, point),
            density=over([np.exp(d.log_p(z.values)) / d.partition for d in densities], target, z),
        )

    def _cell(
        self, target: Target, name: str, drawn: list[tuple[Floats, Floats]]
    ) -> dict[str, Any]:
        """All quantities of one target and proposal, over sizes and repetitions."""
        mean, sd = models.proposal(name)
        found: dict[str, list[Any]] = {}
        for noise, u in drawn:
            z = mean + sd * noise
            log_r = models.log_ratio(target, mean, sd, z)
            result, weights = (
                models.weigh(target, log_r, z, self.functions),
                models.normalised(log_r),
            )
            resampled = models.resample(z, weights, u)
            below = np.stack([(weights * (z <= x)).sum(-1) for x in POINTS], axis=-1)
            cell = {
                "estimate": result.estimate,
                "normalised_estimate": result.normalised,
                "plain_average": result.plain,
                "resampled_average": np.stack(
                    [FUNCTIONS[name][0](resampled).mean(-1) for name in self.functions]
                ),
                "term_sd": result.term_sd,
                "partition": result.partition,
                "effective_size": result.effective_size,
                "largest_weight": result.largest_weight,
                "weight_sd": result.weight_sd,
                "weighted_distance": models.weighted_distance(target.cdf(z), weights),
                "resampled_distance": distance(target.cdf(resampled)),
                "weighted_distribution": below,  # PRML 11.25
            }
            for key, value in cell.items():
                found.setdefault(key, []).append(value)
        with_function = ("estimate", "normalised_estimate", "plain_average", "term_sd")
        return {
            key: np.stack(values, axis=1 if key in (*with_function, "resampled_average") else 0)
            for key, values in found.items()
        }
