"""Monte Carlo estimates of expectations and their convergence (FCML 2.4-4.5, PRML 11)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling.monte_carlo import (
    INTEGRANDS,
    Expectation,
    double_twenty,
    evidences,
    hits,
    projection,
    quarter_circle,
    running_mean,
    tails,
    under_uniform,
)

HITS = ("double-20", "quarter-circle")
OTHERS = ("projection", "evidence")


@dataclass
class MonteCarlo(Study):
    """E{f(y)} exactly and from growing samples; f may count hits (FCML 2.5.1, 4.5.1, EX 4.4)."""

    headline = {"error": "max(last(rms_error, over='n'))"}
    quantities = {
        "exact": quantity("exact expectation", "expectation"),
        "estimate": quantity(
            "mean of a growing sample", "expectation repetition n", equation="FCML 2.23"
        ),
        "rms_error": quantity("root mean squared error of a sample mean", "expectation n"),
        "error_sd": quantity(
            "standard deviation of a mean of independent samples",
            "expectation n",
            equation="PRML 11.3",
        ),
    }
    axes = {
        "expectation": axis_of("function"),
        "repetition": axis_of("sequence of samples"),
        "n": axis_of("number of samples"),
    }

    function: str = knob("square", "the function f of y", choices=(*INTEGRANDS, *HITS, *OTHERS))
    low: float = knob(0.0, "square, sine: the smallest of uniform y")
    high: float = knob(1.0, "square, sine: the largest y")
    skills: list[float] = knob(
        [10.0, 30.0, 90.0], "double-20: sds of a throw, mm", above=0, distinct=True
    )
    dimensions: list[int] = knob(
        [1], "projection: of a Gaussian point", at_least=1, at_most=1000, distinct=True
    )
    correlations: list[float] = knob(
        [0.0], "projection: of successive points, the first dimension", at_least=0, below=1
    )
    times: float = knob(1.0, "hits count this much: 4 makes pi of a quarter", above=0)
    samples: int = knob(10_000, "samples in a sequence", at_least=10, at_most=1_000_000)
    repetitions: int = knob(200, "independent sequences", at_least=20, at_most=10_000)
    sizes: int = knob(80, "sample sizes of the curves, evenly apart in their logs", at_least=2)
    look_at: list[int] = knob([100, 10_000], "further sizes", at_least=1, distinct=True)

    def problems(self) -> Iterator[str]:
        if self.low >= self.high:
            yield f"study.low={self.low:g}, study.high={self.high:g}; allowed: low < high"
        if max(self.look_at) > self.samples:
            yield f"study.look_at={self.look_at}; allowed: <= {self.samples}, the samples drawn"
        if self.function == "projection" and self.correlations[0] != 0:
            yield f"study.correlations={self.correlations}; allowed: the first is 0"
        if self.samples * self.repetitions > 10_000_000:
            yield "study.samples times study.repetitions; allowed: <= 10000000"

    def expectations(self) -> dict[str, Expectation]:
        """The estimated expectations, by name."""
        if self.function in INTEGRANDS:
            return {self.function: under_uniform(INTEGRANDS[self.function], self.low, self.high)}
        if self.function == "quarter-circle":
            return {self.function: hits(quarter_circle())}
        if self.function == "evidence":
            return evidences()
        if self.function == "projection":
            dependent = {
                f"D = {self.dimensions[0]}, correlation {r:g}": projection(self.dimensions[0], r)
                for r in self.correlations[1:]
            }
            return {f"D = {D}": projection(D, 0.0) for D in self.dimensions} | dependent | tails()
        return {f"sd {sd:g} mm": hits(double_twenty(sd)) for sd in self.skills}

    def run(self, rng: Generator) -> Outcome:
        expectations, K = self.expectations(), self.times
        S = np.unique(np.geomspace(1, self.samples, self.sizes).round().astype(int))
        n = np.union1d(S, self.look_at)
        shape = self.repetitions, self.samples
        averages = [running_mean(e.f(shape, rng))[:, n - 1] for e in expectations.values()]
        estimate = K * np.array(averages)  # FCML 2.23, 4.16
        exact = K * np.array([e.mean for e in expectations.values()])
        variances = np.array([e.variance for e in expectations.values()])
        rms = np.sqrt(np.mean((estimate - exact[:, None, None]) ** 2, axis=1))
        return outcome(
            {"expectation": list(expectations), "repetition": self.repetitions, "n": n},
            exact=("expectation", exact),
            estimate=("expectation repetition n", estimate),
            rms_error=("expectation n", rms),
            error_sd=("expectation n", K * np.sqrt(variances[:, None] / n)),
        )
