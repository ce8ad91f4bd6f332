"""Random walks on the integers: distances and first returns (PRML 11.2; MLAPP 17.2.3)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains.integer_walk import draw_walks, moments, return_probability

SHOWN = 200  # times of a drawn walk that are kept


@dataclass
class IntegerWalk(Study):
    """Exact moments and first returns of walks from 0 at time 1, and some drawn walks."""

    headline = {"return_probability": "min(return_probability)"}
    more_quantities = True
    quantities = {
        "return_probability": quantity("probability of a return to zero", "up"),
    }

    ups: list[float] = knob(
        [0.5], "chances of going up when the walk moves", above=0, below=1, distinct=True
    )
    stay: float = knob(0.5, "chance of not moving", at_least=0, below=1)
    times: int = knob(1001, "times, the first being 1", at_least=3, at_most=5000)
    walks: int = knob(20, "walks that are drawn", at_least=1, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        ups = np.array(self.ups)
        up, time = axis("up", self.ups), axis("time", range(1, self.times + 1))
        found = moments(ups, self.stay, self.times)
        shown = np.unique(np.linspace(0, self.times - 1, SHOWN).astype(int))
        paths = draw_walks(ups, self.stay, self.times, self.walks, rng)
        seen, moves = axis("seen", time.values[shown]), np.diff(paths)
        move = axis("move", [-1, 0, 1])
        return Outcome(
            expected_place=over(found.place, up, time),
            expected_square=over(found.square, up, time),
            expected_distance=over(found.distance, up, time),
            largest_probability=over(found.largest, up, time),
            returned_by=over(found.returned, up, time),
            waited=over(found.waited, up, time),
            reached=over(found.reached, up, axis("neighbour", [-1, 0, 1])),
            return_probability=up.of(return_probability(ups, self.stay)),
            move_share=over([(moves == m).mean((1, 2)) for m in move.values], move, up),
            path=over(paths[..., shown], up, axis("walk", self.walks), seen),
        )
