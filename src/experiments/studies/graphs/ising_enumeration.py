"""Ising models on small lattices by enumeration of all states (MLAPP 19.4.1)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.boltzmann import all_states, named
from bythebook.models.types import Floats, Ints

SHAPE = re.compile(r"(grid|triangles) \d+x\d+|cube \d+x\d+x\d+|ring \d+")
MOST = 16  # spins
LEVELS = 41  # of the mean spin, up to which probabilities are summed


@dataclass
class IsingEnumeration(Study):
    """Most probable states and broken links of lattices, by coupling (MLAPP 19.4.1)."""

    headline = {"broken": "max(broken_links)"}
    quantities = {
        "min_equal": quantity(
            "probability of equal neighbours, at the link where it is smallest", "graph coupling"
        ),
        "best_states": quantity("number of the most probable states", "graph coupling"),
        "best_alignment": quantity(
            "smallest absolute mean spin of the most probable states", "graph coupling"
        ),
        "broken_links": quantity("broken links of a mode", "graph coupling"),
        "spread": quantity(
            "probability of a mean spin up to some level", "graph coupling magnetisation"
        ),
    }
    axes = {
        "graph": axis_of("lattice"),
        "coupling": axis_of("strength J of all links"),
        "magnetisation": axis_of("mean spin"),
    }

    graphs: list[str] = knob(["grid 3x4", "ring 9"], "lattices", distinct=True)
    couplings: list[float] = knob([-1.0, 1.0], "J of all links", distinct=True)

    def problems(self) -> Iterator[str]:
        for graph in self.graphs:
            if not SHAPE.fullmatch(graph):
                allowed = "grid 3x4, triangles 3x4, cube 2x2x3, ring 9"
                yield f"study.graphs: {graph} is unknown; allowed: such as {allowed}"
            elif np.prod([int(n) for n in re.findall(r"\d+", graph)]) > MOST:
                yield f"study.graphs: {graph} is too large; allowed: {MOST} spins"
        if 0 in self.couplings or sorted(self.couplings) != self.couplings:
            yield "study.couplings: one is 0 or out of order; allowed: from weak to strong, not 0"

    def run(self, rng: Generator) -> Outcome:
        found = [[_modes(named(g), J) for J in self.couplings] for g in self.graphs]
        dims = {name: quantity.format_dims() for name, quantity in self.quantities.items()}
        return outcome(
            {
                "graph": self.graphs,
                "coupling": self.couplings,
                "magnetisation": np.linspace(-1, 1, LEVELS),
            },
            **{
                name: (dims[name].replace(",", ""), [[f[name] for f in row] for row in found])
                for name in found[0][0]
            },
        )


def _modes(links: Ints, J: float) -> dict[str, float | Floats]:
    """Probabilities, modes and broken links of the states of one lattice."""
    N = int(links.max()) + 1
    y = all_states(N)
    product = y[:, links[:, 0]] * y[:, links[:, 1]]
    score = J * product.sum(1)
    p = np.exp(score - score.max())
    p /= p.sum()
    best = score > score.max() - 1e-9
    total = y.sum(1).astype(int)
    by_sum = np.bincount((total + N) // 2, p, N + 1)
    up_to = np.floor((np.linspace(-1, 1, LEVELS) + 1) / 2 * N + 1e-9).astype(int)
    return {
        "min_equal": float((p @ (product > 0)).min()),
        "best_states": int(best.sum()),
        "best_alignment": float(np.abs(total[best]).min() / N),
        "broken_links": int((J * product[best] < 0).sum(1).min()),
        "spread": np.cumsum(by_sum)[up_to],
    }
