"""Random walks on the integers: distances and first returns (MLAPP 17.2.3)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains.integer_walk import draw_walks, moments, return_probability

SEEN = 200  # times of a drawn walk that are recorded


@dataclass
class IntegerWalk(Study):
    """Exact moments and first returns of walks from 0 at time 1, and some drawn walks."""

    headline = {"return_probability": "min(return_probability)"}
    quantities = {
        "return_probability": quantity("probability of a return to zero", "up"),
        "expected_place": quantity("expected state", "up time"),
        "expected_square": quantity("expected square of the state", "up time"),
        "largest_probability": quantity("probability of the most probable state", "up time"),
        "returned_by": quantity("probability of a return by now", "up time"),
        "waited": quantity("mean number of moves until the return, or until now", "up time"),
        "reached": quantity("largest probability of a state near zero", "up neighbour"),
        "path": quantity("state of a drawn walk", "up walk seen"),
    }
    axes = {
        "up": axis_of("probability of a move upwards"),
        "time": axis_of("time"),
        "neighbour": axis_of("state"),
        "walk": axis_of("drawn walk"),
        "seen": axis_of("time"),
    }

    ups: list[float] = knob(
        [0.5], "chances of going up when the walk moves", above=0, below=1, distinct=True
    )
    stay: float = knob(0.5, "chance of not moving", at_least=0, below=1)
    times: int = knob(1001, "times, the first being 1", at_least=3, at_most=5000)
    walks: int = knob(20, "walks that are drawn", at_least=1, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        ups, time = np.array(self.ups), np.arange(1, self.times + 1)
        found = moments(ups, self.stay, self.times)
        shown = np.unique(np.linspace(0, self.times - 1, SEEN).astype(int))
        paths = draw_walks(ups, self.stay, self.times, self.walks, rng)
        return outcome(
            {
                "up": self.ups,
                "time": time,
                "neighbour": [-1, 0, 1],
                "walk": self.walks,
                "seen": time[shown],
            },
            expected_place=("up time", found.place),
            expected_square=("up time", found.square),
            largest_probability=("up time", found.largest),
            returned_by=("up time", found.returned),
            waited=("up time", found.waited),
            reached=("up neighbour", found.reached),
            return_probability=("up", return_probability(ups, self.stay)),
            path=("up walk seen", paths[..., shown]),
        )
