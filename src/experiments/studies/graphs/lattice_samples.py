"""Samples of labels on a lattice with links of increasing strength (MLAPP 19.4.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator
from scipy.ndimage import label

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.potts import (
    SAMPLERS,
    equal_share,
    expected_equal_share,
    region_sizes,
    sweep,
    sweep_spins,
)
from bythebook.models.types import Floats, Ints

STARTS = ("random", "uniform", "halves")
KEPT = 40  # sweeps of each run at which the share of equal links is kept
STRIP = (2, 12)  # rows and columns of the lattice that is also solved exactly
STRIP_CHAINS = 200
STRIP_SWEEPS = 100
TINY = (
    3,
    3,
)  # rows and columns of a lattice with all images enumerated, of up to three labels
SPINS = "spins"  # two labels as the spins -1 and 1, with half of the coupling


@dataclass
class LatticeSamples(Study):
    """Samples of a Potts model, p(y) ~ exp(J times the number of equal neighbours) (MLAPP 19.4.3).

    Regions are connected sites of one label. A start with a half of a single label and a half of
    random labels contains both phases, so no phase has to nucleate. Also a narrow strip, sampled by
    both methods and exactly.
    """

    headline = {"largest": "max(largest_region)"}
    more_quantities = True
    quantities = {
        "largest_region": quantity(
            "largest region of one label, as a share of the sites", "coupling start chain"
        ),
    }

    states: int = knob(10, "K, labels", at_least=2, at_most=10)
    size: int = knob(128, "rows and columns", at_least=4, at_most=1024)
    couplings: list[float] = knob([1.42, 1.44, 1.46], "J", at_least=0, at_most=10, distinct=True)
    sampler: str = knob("clusters", "how a sweep is made", choices=SAMPLERS)
    sweeps: int = knob(200, "sweeps from the start", at_least=KEPT, at_most=100_000)
    starts: list[str] = knob(["random", "uniform"], "of runs", choices=STARTS, distinct=True)
    chains: int = knob(2, "runs from each start", at_least=1, at_most=100)

    def problems(self) -> Iterator[str]:
        if sorted(self.couplings) != self.couplings:
            yield "study.couplings: not in their order; allowed: from weak to strong"

    def run(self, rng: Generator) -> Outcome:
        coupling, start, chain = (
            axis("coupling", self.couplings),
            axis("start", self.starts),
            axis("chain", self.chains),
        )
        row, column = axis("row", self.size), axis("column", self.size)
        step = self.sweeps // KEPT
        trace = np.empty((len(coupling), len(start), self.chains, KEPT))
        largest, number = np.empty((2, *trace.shape[:-1]))
        labelled = np.empty((2, len(coupling)), dtype=np.int64)
        shown = np.empty((len(coupling), self.size, self.size), dtype=np.int64)
        for k, J in enumerate(self.couplings):
            labels = np.array([self._start(name, rng) for name in self.starts])
            flat = labels.reshape(-1, self.size, self.size)
            for t in range(KEPT):
                sweep(flat, self.states, J, self.sampler, step, rng)
                trace[k, ..., t] = equal_share(labels)
            sizes = region_sizes(flat).reshape(labels.shape)
            largest[k] = sizes.max((-1, -2)) / self.size**2
            number[k] = np.rint((1 / sizes).sum((-1, -2)))
            shown[k] = sizes[0, 0]
            labelled[:, k] = _regions(labels[0, 0], self.states)
        kept = axis("sweep", step * np.arange(1, KEPT + 1))
        return Outcome(
            equal_links=over(trace, coupling, start, chain, kept),
            largest_region=over(largest, coupling, start, chain),
            regions=over(number.astype(np.int64), coupling, start, chain),
            region_size=over(shown, coupling, row, column),
            labelled_regions=coupling.of(labelled[0]),
            labelled_largest=coupling.of(labelled[1]),
            possible_as_printed=_possible(self.states),
            **self._strip(rng),
        )

    def _start(self, name: str, rng: Generator) -> Ints:
        """The initial lattices of all chains; the single label is 0."""
        labels = rng.integers(self.states, size=(self.chains, self.size, self.size))
        same = {"random": 0, "uniform": self.size, "halves": self.size // 2}[name]
        labels[..., :same] = 0
        return labels

    def _strip(self, rng: Generator) -> dict[str, Quantity]:
        """The share of equal links on a strip: exactly, and by independent chains of each kind.

        Also on a tiny lattice, exactly and by all images.
        """
        names = [*SAMPLERS, SPINS] if self.states == 2 else list(SAMPLERS)
        coupling, sampler = axis("coupling", self.couplings), axis("sampler", names)
        found: Floats = np.empty((len(sampler), len(coupling), STRIP_CHAINS))
        for s, name in enumerate(names):
            for k, J in enumerate(self.couplings):
                labels: Ints = rng.integers(self.states, size=(STRIP_CHAINS, *STRIP))
                if name == SPINS:
                    labels = 2 * labels - 1
                    sweep_spins(labels, J / 2, STRIP_SWEEPS, rng)
                else:
                    sweep(labels, self.states, J, name, STRIP_SWEEPS, rng)
                found[s, k] = equal_share(labels)
        exact = [expected_equal_share(*STRIP, self.states, J) for J in self.couplings]
        few = min(self.states, 3)
        tiny = [
            [expected_equal_share(*TINY, few, J) for J in self.couplings],
            [_by_images(few, J) for J in self.couplings],
        ]
        return {
            "exact_equal": coupling.of(exact),
            "tiny_equal": over(tiny, axis("way", ["transfer matrix", "all images"]), coupling),
            "sampled_equal": over(found.mean(-1), sampler, coupling),
            "sampling_error": over(found.std(-1) / STRIP_CHAINS**0.5, sampler, coupling),
        }


def _regions(labels: Ints, states: int) -> tuple[int, int]:
    """Number of regions of a lattice and the size of the largest, by another library."""
    parts = [label(labels == k)[0] for k in range(states)]
    sizes = np.concatenate([np.bincount(part.ravel())[1:] for part in parts])
    return len(sizes), int(sizes.max())


def _by_images(states: int, J: float) -> float:
    """The mean share of equal links of a tiny lattice, its pairs of neighbours written out."""
    y = np.indices([states] * 9).reshape(9, -1)  # row by row: 0 1 2 above 3 4 5 above 6 7 8
    across = [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8)]
    down = [(0, 3), (1, 4), (2, 5), (3, 6), (4, 7), (5, 8)]
    equal = sum(y[s] == y[t] for s, t in across + down)
    p = np.exp(J * equal)
    return float(p @ equal / p.sum() / 12)


def _possible(states: int) -> int:
    """Images of 2 x 2 pixels with positive probability if unequal neighbours have potential 0."""
    images = np.array(list(product(range(states), repeat=4))).reshape(-1, 2, 2)
    return int((equal_share(images) == 1).sum())
