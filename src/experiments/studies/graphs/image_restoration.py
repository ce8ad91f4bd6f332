"""Restoration of a binary image with flipped pixels by a Markov random field (PRML 8.3.3)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.labelling import messages
from bythebook.models.graphs.lattice import conditional_modes, energy, least_cut, neighbours, shapes
from bythebook.models.types import Floats, Ints

METHODS = ("noisy", "modes", "messages", "cut")
ROUNDS = 30  # of max-product messages, which keep half of what they were
BIASES = (0.0, 0.5)  # values of h for the prior of a pixel, and more for small images
LINKS = (1.0, 0.6)  # times beta, for small images
SIGNS = np.array([-1.0, 1.0])


@dataclass
class ImageRestoration(Study):
    """Noisy images restored by conditional modes, max-product and minimum cuts (PRML 8.3.3).

    Also on small images: results against all possible images, with links and without; the variables
    that the energy of a pixel depends on; and the prior of a pixel, with a bias and without.
    """

    headline = {"agreement": "mean(agreement['cut'])"}
    more_quantities = True
    quantities = {
        "agreement": quantity("share of the pixels that equal the original image", "method draw"),
    }

    size: int = knob(100, "rows and columns", at_least=4, at_most=1000)
    noise: float = knob(0.1, "chance of a pixel to be flipped", at_least=0, at_most=0.5)
    beta: float = knob(1.0, "strength of links", at_least=0)
    eta: float = knob(2.1, "strength of the observations", at_least=0)
    h: float = knob(0.0, "bias towards -1")
    draws: int = knob(20, "images and noises drawn", at_least=1, at_most=1000)
    small: int = knob(20, "small images compared with all possible ones; 0: none", at_least=0)

    def problems(self) -> Iterator[str]:
        if max(self.beta, self.eta, abs(self.h)) > 100:
            yield "study.beta, eta, h: above 100; allowed: less, for flows take whole numbers"

    def run(self, rng: Generator) -> Outcome:
        method, draw = axis("method", METHODS), axis("draw", self.draws)
        row, column = axis("row", self.size), axis("column", self.size)
        agreement, level = np.empty((2, len(method), self.draws))
        steps, rises, covered, images = [], [], [], list[Ints]()
        for k in range(self.draws):
            original = shapes(self.size, rng)
            noisy = self._flipped(original, rng)
            path = list(conditional_modes(noisy, self.beta, self.eta, self.h))
            cut = least_cut(noisy, self.beta, self.eta, self.h)
            found = [noisy, path[-1], self._max_product(noisy), cut]
            levels = np.array([self._energy(x, noisy) for x in path])
            agreement[:, k] = [np.mean(x == original) for x in found]
            level[:, k] = [self._energy(x, noisy) for x in found]
            covered.append(np.mean(original == 1))
            steps.append(len(path) - 1)
            rises.append(np.diff(levels).max())
            images = images or [original, *found]
        shown = axis("image", ["original", *METHODS])
        return Outcome(
            agreement=over(agreement, method, draw),
            energy=over(level, method, draw),
            half_sweeps=draw.of(steps),
            largest_rise=draw.of(rises),
            covered=draw.of(covered),
            picture=over(np.array(images, dtype=np.int64), shown, row, column),
            **(self._small(rng) if self.small else {}),
        )

    def _flipped(self, image: Ints, rng: Generator) -> Ints:
        return np.where(rng.random(image.shape) < self.noise, -image, image)

    def _energy(self, x: Ints, y: Ints) -> float:
        return float(energy(x, y, self.beta, self.eta, self.h))

    def _by_pairs(self, x: Ints, y: Ints) -> float:
        """(8.42) term by term, over all pairs of pixels that are one step apart."""
        place = np.indices(x.shape).reshape(2, -1, 1)
        linked = np.abs(place - place.swapaxes(1, 2)).sum(0) == 1
        pairs = x.ravel() @ linked @ x.ravel() / 2  # each pair occurs twice
        return float(self.h * x.sum() - self.beta * pairs - self.eta * np.vdot(x, y))

    def _by_energy(self, y: Ints) -> Ints:
        """Conditional modes by total energies: pixels of each colour in turn, to the lower one."""
        x, before = y, -y
        white = np.indices(y.shape).sum(0) % 2 == 0
        while not np.array_equal(x, before):
            before = x
            for colour in (white, ~white):
                more = self._differences(x, y)
                x = np.where(colour & (more != 0), np.where(more < 0, 1, -1), x)
        return x

    def _max_product(self, y: Ints) -> Ints:
        """The labels of lowest cost after some rounds of messages."""
        costs = np.array([self.h * x - self.eta * x * y for x in SIGNS])
        *_, last = messages(costs, -self.beta * np.outer(SIGNS, SIGNS), ROUNDS, False, 0.5)
        return np.where(last.argmin(0) == 1, 1, -1)

    def _small(self, rng: Generator) -> dict[str, Quantity]:
        """Images of three by four: the lowest energy of all, and the most probable one.

        Every second image has h larger by one half; two of every four have weaker links.
        """
        number, ways = axis("small", self.small), axis("way", ["model", "term by term"])
        every = np.array(list(product((-1, 1), repeat=12)), dtype=np.int64).reshape(-1, 3, 4)
        excess = dict[str, list[float]](cut=[], modes=[], messages=[])
        unlinked, far, local, gain, modes, forms = [], [], [], [], [], []
        for k in range(self.small):
            h, beta = self.h + BIASES[k % 2], self.beta * LINKS[k // 2 % 2]
            own = replace(self, h=h, beta=beta)
            y = rng.choice(np.array([-1, 1]), (3, 4))
            levels = energy(every, y, beta, self.eta, h)
            *_, settled = conditional_modes(y, beta, self.eta, h)
            cut = least_cut(y, beta, self.eta, h)
            ends = {"cut": cut, "modes": settled, "messages": own._max_product(y)}
            for name, x in ends.items():
                excess[name].append(own._energy(x, y) - levels.min())
            alone = every[energy(every, y, 0.0, self.eta, 0.0).argmin()]
            unlinked.append(bool(np.array_equal(alone, y)))
            x = rng.choice(np.array([-1, 1]), (3, 4))
            far.append(own._far(x, y))
            formula = 2 * h - 2 * beta * neighbours(x) - 2 * self.eta * y
            local.append(np.abs(own._differences(x, y) - formula).max())
            gain.append((settled * own._differences(settled, y)).max())
            modes.append([settled, own._by_energy(y)])
            forms.append([own._energy(x, y), own._by_pairs(x, y)])
        return {
            **{f"{name}_excess": number.of(values) for name, values in excess.items()},
            "unlinked_is_noisy": number.of(unlinked),
            "far_difference": number.of(far),
            "local_error": number.of(local),
            "flip_gain": number.of(gain),
            "small_modes": over(modes, number, ways, axis("small_row", 3), axis("small_column", 4)),
            "small_energy": over(forms, number, ways),
            "prior_up": self._prior(),
        }

    def _differences(self, x: Ints, y: Ints) -> Floats:
        """E with x_j = 1 less E with x_j = -1, for each pixel j, from the whole energy."""
        one = np.eye(x.size, dtype=bool).reshape(-1, *x.shape)
        up, down = (energy(np.where(one, v, x), y, self.beta, self.eta, self.h) for v in (1, -1))
        return np.asarray((up - down).reshape(x.shape))

    def _far(self, x: Ints, y: Ints) -> float:
        """The largest change of a pixel's energy difference with pixels that are not neighbours."""
        before, most = self._differences(x, y), 0.0
        row, column = np.indices(x.shape)
        for i, j in np.ndindex(x.shape):
            away = np.abs(row - i) + np.abs(column - j)
            turned = np.where(away == 0, -1, 1)
            other = np.abs(self._differences(x * turned, y) - before)[away > 1]
            seen = np.abs(self._differences(x, y * turned) - before)[away > 0]
            most = max(most, float(other.max()), float(seen.max()))
        return most

    def _prior(self) -> Quantity:
        """P(x_i = 1) of (8.43) on two by three pixels, all x and all y summed."""
        every = np.array(list(product((-1, 1), repeat=6)), dtype=np.int64).reshape(-1, 2, 3)
        x, y = np.broadcast_arrays(every[:, None], every[None])
        found = []
        for h in BIASES:
            p = np.exp(-energy(x, y, self.beta, self.eta, h)).sum(1)
            found.append((p / p.sum()) @ (every.reshape(-1, 6) > 0))
        return over(found, axis("bias", BIASES), axis("pixel", 6))
