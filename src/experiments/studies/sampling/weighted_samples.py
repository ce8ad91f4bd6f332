"""Weighted draws of a proposal: importance sampling and resampling (PRML 11.1.4-5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.stats import norm

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling import importance as models
from bythebook.models.sampling.importance import FUNCTIONS, Target
from bythebook.models.sampling.uniformity import distance
from bythebook.models.types import Floats

POINTS = np.array([-1.5, -0.5, 0.5, 1.5])  # at which the distribution function is compared
CUBE = 2000  # uniform samples
CURVE = 201
DRAWS = "target proposal n repetition"
AVERAGES = "target proposal function n repetition"


@dataclass
class WeightedSamples(Study):
    """Importance sampling with good and bad proposals, and resampling (PRML 11.1.4-5)."""

    headline = {"effective_size": "min(mean(effective_size, over='repetition'))"}
    quantities = {
        "estimate": quantity(
            "weighted average with the partition function given", AVERAGES, equation="PRML 11.19"
        ),
        "normalised_estimate": quantity(
            "weighted average with weights that sum to one", AVERAGES, equation="PRML 11.22"
        ),
        "plain_average": quantity("average without weights", AVERAGES),
        "term_sd": quantity("standard deviation of a weighted term", AVERAGES),
        "resampled_average": quantity("average of the resampled values", AVERAGES),
        "partition": quantity("estimated partition function", DRAWS, equation="PRML 11.21"),
        "effective_size": quantity("one over the sum of the squared weights", DRAWS),
        "largest_weight": quantity("largest weight, of weights that sum to one", DRAWS),
        "weight_sd": quantity("standard deviation of the importance weights", DRAWS),
        "resampled_distance": quantity(
            "largest distance of the resampled values' distribution function from the target's",
            DRAWS,
        ),
        "weighted_distribution": quantity(
            "distribution function of a resampled value", f"{DRAWS} point", equation="PRML 11.25"
        ),
        "exact": quantity("exact expectation", "target function"),
        "exact_distribution": quantity("exact distribution function", "target point"),
        "contributing": quantity(
            "smallest share of uniform samples with nine tenths of the sum", "dimension repetition"
        ),
        "density": quantity("density of the target", "target z"),
        "proposal_density": quantity("density of the proposal", "proposal z"),
    }
    axes = {
        "target": axis_of("target"),
        "proposal": axis_of("mean and standard deviation of the Gaussian proposal"),
        "function": axis_of("averaged function"),
        "n": axis_of("number of draws"),
        "repetition": axis_of("set of draws"),
        "point": axis_of("place of a distribution function"),
        "dimension": axis_of("number of dimensions"),
        "z": axis_of("value"),
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
    n: list[int] = knob([100, 1000], "draws of a set", at_least=2, at_most=100_000, distinct=True)
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
        if max(self.n) * self.repetitions > 5_000_000:
            yield "study.n times repetitions; allowed: <= 5000000"

    def run(self, rng: Generator) -> Outcome:
        densities = [models.named(name) for name in self.targets]
        proposals = [models.proposal(name) for name in self.proposals]
        found = self._averages(densities, proposals, rng)
        shares = [models.contributing(d, CUBE, self.repetitions, rng) for d in self.dimensions]
        z = np.linspace(-6, 8, CURVE)
        exact = [[FUNCTIONS[name][1](p) for name in self.functions] for p in densities]
        return outcome(
            {
                "target": self.targets,
                "proposal": self.proposals,
                "function": self.functions,
                "n": self.n,
                "repetition": self.repetitions,
                "point": POINTS,
                "dimension": np.array(self.dimensions, np.int64),
                "z": z,
            },
            **found,
            exact=("target function", exact),
            exact_distribution=("target point", [p.cdf(POINTS) for p in densities]),
            contributing=("dimension repetition", np.reshape(shares, (-1, self.repetitions))),
            density=("target z", [np.exp(p.log_p(z)) / p.partition for p in densities]),
            proposal_density=("proposal z", [norm(*at).pdf(z) for at in proposals]),
        )

    def _averages(
        self, densities: list[Target], proposals: list[tuple[float, float]], rng: Generator
    ) -> dict[str, tuple[str, Floats]]:
        """The quantities of all targets, proposals and numbers of draws, with their axes."""
        shapes = [(self.repetitions, L) for L in self.n]
        noise = [
            [(rng.standard_normal(s), rng.random(s)) for s in shapes] for _ in proposals
        ]  # the same draws for every target
        cells = [
            [
                [self._cell(p, *at, *drawn) for drawn in sets]
                for at, sets in zip(proposals, noise, strict=True)
            ]
            for p in densities
        ]
        found = {}
        for name in cells[0][0][0]:
            values = np.array([[[cell[name] for cell in row] for row in rows] for rows in cells])
            dims = " ".join(self.quantities[name].dims)
            found[name] = dims, np.moveaxis(values, 3, 2) if dims == AVERAGES else values
        return found

    def _cell(
        self, target: Target, mean: float, sd: float, noise: Floats, u: Floats
    ) -> dict[str, Floats]:
        """The quantities of some sets of draws (R, L); averages (f, R)."""
        z = mean + sd * noise
        log_r = models.log_ratio(target, mean, sd, z)
        result, weights = models.weigh(target, log_r, z, self.functions), models.normalised(log_r)
        again = models.resample(z, weights, u)
        return {
            "estimate": result.estimate,
            "normalised_estimate": result.normalised,
            "plain_average": result.plain,
            "term_sd": result.term_sd,
            "resampled_average": np.stack(
                [FUNCTIONS[f][0](again).mean(-1) for f in self.functions]
            ),
            "partition": result.partition,
            "effective_size": result.effective_size,
            "largest_weight": result.largest_weight,
            "weight_sd": result.weight_sd,
            "resampled_distance": distance(target.cdf(again)),
            "weighted_distribution": np.stack([(weights * (z <= x)).sum(-1) for x in POINTS], -1),
        }
