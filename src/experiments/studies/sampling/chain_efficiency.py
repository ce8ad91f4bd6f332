"""Markov chains: cost of an independent sample, by kernel and target (PRML 11.2 to 11.5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling import kernels, targets
from bythebook.models.sampling.chain_summaries import (
    autocorrelation_time,
    known_autocorrelation,
    scale_reduction,
)
from bythebook.models.sampling.kernels import Kernel, Walk, needs, walk
from bythebook.models.sampling.targets import Target
from bythebook.models.sampling.uniformity import all_even
from bythebook.models.types import Floats

SHOWN = 100  # states of a first chain that are kept for the figure
CURVE = 40  # lags of the autocorrelation in the figure
GROUPS = "target kernel repetition"


@dataclass
class ChainEfficiency(Study):
    """Acceptance, autocorrelation and agreement of Markov chains (PRML 11.2 to 11.5).

    Chains start from the target, so there is no burn-in; a second set starts far off. A repetition
    is a group of chains. A chain of each kernel takes about as many evaluations as any other.
    """

    headline = {"time": "max(time)", "acceptance": "min(acceptance)"}
    quantities = {
        "acceptance": quantity("share of the proposals that is accepted", GROUPS),
        "evaluations": quantity(
            "evaluations of the density, or of its gradient, for a step", "target kernel"
        ),
        "downhill_share": quantity("share of the candidates with a lower energy", "target kernel"),
        "time": quantity("autocorrelation time of a chain", f"{GROUPS} direction", unit="steps"),
        "effort": quantity(
            "evaluations to an independent state, at least those of one step",
            f"{GROUPS} direction",
        ),
        "second_moment": quantity(
            "mean square of a direction, in variances of the target", f"{GROUPS} direction"
        ),
        "autocorrelation": quantity("autocorrelation of a chain", f"{GROUPS} lag direction"),
        "curve": quantity(
            "mean autocorrelation of the slowest direction", "target kernel curve_lag"
        ),
        "step_length": quantity("root mean squared distance of a step", GROUPS),
        "late_p": quantity("p-value of the last states, started from the target", GROUPS),
        "scale_reduction": quantity("potential scale reduction of a group of chains", GROUPS),
        "path": quantity("states of a chain", "target kernel state coordinate"),
        "early_far_p": quantity("p-value of early states, started far off", GROUPS),
        "late_far_p": quantity("p-value of late states, started far off", GROUPS),
    }
    axes = {
        "target": axis_of("target density"),
        "kernel": axis_of("transition"),
        "repetition": axis_of("group of chains"),
        "direction": axis_of("shortest or longest direction of the target"),
        "lag": axis_of("lag", unit="steps"),
        "curve_lag": axis_of("lag", unit="steps"),
        "state": axis_of("step of the chain"),
        "coordinate": axis_of("component of the state"),
    }

    targets: list[str] = knob(
        ["correlated 0.9"],
        "densities: gaussian and its deviations, turned (by 45 degrees), correlated and its r,"
        " bumps and their distance, two squares, two squares turned",
        distinct=True,
    )
    kernels: list[str] = knob(
        ["metropolis 1", "gibbs"],
        "transitions: metropolis and its scale, gibbs, over-relaxed and its share, slice and its"
        " width, unextended slice, hamiltonian with step size and steps, unadjusted, flow and time",
        distinct=True,
    )
    steps: int = knob(
        1000, "evaluations of a chain; a slice counts as ten", at_least=20, at_most=100_000
    )
    chains: int = knob(20, "chains of a repetition", at_least=2, at_most=10_000)
    repetitions: int = knob(10, "groups of chains", at_least=2, at_most=1000)
    lags: list[int] = knob([1], "lags of autocorrelation", at_least=1, distinct=True)
    far_steps: int = knob(0, "evaluations of chains from far off; 0: none", at_least=0)

    def problems(self) -> Iterator[str]:
        try:
            densities = [targets.named(name) for name in self.targets]
            moves = [kernels.named(name) for name in self.kernels]
        except ValueError as error:
            yield f"study: {error}"
            return
        for name, density in zip(self.targets, densities, strict=True):
            for kernel in moves:
                if lack := needs(kernel, density):
                    yield f"study.kernels: {kernel.family} needs {lack}, which {name} has not"
        shortest = min(map(self._length, moves))
        if max(self.lags) >= shortest:
            yield f"study.lags={self.lags}; allowed: < {shortest}, the fewest steps of a chain"
        if self.steps * self.chains * self.repetitions > 20_000_000:
            yield "study.steps times chains times repetitions; allowed: <= 20000000"

    def run(self, rng: Generator) -> Outcome:
        densities = [targets.named(name) for name in self.targets]
        ends = min(2, *(density.dimension for density in densities))
        found = [self._of_target(density, ends, rng) for density in densities]
        return outcome(
            {
                "target": self.targets,
                "kernel": self.kernels,
                "repetition": self.repetitions,
                "direction": ["short", "long"][2 - ends :],
                "lag": self.lags,
                "curve_lag": self._curve(),
                "state": SHOWN,
                "coordinate": [1, 2][:ends],
            },
            **{
                name: (
                    " ".join(self.quantities[name].dims),
                    [[of[name] for of in row] for row in found],
                )
                for name in found[0][0]
            },
        )

    def _of_target(self, target: Target, ends: int, rng: Generator) -> list[dict[str, Any]]:
        """Every quantity for each kernel; kernels of a family run side by side."""
        moves = [kernels.named(name) for name in self.kernels]
        found: dict[int, dict[str, Any]] = {}
        for _, members in groupby(range(len(moves)), lambda k: (moves[k].family, moves[k].cost)):
            group = list(members)
            count = self.repetitions * self.chains
            each = [moves[k] for k in group for _ in range(count)]
            begun = walk(target, each, target.draw(len(each), rng), self._length(each[0]), rng)
            ways = {"late_p": begun}
            if self.far_steps:
                starts = np.tile(target.far, (len(each), 1))
                first = walk(target, each, starts, 1, rng)
                steps = max(1, self.far_steps // each[0].cost)
                ways |= {
                    "early_far_p": first,
                    "late_far_p": walk(target, each, first.path[-1], steps, rng),
                }
            for g, k in enumerate(group):
                mine = slice(g * count, (g + 1) * count)
                found[k] = self._summary(target, _part(begun, mine), ends)
                for name, way in ways.items():
                    last = self._grouped(way.path[-1, mine])
                    found[k][name] = all_even(target.uniforms(last))
        return [found[k] for k in range(len(moves))]

    def _length(self, kernel: Kernel) -> int:
        return self.steps // kernel.cost

    def _curve(self) -> int:
        """Number of lags that every chain allows."""
        return min(CURVE, *(self._length(kernels.named(name)) for name in self.kernels))

    def _grouped(self, values: Floats) -> Floats:
        return values.reshape(self.repetitions, self.chains, *values.shape[1:])

    def _summary(self, target: Target, chains: Walk, ends: int) -> dict[str, Any]:
        x = target.principal(chains.path)[..., -ends:]  # (S, C, ends)
        S = len(x)
        grouped = x.reshape(S, self.repetitions, self.chains, ends)
        rho = np.array(
            [
                [known_autocorrelation(grouped[:, r, :, e]) for e in range(ends)]
                for r in range(self.repetitions)
            ]
        )  # (R, ends, S)
        time = np.array([[autocorrelation_time(of) for of in row] for row in rho])
        shift = (np.diff(chains.path, axis=0) ** 2).sum((0, -1)) / (S - 1)
        path = np.tile(chains.path[-1, 0, :ends], (SHOWN, 1))
        path[: min(S, SHOWN)] = chains.path[:SHOWN, 0, :ends]
        return {
            "acceptance": self._grouped(chains.accepted).mean(-1),
            "evaluations": chains.evaluations.mean(),
            "downhill_share": chains.lowered.mean(),
            "time": time,
            "effort": np.maximum(time, 1) * chains.evaluations.mean(),
            "second_moment": (grouped**2).mean((0, 2)),
            "autocorrelation": (rho[..., self.lags] / rho[..., :1]).swapaxes(1, 2),
            "curve": (rho / rho[..., :1])[:, -1, : self._curve()].mean(0),
            "step_length": np.sqrt(self._grouped(shift).mean(-1)),
            "scale_reduction": [
                scale_reduction(grouped[:, r, :, -1:])[0] for r in range(self.repetitions)
            ],
            "path": path,
        }


def _part(chains: Walk, mine: slice) -> Walk:
    path, *rest = chains
    return Walk(path[:, mine], *(of[mine] for of in rest))
