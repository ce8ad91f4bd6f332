"""Samples of labels on a lattice with links of increasing strength (MLAPP 19.4.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.potts import SAMPLERS, equal_share, region_sizes, sweep
from bythebook.models.types import Ints

STARTS = ("random", "uniform", "halves")
KEPT = 40  # sweeps of each run at which the share of equal links is kept


@dataclass
class LatticeSamples(Study):
    """Samples of a Potts model, p(y) ~ exp(J times the number of equal neighbours) (MLAPP 19.4.3).

    Regions are connected sites of one label. A start with a half of a single label and a half of
    random labels contains both phases, so no phase has to nucleate.
    """

    headline = {"largest": "max(largest_region)"}
    quantities = {
        "equal_links": quantity(
            "share of links between equal labels", "coupling start chain sweep"
        ),
        "largest_region": quantity(
            "largest region of one label, as a share of the sites", "coupling start chain"
        ),
        "regions": quantity("number of regions", "coupling start chain"),
        "region_size": quantity(
            "size of the region around each site of the first sample", "coupling row column"
        ),
    }
    axes = {
        "coupling": axis_of("strength J of the links"),
        "start": axis_of("labels at the start"),
        "chain": axis_of("run"),
        "sweep": axis_of("sweeps from the start"),
        "row": axis_of("row"),
        "column": axis_of("column"),
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
        step = self.sweeps // KEPT
        cells = len(self.couplings), len(self.starts), self.chains
        trace = np.empty((*cells, KEPT))
        largest, number = np.empty((2, *cells))
        shown = np.empty((len(self.couplings), self.size, self.size), dtype=np.int64)
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
        return outcome(
            {
                "coupling": self.couplings,
                "start": self.starts,
                "chain": self.chains,
                "sweep": step * np.arange(1, KEPT + 1),
                "row": self.size,
                "column": self.size,
            },
            equal_links=("coupling start chain sweep", trace),
            largest_region=("coupling start chain", largest),
            regions=("coupling start chain", number.astype(np.int64)),
            region_size=("coupling row column", shown),
        )

    def _start(self, name: str, rng: Generator) -> Ints:
        """The initial lattices of all chains; the single label is 0."""
        labels = rng.integers(self.states, size=(self.chains, self.size, self.size))
        same = {"random": 0, "uniform": self.size, "halves": self.size // 2}[name]
        labels[..., :same] = 0
        return labels
