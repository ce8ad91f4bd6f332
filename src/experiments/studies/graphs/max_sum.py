"""Most probable configurations of trees, with ties, and samples (PRML 8.4.5; MLAPP 20.2.4)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.stats import chisquare

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import names, scope_problems, split
from bythebook.models.graphs.chain_costs import as_factors
from bythebook.models.graphs.counting import counted
from bythebook.models.graphs.factors import (
    MAX_PRODUCT,
    MAX_SUM,
    Factor,
    keep,
    normalised,
    product,
)
from bythebook.models.graphs.marginals import METHODS
from bythebook.models.graphs.maxima import (
    chosen_apart,
    conditional_modes,
    predecessors,
    sampled,
    traced,
)
from bythebook.models.graphs.propagation import factor_graph, inward, marginal

CHAIN = ["x1, x2", "x2, x3", "x3, x4", "x4, x5"]
CHOICES = ["back-tracking", "node by node", "conditional modes"]
ALGORITHMS = ["enumeration", "two passes"]
MIN_EXPECTED = 5  # samples in a cell of the test; other cells are counted together


@dataclass
class MaxSum(Study):
    """Configurations by back-tracking, node by node and by conditional modes (PRML 8.4.5).

    Tables are scaled so that the joint sums to one. Of values that are equally good, the worst
    combination counts. Conditional modes start from a random configuration. Of a chain, one more
    draw is recorded as a trellis: the predecessor of each state, and the paths that are maxima.
    """

    headline = {"gap": "max(gap['back-tracking'])", "modes": "max(modes)"}
    quantities = {
        "gap": quantity(
            "log of the largest probability minus that of the chosen configuration",
            "choice draw",
            unit="nats",
        ),
        "modes": quantity("number of configurations with the largest probability", "draw"),
        "traced_modes": quantity("number of configurations that back-tracking reaches", "draw"),
        "max_marginal": quantity(
            "maximum of the joint probability over all other variables",
            "algorithm draw variable state",
        ),
        "sample_p": quantity("p-value of the distribution of samples", "draw"),
        "long_product": quantity("maximum of a long chain, as a product"),
        "long_sum": quantity("maximum of a long chain, as a sum of logarithms", unit="nats"),
        "operations": quantity("multiplications and comparisons for the maximum", "way"),
        "predecessor": quantity("best state of a node for each state of the next", "before state"),
        "best_path": quantity("states of the paths that are maxima", "path node"),
    }
    axes = {
        "choice": axis_of("how a configuration is chosen"),
        "draw": axis_of("draw of all tables"),
        "algorithm": axis_of("algorithm"),
        "variable": axis_of("variable"),
        "state": axis_of("state"),
        "way": axis_of("how the maximum is computed"),
        "before": axis_of("node of the chain, without the last"),
        "path": axis_of("path"),
        "node": axis_of("node of the chain"),
    }

    factors: list[str] = knob(
        CHAIN, "scopes of the factors, a tree; none: a random tree in each draw", may_be_empty=True
    )
    variables: int = knob(6, "variables of a random tree", at_least=2, at_most=8)
    states: int = knob(3, "states of each variable", at_least=2, at_most=4)
    levels: int = knob(2, "different entries of a table; 0: any number from 0.1 to 1", at_least=0)
    long: int = knob(2000, "nodes of a chain that may underflow", at_least=2, at_most=10_000)
    samples: int = knob(0, "samples of each tree", at_least=0, at_most=100_000)
    draws: int = knob(40, "draws of all tables", at_least=1, at_most=10_000)

    @property
    def known(self) -> list[str]:
        return names(self.factors) or [f"x{k}" for k in range(1, self.variables + 1)]

    def problems(self) -> Iterator[str]:
        yield from scope_problems("factors", self.factors)
        if self.factors and not factor_graph(self._tables(np.random.default_rng(0))).is_tree:
            yield "study.factors: their graph has a loop or falls apart; allowed: a tree"
        if len(self.known) > 8:
            yield f"study.factors: {len(self.known)} variables; allowed: 8, for all settings count"

    def run(self, rng: Generator) -> Outcome:
        gap = np.empty((len(CHOICES), self.draws))
        modes, traced_modes = np.empty((2, self.draws), dtype=int)
        shape = len(ALGORITHMS), self.draws, len(self.known), self.states
        max_marginal, sample_p = np.empty(shape), np.empty(self.draws)
        for draw in range(self.draws):
            tables = self._tables(rng)
            gap[:, draw], modes[draw], traced_modes[draw] = self._chosen(tables, rng)
            for a, name in enumerate(ALGORITHMS):
                found = METHODS[name].run(tables, {}, MAX_PRODUCT, rng).marginals
                max_marginal[a, draw] = [found[x] for x in self.known]
            if self.samples:
                sample_p[draw] = self._p_value(tables, rng)
        long_product, long_sum = self._long(rng)
        way, operations = self._cost(rng)
        trellis, axes = self._trellis(rng)
        return outcome(
            {
                "choice": CHOICES,
                "draw": self.draws,
                "algorithm": ALGORITHMS,
                "variable": self.known,
                "state": self.states,
                "way": way,
                **axes,
            },
            gap=("choice draw", gap),
            modes=("draw", modes),
            traced_modes=("draw", traced_modes),
            max_marginal=("algorithm draw variable state", max_marginal),
            long_product=long_product,
            long_sum=long_sum,
            operations=("way", operations),
            **({"sample_p": ("draw", sample_p)} if self.samples else {}),
            **trellis,
        )

    def _tables(self, rng: Generator) -> list[Factor]:
        """Tables of a joint that sums to one."""
        grown = [f"x{rng.integers(1, k)}, x{k}" for k in range(2, len(self.known) + 1)]
        entries = np.linspace(0.1, 1.0, self.levels) if self.levels else None
        tables = []
        for scope in self.factors or grown:
            own = tuple(split(scope)[0])
            shape = [self.states] * len(own)
            drawn = rng.uniform(0.1, 1, shape) if entries is None else rng.choice(entries, shape)
            tables.append(Factor(own, drawn))
        total = product(tables).table.sum()
        return [Factor(tables[0].variables, tables[0].table / total), *tables[1:]]

    def _chosen(self, tables: Sequence[Factor], rng: Generator) -> tuple[list[float], int, int]:
        """The largest gap of each choice; the number of maxima, and of those that are traced."""
        graph, every = factor_graph(_logs(tables)), self.known
        joint = keep(product(graph.factors, MAX_SUM), every, MAX_SUM).table
        best = float(joint.max())
        scores = [keep(Factor(tuple(every), joint), [name], MAX_SUM).table for name in every]
        paths = [[_at(one, every) for one in traced(graph, root)] for root in every]
        start = tuple(int(k) for k in rng.integers(self.states, size=len(every)))
        chosen = [
            [at for some in paths for at in some],
            chosen_apart(scores),
            [conditional_modes(joint, start)],
        ]
        gaps = [best - min(float(joint[at]) for at in some) for some in chosen]
        return gaps, int((joint >= best - 1e-9).sum()), len(set(paths[0]))

    def _p_value(self, tables: Sequence[Factor], rng: Generator) -> float:
        """Of a chi-square test of samples against the joint."""
        drawn = sampled(factor_graph(tables), self.known[0], self.samples, rng)
        joint = keep(normalised(product(tables)), self.known).table
        counts = np.zeros(joint.shape)
        np.add.at(counts, tuple(drawn[name] for name in self.known), 1)
        few = self.samples * joint < MIN_EXPECTED
        seen, wanted = (np.append(t[~few], t[few].sum()) for t in (counts, self.samples * joint))
        return float(chisquare(seen[wanted > 0], wanted[wanted > 0]).pvalue)

    def _long(self, rng: Generator) -> tuple[float, float]:
        """The maximum of a long chain of conditional tables as a product and as a sum of logs."""
        psi = rng.dirichlet(np.ones(self.states), (self.long - 1, self.states))
        pairs = ((as_factors(psi), MAX_PRODUCT), (as_factors(np.log(psi)), MAX_SUM))
        first, second = (
            float(marginal(graph, inward(graph, "x1", ring), "x1", ring).max())
            for graph, ring in pairs
        )
        return first, second

    def _cost(self, rng: Generator) -> tuple[list[str], list[int]]:
        """Operations for the maximum over all configurations and by messages to a root."""
        graph, name = factor_graph(self._tables(rng)), self.known[0]
        ring, tally = counted(MAX_PRODUCT)
        keep(product(graph.factors, ring), [], ring)
        other, other_tally = counted(MAX_PRODUCT)
        other.plus.reduce(marginal(graph, inward(graph, name, other), name, other), axis=(0,))
        return ["all configurations", "messages"], [tally.operations, other_tally.operations]

    def _trellis(self, rng: Generator) -> tuple[dict[str, Any], dict[str, Any]]:
        """Figure 8.53: the predecessor of each state, and all paths that are maxima."""
        every = self.known
        if [split(scope)[0] for scope in self.factors] != [list(p) for p in pairwise(every)]:
            return {}, {}
        graph = factor_graph(_logs(self._tables(rng)))
        before = predecessors(graph, every[-1])
        paths = [_at(one, every) for one in traced(graph, every[-1])]
        found = {
            "predecessor": ("before state", [before[x] for x in every[:-1]]),
            "best_path": ("path node", paths),
        }
        return found, {"before": every[:-1], "node": every, "path": len(paths)}


def _logs(tables: Sequence[Factor]) -> list[Factor]:
    return [Factor(f.variables, np.log(f.table)) for f in tables]


def _at(setting: dict[str, int], names: Sequence[str]) -> tuple[int, ...]:
    return tuple(setting[name] for name in names)
