"""Markov chains: cost of an independent sample, by kernel and target (PRML 11.2 to 11.5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling import kernels, targets
from bythebook.models.sampling.chain_summaries import autocorrelation_time, known_autocorrelation
from bythebook.models.sampling.kernels import (
    Kernel,
    Walk,
    expected_acceptance,
    hastings_ratios,
    needs,
    walk,
)
from bythebook.models.sampling.metropolis import scale_reduction
from bythebook.models.sampling.targets import Target
from bythebook.models.sampling.uniformity import all_even
from bythebook.models.types import Floats

SHOWN = 100  # states of a first chain that are kept for the figure
CURVE = 40  # lags of the autocorrelation in the figure
MOVES = 500  # at which Gibbs sampling is compared with Metropolis-Hastings
UPDATES = 2000  # at which over-relaxation is checked
REACHES = 100, 10_000, 1_000_000  # of squares in which a density may have a mass


@dataclass
class ChainEfficiency(Study):
    """Acceptance, autocorrelation and agreement of Markov chains (PRML 11.2 to 11.5).

    Chains start from the target, so there is no burn-in; a second set starts far off. A repetition
    is a group of chains. A chain of each kernel takes about as many evaluations as any other.
    """

    headline = {"time": "max(time)", "acceptance": "min(acceptance)"}
    more_quantities = True
    quantities = {
        "time": quantity(
            "autocorrelation time of a chain", "target kernel repetition direction", unit="steps"
        ),
        "acceptance": quantity(
            "share of the proposals that is accepted", "target kernel repetition"
        ),
        "evaluations": quantity("evaluations of the density, or of its gradient", "target kernel"),
        "energy_falls": quantity("share of the proposals with a lower energy", "target kernel"),
        "second_moment": quantity(
            "mean square of a direction", "target kernel repetition direction"
        ),
        "autocorrelation": quantity(
            "autocorrelation of a chain", "target kernel repetition lag direction"
        ),
        "curve": quantity(
            "mean autocorrelation of the slowest direction", "target kernel curve_lag"
        ),
        "move": quantity("root mean squared distance of a step", "target kernel repetition"),
        "late_p": quantity(
            "p-value of the last states, started from the target", "target kernel repetition"
        ),
        "scale_reduction": quantity(
            "potential scale reduction of a group of chains", "target kernel repetition"
        ),
        "path": quantity("states of a chain", "target kernel state coordinate"),
        "early_far_p": quantity(
            "p-value of early states, started far off", "target kernel repetition"
        ),
        "late_far_p": quantity(
            "p-value of late states, started far off", "target kernel repetition"
        ),
        "hastings_ratio": quantity(
            "ratio of a Gibbs step as a Metropolis-Hastings proposal", "target component gibbs_move"
        ),
        "exponent": quantity(
            "growth of the autocorrelation time with the length", "kernel repetition"
        ),
        "opposite": quantity(
            "share of the updates on the opposite side of the mean", "alpha repetition"
        ),
        "updated_mean": quantity("mean after an over-relaxed update", "alpha repetition"),
        "updated_variance": quantity("variance after an over-relaxed update", "alpha repetition"),
        "update_product": quantity(
            "mean product before and after an over-relaxed update", "alpha repetition"
        ),
        "expected_acceptance": quantity("expected acceptance by quadrature", "target kernel"),
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
        densities = {name: targets.named(name) for name in self.targets}
        found = [self._of_target(density, rng) for density in densities.values()]
        ends = min(min(d.dimension, 2) for d in densities.values())
        direction = axis("direction", ["short", "long"][2 - ends :])
        target, kernel = axis("target", self.targets), axis("kernel", self.kernels)
        repetition, lag = axis("repetition", self.repetitions), axis("lag", self.lags)
        axes: dict[str, tuple[Any, ...]] = {
            "acceptance": (repetition,),
            "evaluations": (),
            "energy_falls": (),
            "time": (repetition, direction),
            "second_moment": (repetition, direction),
            "autocorrelation": (repetition, lag, direction),
            "curve": (axis("curve_lag", self._curve()),),
            "move": (repetition,),
            "late_p": (repetition,),
            "scale_reduction": (repetition,),
            "path": (axis("state", SHOWN), axis("coordinate", [1, 2][:ends])),
        }
        if self.far_steps:
            axes |= {"early_far_p": (repetition,), "late_far_p": (repetition,)}
        outcome = {
            name: over(
                [[_last(of[name], places) for of in row] for row in found], target, kernel, *places
            )
            for name, places in axes.items()
        }
        outcome |= self._exponents(outcome, densities)
        outcome |= self._of_gaussians(densities, rng)
        return Outcome(**outcome)

    def _of_target(self, target: Target, rng: Generator) -> list[dict[str, Any]]:
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
                found[k] = self._summary(target, _part(begun, mine))
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

    def _summary(self, target: Target, chains: Walk) -> dict[str, Any]:
        x = target.principal(chains.path)  # (S, C, ends)
        S, ends = len(x), x.shape[-1]
        grouped = x.reshape(S, self.repetitions, self.chains, ends)
        rho = np.array(
            [
                [known_autocorrelation(grouped[:, r, :, e]) for e in range(ends)]
                for r in range(self.repetitions)
            ]
        )  # (R, ends, S)
        shift = (np.diff(chains.path, axis=0) ** 2).sum((0, -1)) / (S - 1)
        path = np.full((SHOWN, 2), chains.path[-1, 0, :2] if target.dimension > 1 else 0.0)
        path[: min(S, SHOWN), : target.dimension] = chains.path[:SHOWN, 0, :2]
        return {
            "acceptance": self._grouped(chains.accepted).mean(-1),
            "evaluations": chains.evaluations.mean(),
            "energy_falls": chains.lowered.mean(),
            "time": [[autocorrelation_time(of) for of in row] for row in rho],
            "second_moment": (grouped**2).mean((0, 2)),
            "autocorrelation": (rho[..., self.lags] / rho[..., :1]).swapaxes(1, 2),
            "curve": (rho / rho[..., :1])[:, -1, : self._curve()].mean(0),
            "move": np.sqrt(self._grouped(shift).mean(-1)),
            "scale_reduction": [
                scale_reduction(grouped[:, r, :, -1:])[0] for r in range(self.repetitions)
            ],
            "path": path,
        }

    def _exponents(
        self, found: dict[str, Quantity], densities: dict[str, Target]
    ) -> dict[str, Quantity]:
        """Powers of the ratio of deviations, over Gaussians in the plane with the same narrow one.

        The times are of the slower direction. A time below one counts as one, that of independent
        states.
        """
        plane = {
            t: d.deviations for t, d in enumerate(densities.values()) if len(d.deviations) == 2
        }
        narrow = next((of.min() for of in reversed(plane.values())), 0.0)  # that of the last
        flat = {t: of.max() / narrow for t, of in plane.items() if of.min() == narrow}
        if len({round(float(ratio), 9) for ratio in flat.values()}) < 2:
            return {}
        time = np.maximum(found["time"].values[list(flat)].max(-1), 1)  # (target, kernel, rep.)
        spent = time * found["evaluations"].values[list(flat), :, None]
        families = [kernels.named(name).family for name in self.kernels]
        names = list(dict.fromkeys(families))
        best = [spent[:, [f == name for f in families]].min(1) for name in names]
        repetition = axis("repetition", self.repetitions)
        ratios = list(flat.values())
        fitted = {
            "exponent": (axis("kernel", self.kernels), time.swapaxes(0, 1)),
            "best_exponent": (axis("family", names), best),
        }
        return {
            name: over([_slopes(ratios, of) for of in curves], where, repetition)
            for name, (where, curves) in fitted.items()
        }

    def _of_gaussians(self, densities: dict[str, Target], rng: Generator) -> dict[str, Quantity]:
        """Properties of some kernels on Gaussians, not computed from their chains."""
        moves = [kernels.named(name) for name in self.kernels]
        families = {kernel.family for kernel in moves}
        found: dict[str, Quantity] = {}
        if any(not len(d.deviations) for d in densities.values()):
            return found
        target = axis("target", self.targets)
        if "gibbs" in families and min(d.dimension for d in densities.values()) > 1:
            ratios = [hastings_ratios(d, MOVES, rng)[:2] for d in densities.values()]
            places = axis("component", [1, 2]), axis("gibbs_move", MOVES)
            found["hastings_ratio"] = over(ratios, target, *places)
        if families == {"metropolis"}:
            expected = [
                [expected_acceptance(d, kernel.numbers[0]) for kernel in moves]
                for d in densities.values()
            ]
            found["expected_acceptance"] = over(expected, target, axis("kernel", self.kernels))
        if "over-relaxed" in families:
            shares = sorted(k.numbers[0] for k in moves if k.family == "over-relaxed")
            found |= self._updates(next(iter(densities.values())), np.array(shares), rng)
            masses = [[targets.product_mass(a, reach) for reach in REACHES] for a in (0, 1)]
            found["product_mass"] = over(masses, axis("added", [0, 1]), axis("reach", REACHES))
        return found

    def _updates(self, target: Target, alphas: Floats, rng: Generator) -> dict[str, Quantity]:
        """One update of the first component of draws of a target, in units of its conditional."""
        assert target.resample is not None  # `problems` has checked this
        shape = len(alphas), self.repetitions, UPDATES
        z = target.draw(int(np.prod(shape)), rng)
        alpha = np.repeat(alphas, self.repetitions * UPDATES)
        after = target.resample(z, 0, alpha, rng)
        whiten = target.directions / target.deviations
        precision = whiten @ whiten.T
        mean = targets.conditional_mean(precision, z, 0)
        before, after = ((x - mean) * np.sqrt(precision[0, 0]) for x in (z[:, 0], after))
        before, after = before.reshape(shape), after.reshape(shape)
        where = axis("alpha", alphas), axis("repetition", self.repetitions)
        return {
            "opposite": over((before * after < 0).mean(-1), *where),
            "updated_mean": over(after.mean(-1), *where),
            "updated_variance": over((after**2).mean(-1), *where),
            "update_product": over((before * after).mean(-1), *where),
        }


def _part(chains: Walk, mine: slice) -> Walk:
    path, *rest = chains
    return Walk(path[:, mine], *(of[mine] for of in rest))


def _last(values: Any, places: tuple[Any, ...]) -> Any:
    """The directions or coordinates that all targets have, the longest direction last."""
    array = np.asarray(values)
    if not places:
        return array
    if places[-1].name == "direction":
        return array[..., array.shape[-1] - len(places[-1]) :]
    return array[..., : len(places[-1])]


def _slopes(ratios: list[float], times: Floats) -> Floats:
    """Slopes of the logs of times (target, repetition) against those of the ratios."""
    return np.asarray(np.polyfit(np.log(ratios), np.log(times), 1)[0])
