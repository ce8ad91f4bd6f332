"""A binary image, some of its pixels flipped, and images of high probability (PRML 8.3.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.graphs.lattice import conditional_modes, energy, least_cut, shapes
from models.types import Ints

METHODS = ("noisy", "modes", "cut")


@dataclass
class ImageRestoration(Study):
    """Drawn images of shapes, restored by iterated conditional modes and by a least cut.

    Also on small images: what is found against all images there are, with links and without.
    """

    headline = {"agreement": "mean(agreement['cut'])"}

    size: int = knob(100, "rows and columns", at_least=4, at_most=1000)
    noise: float = knob(0.1, "chance of a pixel to be flipped", at_least=0, at_most=0.5)
    beta: float = knob(1.0, "strength of links", at_least=0)
    eta: float = knob(2.1, "strength of what is seen", at_least=0)
    h: float = knob(0.0, "bias towards -1")
    draws: int = knob(20, "images and noises drawn", at_least=1, at_most=1000)
    small: int = knob(20, "small images for which all are tried; 0: none", at_least=0)

    def problems(self) -> Iterator[str]:
        if max(self.beta, self.eta, abs(self.h)) > 100:
            yield "study.beta, eta, h: above 100; allowed: less, for flows take whole numbers"

    def run(self, rng: Generator) -> Outcome:
        method, draw = axis("method", METHODS), axis("draw", self.draws)
        row, column = axis("row", self.size), axis("column", self.size)
        agreement, level = np.empty((2, len(method), self.draws))
        steps, climb, images = [], [], list[Ints]()
        for k in range(self.draws):
            original = shapes(self.size, rng)
            noisy = self._flipped(original, rng)
            path = list(conditional_modes(noisy, self.beta, self.eta, self.h))
            found = [noisy, path[-1], least_cut(noisy, self.beta, self.eta, self.h)]
            levels = np.array([self._energy(x, noisy) for x in path])
            agreement[:, k] = [np.mean(x == original) for x in found]
            level[:, k] = [self._energy(x, noisy) for x in found]
            steps.append(len(path) - 1)
            climb.append(np.diff(levels).max())
            images = images or [original, *found]
        shown = axis("image", ["original", *METHODS])
        return Outcome(
            agreement=over(agreement, method, draw),
            energy=over(level, method, draw),
            half_sweeps=draw.of(steps),
            largest_rise=draw.of(climb),
            picture=over(np.array(images, dtype=np.int64), shown, row, column),
            **(self._small(rng) if self.small else {}),
        )

    def _flipped(self, image: Ints, rng: Generator) -> Ints:
        return np.where(rng.random(image.shape) < self.noise, -image, image)

    def _energy(self, x: Ints, y: Ints) -> float:
        return float(energy(x, y, self.beta, self.eta, self.h))

    def _small(self, rng: Generator) -> dict[str, Quantity]:
        """Images of three by four: the least energy of all, and the most probable one."""
        number = axis("small", self.small)
        every = np.array(list(product((-1, 1), repeat=12)), dtype=np.int64).reshape(-1, 3, 4)
        cut, modes, unlinked = [], [], []
        for _ in range(self.small):
            y = rng.choice(np.array([-1, 1]), (3, 4))
            levels = energy(every, y, self.beta, self.eta, self.h)
            found = least_cut(y, self.beta, self.eta, self.h)
            *_, settled = conditional_modes(y, self.beta, self.eta, self.h)
            cut.append(self._energy(found, y) - levels.min())
            modes.append(self._energy(settled, y) - levels.min())
            alone = every[energy(every, y, 0.0, self.eta, 0.0).argmin()]
            unlinked.append(bool(np.array_equal(alone, y)))
        return {
            "cut_excess": number.of(cut),
            "modes_excess": number.of(modes),
            "unlinked_is_noisy": number.of(unlinked),
        }
