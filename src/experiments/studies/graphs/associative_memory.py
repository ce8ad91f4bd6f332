"""Patterns stored in a Hopfield network and completed from a part of them (MLAPP 19.4.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs import boltzmann, hopfield
from bythebook.models.graphs.lattice import shapes
from bythebook.models.types import Floats

RULES = ("outer product", "likelihood")
STAGES = ("start", "after 5", "final")
RIDGE = 0.01  # precision of the prior on weights, per pattern
STEPS = 60  # along the gradient of the pseudo-likelihood of images


@dataclass
class AssociativeMemory(Study):
    """Images stored by two rules and completed by iterated conditional modes (MLAPP 19.4.2).

    Hidden pixels start at -1, visible ones are fixed. The likelihood of images is the
    pseudo-likelihood, that of small networks with random patterns is the likelihood itself.
    """

    headline = {"wrong": "mean(wrong['likelihood', :, 'final'])"}
    quantities = {
        "wrong": quantity("share of the hidden pixels that are wrong", "rule draw stage"),
        "original": quantity("first image of the first draw", "row column"),
        "picture": quantity("its completion", "rule stage row column"),
        "small_wrong": quantity("share of the hidden units that are wrong", "rule load small_draw"),
        "observed_energy": quantity("mean energy of the patterns", "rule load small_draw"),
        "other_energy": quantity("mean energy of all other states", "rule load small_draw"),
    }
    axes = {
        "rule": axis_of("rule that learns the weights"),
        "draw": axis_of("set of images"),
        "stage": axis_of("stage of the completion"),
        "row": axis_of("row"),
        "column": axis_of("column"),
        "load": axis_of("number of patterns of a small network"),
        "small_draw": axis_of("set of random patterns"),
    }

    size: int = knob(50, "rows and columns of an image", at_least=6, at_most=200)
    patterns: int = knob(5, "images learned", at_least=1, at_most=50)
    hidden: float = knob(0.5, "share of an image that is hidden, from the left", above=0, below=1)
    draws: int = knob(10, "sets of images", at_least=1, at_most=200)
    units: int = knob(10, "of small networks", at_least=4, at_most=12)
    loads: list[int] = knob([2, 3, 4, 5], "their patterns", at_least=1, at_most=12, distinct=True)
    small_draws: int = knob(20, "sets of their patterns", at_least=1, at_most=500)

    def problems(self) -> Iterator[str]:
        if sorted(self.loads) != self.loads:
            yield "study.loads: not in their order; allowed: from few to many"

    def run(self, rng: Generator) -> Outcome:
        wrong = np.empty((len(RULES), self.draws, len(STAGES)))
        shown = np.empty((len(RULES), len(STAGES), self.size, self.size))
        first = np.empty(0)
        left = np.arange(self.size) < max(1, round(self.hidden * self.size))
        hidden = np.tile(left, self.size)  # row by row
        for k in range(self.draws):
            images = np.array([shapes(self.size, rng) for _ in range(self.patterns)])
            Y = images.reshape(self.patterns, -1).astype(float)
            start = np.where(hidden, -1.0, Y[0])
            learned = [hopfield.outer_product(Y), hopfield.by_pseudo_likelihood(Y, STEPS, RIDGE)]
            for r, memory in enumerate(learned):
                path = hopfield.completed(memory, start, hidden)
                kept = [path[0], path[min(5, len(path) - 1)], path[-1]]
                wrong[r, k] = [(y != Y[0])[hidden].mean() for y in kept]
                if k == 0:
                    shown[r], first = np.array(kept).reshape(shown[r].shape), Y[0]
        small_wrong, observed, other = self._small(rng)
        return outcome(
            {
                "rule": RULES,
                "draw": self.draws,
                "stage": STAGES,
                "row": self.size,
                "column": self.size,
                "load": self.loads,
                "small_draw": self.small_draws,
            },
            wrong=("rule draw stage", wrong),
            original=("row column", first.reshape(self.size, self.size)),
            picture=("rule stage row column", shown),
            small_wrong=("rule load small_draw", small_wrong),
            observed_energy=("rule load small_draw", observed),
            other_energy=("rule load small_draw", other),
        )

    def _small(self, rng: Generator) -> Floats:
        """Random patterns of a few units: wrong units after completion, and energies of states."""
        found = np.empty((3, len(RULES), len(self.loads), self.small_draws))
        states = boltzmann.all_states(self.units)
        hidden = np.arange(self.units) < self.units // 2
        place = 2.0 ** np.arange(self.units)[::-1]
        for at, P in enumerate(self.loads):
            for k in range(self.small_draws):
                Y = rng.choice(np.array([-1.0, 1.0]), (P, self.units))
                mine = np.zeros(len(states), dtype=bool)
                mine[(((Y + 1) / 2) @ place).astype(int)] = True
                starts = [np.where(hidden, -1.0, y) for y in Y]
                learned = [hopfield.outer_product(Y), hopfield.by_likelihood(Y, RIDGE)]
                for r, memory in enumerate(learned):
                    ends = [hopfield.completed(memory, y, hidden)[-1] for y in starts]
                    energy = memory.energy(states)
                    found[:, r, at, k] = (
                        (np.array(ends) != Y)[:, hidden].mean(),
                        energy[mine].mean(),
                        energy[~mine].mean(),
                    )
        return found
