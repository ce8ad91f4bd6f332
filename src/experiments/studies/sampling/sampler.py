"""Metropolis-Hastings chains: densities in the plane, proposals of several sizes (FCML 4.5.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling.chain_summaries import parts_visited, squared_distance, summaries
from bythebook.models.sampling.metropolis import (
    Chains,
    first_inside,
    flat,
    mixture,
    on_a_circle,
    sample,
)
from bythebook.models.types import Floats, Ints

GAUSSIAN = {"gaussian": [[1.0, 1.0, 3.0, 0.4, 3.0]]}  # FCML Figure 4.11
REGION = 2 * np.log(20)  # squared distance from the mean within which 95 % lie, in the plane
KEPT = 1000  # samples of a first chain, for figures
GRID = 81  # points of a density along each coordinate
CHAINS = "target step_variance chain"
Lists = dict[str, list[Any]]


@dataclass
class Sampler(Study):
    """Random-walk chains on targets in the plane, for each size of the steps (FCML 4.5.2)."""

    headline = {
        "rejected": "mean(last(rejected, over='length'))",
        "scale_reduction": "max(last(scale_reduction, over='length'))",
    }
    quantities = {
        "rejected": quantity("number of proposals rejected so far", f"{CHAINS} length"),
        "chain_mean": quantity("mean of a chain so far", f"{CHAINS} length coordinate"),
        "chain_covariance": quantity("covariance of a chain so far", f"{CHAINS} length entry"),
        "scale_reduction": quantity(
            "potential scale reduction of a coordinate", "target step_variance length coordinate"
        ),
        "autocorrelation": quantity("autocorrelation of a chain", f"{CHAINS} lag coordinate"),
        "step_length": quantity("mean length of a step", CHAINS),
        "squared_step": quantity("mean squared length of a step", CHAINS),
        "downhill_proposed": quantity("number of proposals of a lower density", CHAINS),
        "downhill_accepted": quantity("number of them that are accepted", CHAINS),
        "downhill_ratio": quantity(
            "sum of their ratios of densities", CHAINS, equation="FCML 4.17"
        ),
        "path": quantity("samples of the first chain", "target step_variance sample coordinate"),
        "proposed": quantity(
            "proposals of the first chain", "target step_variance proposal coordinate"
        ),
        "accepted": quantity("whether a proposal is accepted", "target step_variance proposal"),
        "burn_in": quantity("samples until a chain is among 95 % of the target", CHAINS),
        "modes_visited": quantity("modes of the target that a chain visits", CHAINS),
        "samples_in_ring": quantity(
            "samples by squared distance from the centre", "target step_variance ring"
        ),
        "height": quantity("density over its maximum", "target w2 w1"),
    }
    axes = {
        "target": axis_of("target"),
        "step_variance": axis_of("variance of the proposal in each direction"),
        "chain": axis_of("chain"),
        "coordinate": axis_of("coordinate"),
        "entry": axis_of("entry of the covariance"),
        "lag": axis_of("lag", unit="samples"),
        "length": axis_of("samples of a chain"),
        "proposal": axis_of("number of the proposal"),
        "ring": axis_of("outer squared distance of a ring"),
        "sample": axis_of("number of the sample"),
        "w1": axis_of("first coordinate"),
        "w2": axis_of("second coordinate"),
    }

    targets: dict[str, list[list[float]]] = knob(
        {},
        "densities by name: equal parts, each mean, mean, variance, covariance, variance;"
        " no part: flat; no target: FCML's Gaussian",
    )
    step_variances: list[float] = knob(
        [1.0], "variances of proposals in each direction", above=0, distinct=True
    )
    samples: int = knob(10_000, "samples of a chain", at_least=4, at_most=100_000)
    chains: int = knob(100, "chains for each target and step", at_least=2, at_most=10_000)
    start_distance: float = knob(
        0.0, "starts lie this many standard deviations round the first part", at_least=0
    )
    starts: list[list[float]] = knob(
        [], "where chains start, for each step variance; none: round the part", may_be_empty=True
    )
    look_at: list[int] = knob([], "chain lengths to report", at_least=4, may_be_empty=True)
    lags: list[int] = knob([], "lags of autocorrelation", at_least=1, may_be_empty=True)

    @property
    def parts(self) -> dict[str, list[list[float]]]:
        return self.targets or GAUSSIAN

    def problems(self) -> Iterator[str]:
        for name, parts in self.parts.items():
            for part in parts:
                if len(part) != 5 or not (part[2] > 0 and part[2] * part[4] > part[3] ** 2):
                    yield f"study.targets: {name}, {part}; allowed: five numbers, positive definite"
            if not parts and not self.starts:
                yield f"study.targets: {name} is flat; it needs study.starts"
        if len({bool(parts) for parts in self.parts.values()}) > 1:
            yield "study.targets has a flat density among others; allowed: it alone"
        if self.starts and len(self.starts) != len(self.step_variances):
            yield f"study.starts={self.starts}; allowed: as many as study.step_variances"
        if any(len(start) != 2 for start in self.starts):
            yield f"study.starts={self.starts}; allowed: points in the plane"
        if max([4, *self.look_at]) > self.samples:
            yield f"study.look_at={self.look_at}; allowed: <= {self.samples}, the samples"
        if max([0, *self.lags]) >= self.samples:
            yield f"study.lags={self.lags}; allowed: < {self.samples}, the samples of a chain"
        if self.samples * self.chains * len(self.step_variances) > 5_000_000:
            yield "study.samples times chains times step_variances; allowed: <= 5000000"

    def run(self, rng: Generator) -> Outcome:
        lengths = np.geomspace(4, self.samples, 40).round().astype(int)
        lengths = np.unique([*lengths, *self.look_at])
        found = [self._summaries(parts, lengths, rng) for parts in self.parts.values()]
        values: dict[str, Any] = {name: [of[name] for of in found] for name in found[0]}
        tables = [np.array(parts).reshape(-1, 5) for parts in self.parts.values()]
        w1, w2 = (_span(tables, k) for k in (0, 1))
        if all(map(len, tables)):
            values["height"] = [_height(table, w1, w2) for table in tables]
        coords: dict[str, Any] = {
            "target": list(self.parts),
            "step_variance": self.step_variances,
            "chain": self.chains,
            "coordinate": [1, 2],
            "entry": ["11", "12", "22"],
            "lag": np.array(self.lags, np.int64),
            "length": lengths,
            "proposal": np.arange(1, min(self.samples, KEPT)),
            "ring": np.arange(1, 9),
            "sample": min(self.samples, KEPT),
            "w1": w1,
            "w2": w2,
        }
        dims = {name: self.quantities[name].dims for name in values}
        return outcome(
            {name: coords[name] for name in dict.fromkeys(sum(dims.values(), ()))},
            **{name: (" ".join(dims[name]), value) for name, value in values.items()},
        )

    def _summaries(self, parts: list[list[float]], lengths: Ints, rng: Generator) -> Lists:
        """Every quantity of one target, a list over the step variances."""
        K, table = len(parts), np.array(parts).reshape(-1, 5)
        means, covariances = table[:, :2], table[:, [2, 3, 3, 4]].reshape(-1, 2, 2)
        log_g = mixture(np.full(K, 1 / K), means, covariances) if K else flat
        V, C = len(self.step_variances), self.chains
        if self.starts:
            starts = np.repeat(np.array(self.starts), C, axis=0)
        else:
            round_first = on_a_circle(means[0], covariances[0], self.start_distance, C)
            starts = np.tile(round_first, (V, 1))
        steps = np.repeat(self.step_variances, C)[:, None, None] * np.eye(2)
        batch = sample(log_g, starts, self.samples, steps, rng)  # (S, V * C, 2)
        found: Lists = {}
        for v in range(V):
            mine = slice(v * C, (v + 1) * C)
            chains = Chains(batch.w[:, mine], batch.proposed[:, mine], batch.accepted[:, mine])
            of_step = summaries(chains, lengths, self.lags, log_g)
            of_step["path"] = chains.w[:KEPT, 0]
            of_step["proposed"] = chains.proposed[: KEPT - 1, 0]
            of_step["accepted"] = chains.accepted[: KEPT - 1, 0]
            if K:
                distance = squared_distance(chains.w, means[0], covariances[0])
                of_step["burn_in"] = first_inside(distance <= REGION)
                of_step["samples_in_ring"] = np.histogram(distance, bins=np.linspace(0, 8, 9))[0]
                of_step["modes_visited"] = parts_visited(chains.w, means)
            for name, value in of_step.items():
                found.setdefault(name, []).append(value)
        return found


def _span(tables: list[Floats], k: int) -> Floats:
    """Coordinates up to three standard deviations from the means of all parts."""
    every = np.concatenate(tables)
    if not len(every):
        return np.zeros(1)
    reach = 3 * np.sqrt(every[:, 2 + 2 * k])
    return np.linspace((every[:, k] - reach).min(), (every[:, k] + reach).max(), GRID)


def _height(table: Floats, w1: Floats, w2: Floats) -> Floats:
    means, covariances = table[:, :2], table[:, [2, 3, 3, 4]].reshape(-1, 2, 2)
    log_g = mixture(np.full(len(table), 1 / len(table)), means, covariances)
    w = np.stack(np.meshgrid(w1, w2), axis=-1)
    return np.asarray(np.exp(log_g(w) - log_g(means).max()))
