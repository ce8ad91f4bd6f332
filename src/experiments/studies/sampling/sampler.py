"""Metropolis-Hastings chains: densities in the plane, proposals of several sizes (FCML 4.5.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
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
from bythebook.models.types import Ints

SHOWN = ("steps", "convergence", "walks", "densities", "walk")
GAUSSIAN = {"gaussian": [[1.0, 1.0, 3.0, 0.4, 3.0]]}  # FCML Figure 4.11
REGION = 2 * np.log(20)  # squared distance from the mean within which 95 % lie, in the plane
Lists = dict[str, list[Any]]
KEPT = 1000  # samples of a first chain, for figures


@dataclass
class Sampler(Study):
    """Random-walk chains on targets in the plane, for each size of the steps (FCML 4.5.2)."""

    headline = {
        "rejected": "mean(last(rejected, over='length'))",
        "scale_reduction": "max(last(scale_reduction, over='length'))",
    }
    quantities = {
        "rejected": quantity(
            "share of the proposals that is rejected", "target step_variance chain length"
        ),
        "scale_reduction": quantity(
            "potential scale reduction of a coordinate", "target step_variance length coordinate"
        ),
        "chain_mean": quantity("mean of a chain", "target step_variance chain length coordinate"),
        "chain_covariance": quantity(
            "covariance of a chain", "target step_variance chain length entry"
        ),
        "autocorrelation": quantity(
            "autocorrelation of a chain", "target step_variance chain lag coordinate"
        ),
        "step_length": quantity("mean length of a step", "target step_variance chain"),
        "squared_step": quantity("mean squared length of a step", "target step_variance chain"),
        "uphill_rejected": quantity(
            "rejected proposals of a higher density", "target step_variance"
        ),
        "downhill_proposed": quantity("proposals of a lower density", "target step_variance chain"),
        "downhill_accepted": quantity(
            "share of them that is accepted", "target step_variance chain"
        ),
        "downhill_ratio": quantity("their mean ratio of densities", "target step_variance chain"),
        "path": quantity("samples of the first chain", "target step_variance sample coordinate"),
        "proposed": quantity(
            "proposals of the first chain", "target step_variance proposal coordinate"
        ),
        "accepted": quantity("whether a proposal is accepted", "target step_variance proposal"),
        "burn_in": quantity("steps until a chain reaches the target", "target step_variance chain"),
        "parts_visited": quantity(
            "parts of the target that a chain visits", "target step_variance chain"
        ),
        "samples_in_ring": quantity(
            "samples by squared distance from the centre", "target step_variance ring"
        ),
    }
    axes = {
        "chain": axis_of("chain"),
        "coordinate": axis_of("coordinate"),
        "entry": axis_of("entry of the covariance"),
        "lag": axis_of("lag"),
        "length": axis_of("length of a chain"),
        "proposal": axis_of("number of the proposal"),
        "ring": axis_of("outer squared distance of a ring"),
        "sample": axis_of("number of the sample"),
        "step_variance": axis_of("variance of the steps"),
        "target": axis_of("target"),
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
    early: int = knob(10, "first samples that are drawn step by step", at_least=2, at_most=KEPT)
    look_at: list[int] = knob([], "chain lengths to report", at_least=4, may_be_empty=True)
    lags: list[int] = knob([], "lags of autocorrelation", at_least=1, may_be_empty=True)
    show: list[str] = knob(["steps"], "what to draw", choices=SHOWN, distinct=True)

    @property
    def parts(self) -> dict[str, list[list[float]]]:
        return self.targets or GAUSSIAN

    def problems(self) -> Iterator[str]:
        for name, parts in self.parts.items():
            for part in parts:
                if len(part) != 5 or not (part[2] > 0 and part[2] * part[4] > part[3] ** 2):
                    yield f"study.targets: {name}, {part}; allowed: five numbers, positive definite"
            if not parts and (not self.starts or self.show != ["walks"]):
                yield f"study.targets: {name} is flat; it needs study.starts, and show=[walks]"
        if len({bool(parts) for parts in self.parts.values()}) > 1:
            yield "study.targets has a flat density among others; allowed: it alone"
        if self.starts and len(self.starts) != len(self.step_variances):
            yield f"study.starts={self.starts}; allowed: as many as study.step_variances"
        if any(len(start) != 2 for start in self.starts):
            yield f"study.starts={self.starts}; allowed: points in the plane"
        for name, most in (("look_at", max([4, *self.look_at])), ("early", self.early)):
            if most > self.samples:
                yield f"study.{name}: {most}; allowed: <= {self.samples}, the samples of a chain"
        if max([0, *self.lags]) >= self.samples:
            yield f"study.lags={self.lags}; allowed: < {self.samples}, the samples of a chain"
        if "densities" in self.show and len(self.parts) < 3:
            yield "study.show=densities compares the first three targets"
        if self.samples * self.chains * len(self.step_variances) > 5_000_000:
            yield "study.samples times chains times step_variances; allowed: <= 5000000"

    def run(self, rng: Generator) -> Outcome:
        lengths = np.geomspace(4, self.samples, 40).round().astype(int)
        length = axis("length", np.unique([*lengths, *self.look_at]))
        step, chain = axis("step_variance", self.step_variances), axis("chain", self.chains)
        first, lag = axis("sample", min(self.samples, KEPT)), axis("lag", np.array(self.lags, int))
        coordinate, entry = axis("coordinate", [1, 2]), axis("entry", ["11", "12", "22"])
        axes = {
            "rejected": (chain, length),
            "chain_mean": (chain, length, coordinate),
            "chain_covariance": (chain, length, entry),
            "scale_reduction": (length, coordinate),
            "autocorrelation": (chain, lag, coordinate),
            "step_length": (chain,),
            "squared_step": (chain,),
            "uphill_rejected": (),
            "downhill_proposed": (chain,),
            "downhill_accepted": (chain,),
            "downhill_ratio": (chain,),
            "path": (first, coordinate),
            "proposed": (axis("proposal", np.arange(1, len(first))), coordinate),
            "accepted": (axis("proposal", np.arange(1, len(first))),),
            "burn_in": (chain,),
            "samples_in_ring": (axis("ring", np.arange(1, 9)),),  # outer squared distance
            "parts_visited": (chain,),
        }
        found = [self._summaries(parts, length.values, rng) for parts in self.parts.values()]
        target = axis("target", list(self.parts))
        every = {name: [of[name] for of in found] for name in found[0]}
        return Outcome(**{name: over(v, target, step, *axes[name]) for name, v in every.items()})

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
                of_step["parts_visited"] = parts_visited(chains.w, means)
            for name, value in of_step.items():
                found.setdefault(name, []).append(value)
        return found
