"""Hamiltonian dynamics and leapfrog steps: conserved quantities and errors (PRML 11.5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling import dynamics
from bythebook.models.sampling.dynamics import ENERGIES, Energy, State
from bythebook.models.sampling.uniformity import even

SAMPLE = 200  # points of a repetition whose distribution is followed
FINE = 0.01  # steps with which it is
CHAINS, UPDATES = 50, 40  # that may be stuck
COARSE = 0.5  # step for the figure
SHEAR = 40  # points around a circle in phase space, for the figure
PARTS = ("before the step", "after half a step of r", "after a step of z")


@dataclass
class Leapfrog(Study):
    """Energies along leapfrog steps of several sizes, from points in [-1, 1] (PRML 11.5)."""

    headline = {"error": "max(trajectory_error)"}
    quantities = {
        "trajectory_error": quantity(
            "distance between the ends of the discrete and the exact trajectory",
            "energy step_size point",
        ),
        "energy_error": quantity(
            "change of the energy along leapfrog steps", "energy step_size point"
        ),
        "invariant_p": quantity(
            "p-value of the distribution of points that move", "energy repetition"
        ),
        "return_distance": quantity("distance from the start after one update", "chain"),
        "stuck_move": quantity("largest distance from the start with a fixed step size", "chain"),
        "jittered_move": quantity(
            "largest distance from the start with a random step size", "chain"
        ),
        "ring": quantity("a circle in phase space along a step", "energy step corner part"),
    }
    axes = {
        "energy": axis_of("potential energy"),
        "step_size": axis_of("size of a step"),
        "point": axis_of("starting point"),
        "repetition": axis_of("set of points"),
        "chain": axis_of("chain"),
        "step": axis_of("part of a leapfrog step"),
        "corner": axis_of("point of the circle"),
        "part": axis_of("position or momentum"),
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
        start = rng.uniform(-1, 1, (2, self.points, 2))
        state = start[0], start[1]
        energies = [ENERGIES[name] for name in self.energies]
        found = [
            (*self._errors(energy, state), self._invariant(energy, rng)) for energy in energies
        ]
        trajectory, energy_error, invariant = zip(*found, strict=True)
        return outcome(
            {
                "energy": self.energies,
                "step_size": self.step_sizes,
                "point": self.points,
                "repetition": self.repetitions,
                "chain": CHAINS,
                "step": PARTS,
                "corner": SHEAR + 1,
                "part": ["z", "r"],
            },
            trajectory_error=("energy step_size point", trajectory),
            energy_error=("energy step_size point", energy_error),
            invariant_p=("energy repetition", invariant),
            ring=("energy step corner part", [_ring(energy) for energy in energies]),
            return_distance=("chain", dynamics.wander(CHAINS, 1, 0.0, rng)),
            stuck_move=("chain", dynamics.wander(CHAINS, UPDATES, 0.0, rng)),
            jittered_move=("chain", dynamics.wander(CHAINS, UPDATES, 0.1, rng)),
        )

    def _errors(self, energy: Energy, state: State) -> tuple[Any, Any]:
        """Errors of place and of H after the same time, by the size of the steps."""
        before = dynamics.hamiltonian(energy, state)
        end = dynamics.flow(energy, state, self.duration)
        found = [
            dynamics.steps(energy, state, size, round(self.duration / size))
            for size in self.step_sizes
        ]
        place = [dynamics.distance(there, end) for there in found]
        return place, [np.abs(dynamics.hamiltonian(energy, there) - before) for there in found]

    def _invariant(self, energy: Energy, rng: Generator) -> Any:
        """Test that moved points of exp(-H) keep the distribution of the first position."""
        cells = dynamics.cells(energy)
        count = self.repetitions * SAMPLE
        state = cells.draw(count, rng), rng.standard_normal((count, 2))
        z, _ = dynamics.steps(energy, state, FINE, round(self.duration / FINE))
        return even(cells.cdf(z[:, 0]).reshape(self.repetitions, SAMPLE))


def _ring(energy: Energy) -> Any:
    """A circle in the plane of the first position and momentum, after each part of one step."""
    turn = 2 * np.pi * np.arange(SHEAR + 1) / SHEAR
    z = np.stack([1 + 0.4 * np.cos(turn), np.zeros(SHEAR + 1)], axis=-1)
    r = np.stack([0.4 * np.sin(turn), np.zeros(SHEAR + 1)], axis=-1)
    size, shown = COARSE, [(z, r)]
    r = r + size / 2 * energy.force(z)
    shown.append((z, r))
    shown.append((z + size * r, r))
    return np.array([np.stack([p[:, 0], q[:, 0]], axis=-1) for p, q in shown])
