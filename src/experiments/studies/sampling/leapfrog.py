"""Hamiltonian dynamics and leapfrog steps: conserved quantities and errors (PRML 11.5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling import dynamics
from bythebook.models.sampling.dynamics import ENERGIES, Energy, State
from bythebook.models.sampling.uniformity import even

SAMPLE = 200  # points of a repetition whose distribution is followed
FINE = 0.01  # steps with which it is
CHAINS, UPDATES = 50, 40  # that may be stuck
COARSE = 0.5  # step for the probabilities of a transition
SHEAR = 40  # points round a circle in phase space, for the figure


@dataclass
class Leapfrog(Study):
    """Energies along leapfrog steps of several sizes, from points in [-1, 1] (PRML 11.5)."""

    headline = {"error": "max(trajectory_error)"}
    more_quantities = True
    quantities = {
        "trajectory_error": quantity(
            "distance between the ends of the discrete and the exact trajectory",
            "energy step_size point",
        ),
        "flow_energy_drift": quantity(
            "change of the energy along the exact trajectory", "energy point"
        ),
        "flow_determinant": quantity("determinant of the exact flow", "energy point"),
        "determinant": quantity("determinant of the leapfrog map", "energy step_size point"),
        "reversal_error": quantity(
            "distance from the start after a reversal", "energy step_size point"
        ),
        "energy_error": quantity(
            "change of the energy along leapfrog steps", "energy step_size point"
        ),
        "force": quantity("force at a point", "energy point coordinate"),
        "slope": quantity("slope of the energy by differences", "energy point coordinate"),
        "hamiltonian": quantity("energy at a point", "energy point"),
        "start": quantity("starting points", "part point coordinate"),
        "invariant_p": quantity(
            "p-value of the invariance of the energy's distribution", "energy repetition"
        ),
        "energy_change": quantity("change of the energy by leapfrog steps", "point"),
        "balance_gap": quantity("violation of detailed balance", "formula point"),
        "return_distance": quantity("distance from the start after one update", "chain"),
        "stuck_move": quantity("largest distance from the start with a fixed step size", "chain"),
        "jittered_move": quantity(
            "largest distance from the start with a random step size", "chain"
        ),
    }

    energies: list[str] = knob(
        ["quartic"], "potential energies", choices=tuple(ENERGIES), distinct=True
    )
    step_sizes: list[float] = knob([0.2, 0.1], "of the steps", above=0, distinct=True)
    duration: float = knob(2.0, "time that is covered", above=0)
    points: int = knob(20, "starting points", at_least=2, at_most=1000)
    repetitions: int = knob(40, "sets of points whose distribution is followed", at_least=2)

    def problems(self) -> Iterator[str]:
        for size in self.step_sizes:
            if abs(self.duration / size - round(self.duration / size)) > 1e-9:
                yield f"study.step_sizes: {size}; allowed: a whole part of {self.duration:g}"

    def run(self, rng: Generator) -> Outcome:
        point, energy = axis("point", self.points), axis("energy", self.energies)
        size, coordinate = axis("step_size", self.step_sizes), axis("coordinate", [1, 2])
        part = axis("part", ["z", "r"])
        start = rng.uniform(-1, 1, (2, self.points, 2))
        state = start[0], start[1]
        found = [self._of_energy(ENERGIES[name], state, rng) for name in self.energies]
        axes: dict[str, tuple[Any, ...]] = {
            "flow_energy_drift": (point,),
            "flow_determinant": (point,),
            "determinant": (size, point),
            "reversal_error": (size, point),
            "combined_gap": (size, point),
            "trajectory_error": (size, point),
            "energy_error": (size, point),
            "force": (point, coordinate),
            "slope": (point, coordinate),
            "hamiltonian": (point,),
            "stepped": (part, point, coordinate),
            "invariant_p": (axis("repetition", self.repetitions),),
            "ring": (axis("step", 3), axis("corner", SHEAR), part),
        }
        outcome = {
            name: over([of[name] for of in found], energy, *places) for name, places in axes.items()
        }
        first = ENERGIES[self.energies[-1]]
        after = dynamics.hamiltonian(first, dynamics.steps(first, state, COARSE, 3))
        before = dynamics.hamiltonian(first, state)
        formula, chain = axis("formula", ["corrected", "as printed"]), axis("chain", CHAINS)
        gaps = [dynamics.balance_gap(before, after, as_printed=p) for p in (False, True)]
        return Outcome(
            **outcome,
            start=over(start, part, point, coordinate),
            energy_change=point.of(after - before),
            balance_gap=over(gaps, formula, point),
            return_distance=chain.of(dynamics.wander(CHAINS, 1, 0.0, rng)),
            stuck_move=chain.of(dynamics.wander(CHAINS, UPDATES, 0.0, rng)),
            jittered_move=chain.of(dynamics.wander(CHAINS, UPDATES, 0.1, rng)),
        )

    def _of_energy(self, energy: Energy, state: State, rng: Generator) -> dict[str, Any]:
        time = self.duration
        found: dict[str, Any] = {}
        before = dynamics.hamiltonian(energy, state)
        end = dynamics.flow(energy, state, time)
        found["flow_energy_drift"] = np.abs(dynamics.hamiltonian(energy, end) - before)
        exact = partial(dynamics.flow, energy, duration=time)
        found["flow_determinant"] = dynamics.determinant(exact, state)
        found["force"], found["slope"] = energy.force(state[0]), dynamics.slopes(energy, state[0])
        found["hamiltonian"] = before
        found["stepped"] = dynamics.steps(energy, state, COARSE, 1)
        rows: dict[str, list[Any]] = {}
        for size in self.step_sizes:
            count = round(time / size)
            there = dynamics.steps(energy, state, size, count)
            back = dynamics.steps(energy, there, -size, count)
            apart = dynamics.single_steps(energy, state, size, count)
            move = partial(dynamics.steps, energy, size=size, count=count)
            row = {
                "determinant": dynamics.determinant(move, state),
                "reversal_error": dynamics.distance(back, state),
                "combined_gap": dynamics.distance(apart, there),
                "trajectory_error": dynamics.distance(there, end),
                "energy_error": np.abs(dynamics.hamiltonian(energy, there) - before),
            }
            for name, value in row.items():
                rows.setdefault(name, []).append(value)
        return found | rows | {"invariant_p": self._invariant(energy, rng), "ring": _ring(energy)}

    def _invariant(self, energy: Energy, rng: Generator) -> Any:
        """Test that moved points of exp(-H) keep the distribution of the first position."""
        cells = dynamics.cells(energy)
        count = self.repetitions * SAMPLE
        state = cells.draw(count, rng), rng.standard_normal((count, 2))
        z, _ = dynamics.steps(energy, state, FINE, round(self.duration / FINE))
        return even(cells.cdf(z[:, 0]).reshape(self.repetitions, SAMPLE))


def _ring(energy: Energy) -> Any:
    """A circle in the plane of the first position and momentum, after each part of one step."""
    turn = 2 * np.pi * np.arange(SHEAR) / SHEAR
    z = np.stack([1 + 0.4 * np.cos(turn), np.zeros(SHEAR)], axis=-1)
    r = np.stack([0.4 * np.sin(turn), np.zeros(SHEAR)], axis=-1)
    size, shown = COARSE, [(z, r)]
    r = r + size / 2 * energy.force(z)
    shown.append((z, r))
    shown.append((z + size * r, r))
    return np.array([np.stack([p[:, 0], q[:, 0]], axis=-1) for p, q in shown])
