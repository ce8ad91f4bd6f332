"""Restoration of a binary image with flipped pixels by a Markov random field (PRML 8.3.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.labelling import messages
from bythebook.models.graphs.lattice import conditional_modes, energy, least_cut, shapes
from bythebook.models.types import Ints

METHODS = ("noisy", "modes", "messages", "cut")
ROUNDS = 30  # of max-product messages, which keep half of what they were
SIGNS = np.array([-1.0, 1.0])


@dataclass
class ImageRestoration(Study):
    """Noisy images restored by conditional modes, max-product and minimum cuts (PRML 8.3.3)."""

    headline = {"agreement": "mean(agreement['cut'])"}
    quantities = {
        "agreement": quantity("share of the pixels that equal the original image", "method draw"),
        "energy": quantity("energy of the image", "method draw", equation="PRML 8.42"),
        "largest_rise": quantity(
            "largest change of the energy in half a sweep of conditional modes", "draw"
        ),
        "picture": quantity("pixels of the first draw", "image row column"),
    }
    axes = {
        "method": axis_of("the noisy image, or the method that restores it"),
        "draw": axis_of("image and noise"),
        "image": axis_of("the original image, the noisy image, or the method that restores it"),
        "row": axis_of("row"),
        "column": axis_of("column"),
    }

    size: int = knob(100, "rows and columns", at_least=4, at_most=1000)
    noise: float = knob(0.1, "chance of a pixel to be flipped", at_least=0, at_most=0.5)
    beta: float = knob(1.0, "strength of links", at_least=0)
    eta: float = knob(2.1, "strength of the observations", at_least=0)
    h: float = knob(0.0, "bias towards -1")
    draws: int = knob(20, "images and noises drawn", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        if max(self.beta, self.eta, abs(self.h)) > 100:
            yield "study.beta, eta, h: above 100; allowed: less, for flows take whole numbers"

    def run(self, rng: Generator) -> Outcome:
        agreement, level = np.empty((2, len(METHODS), self.draws))
        rises, images = [], list[Ints]()
        for k in range(self.draws):
            original = shapes(self.size, rng)
            noisy = np.where(rng.random(original.shape) < self.noise, -original, original)
            path = list(conditional_modes(noisy, self.beta, self.eta, self.h))
            cut = least_cut(noisy, self.beta, self.eta, self.h)
            found = [noisy, path[-1], self._max_product(noisy), cut]
            agreement[:, k] = [np.mean(x == original) for x in found]
            level[:, k] = [self._energy(x, noisy) for x in found]
            rises.append(np.diff([self._energy(x, noisy) for x in path]).max())
            images = images or [original, *found]
        return outcome(
            {
                "method": METHODS,
                "draw": self.draws,
                "image": ["original", *METHODS],
                "row": self.size,
                "column": self.size,
            },
            agreement=("method draw", agreement),
            energy=("method draw", level),
            largest_rise=("draw", rises),
            picture=("image row column", np.array(images, dtype=np.int64)),
        )

    def _energy(self, x: Ints, y: Ints) -> float:
        return float(energy(x, y, self.beta, self.eta, self.h))

    def _max_product(self, y: Ints) -> Ints:
        """The labels of lowest cost after some rounds of messages."""
        costs = np.array([self.h * x - self.eta * x * y for x in SIGNS])
        *_, last = messages(costs, -self.beta * np.outer(SIGNS, SIGNS), ROUNDS, False, 0.5)
        return np.where(last.argmin(0) == 1, 1, -1)
