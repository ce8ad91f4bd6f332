"""Most probable configurations of trees, with ties, and samples (PRML 8.4.5; MLAPP 20.2.4)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.stats import chisquare

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._joint import off, side_by_side
from bythebook.experiments.studies.graphs._scopes import names, scope_problems, split
from bythebook.models.graphs.chain_costs import as_factors
from bythebook.models.graphs.counting import counted
from bythebook.models.graphs.factors import (
    MAX_PRODUCT,
    MAX_SUM,
    Factor,
    clamp,
    keep,
    normalised,
    product,
)
from bythebook.models.graphs.maxima import (
    chosen_apart,
    conditional_modes,
    predecessors,
    sampled,
    traced,
)
from bythebook.models.graphs.propagation import (
    FactorGraph,
    factor_graph,
    inward,
    marginal,
    two_passes,
)
from bythebook.models.types import Floats

CHAIN = ["x1, x2", "x2, x3", "x3, x4", "x4, x5"]


class Tried(NamedTuple):
    """One draw of all tables; gaps are differences of logarithms below the maximum."""

    maximum: float
    modes: int
    log_maximum_found: float
    root_spread: float
    max_marginal_error: float
    traced_gap: float
    traced_modes: int
    nodewise_gap: float
    printed_gap: float
    clamped_gap: float
    icm_gap: float
    sample_p_value: float


@dataclass
class MaxSum(Study):
    """Max-sum from every root, with all ties, against the table of all configurations (PRML 8.4.5).

    Tables are scaled so that the joint sums to one. For values chosen node by node, and for
    predecessors by (8.101) as printed, the worst combination counts. Conditional modes
    start from a configuration drawn at random. Without samples their p value is one; cells where
    fewer than five are expected are counted together. Of a chain, one more draw is kept as a
    trellis: each state's predecessor, and the paths that are maxima.
    """

    headline = {"gap": "max(traced_gap)", "modes": "max(modes)"}
    more_quantities = True
    quantities = {
        "modes": quantity("number of configurations with the largest probability", "draw"),
        "traced_gap": quantity(
            "log of the largest probability minus that of a traced configuration", "draw"
        ),
    }

    factors: list[str] = knob(
        CHAIN, "scopes of the factors, a tree; none: a random tree in each draw", may_be_empty=True
    )
    variables: int = knob(6, "variables of a random tree", at_least=2, at_most=8)
    states: int = knob(3, "states of each variable", at_least=2, at_most=4)
    levels: int = knob(2, "different entries of a table; 0: any number from 0.1 to 1", at_least=0)
    observed: list[str] = knob(
        [], "observed variables, in one of the checks", may_be_empty=True, distinct=True
    )
    long: int = knob(2000, "nodes of a chain that may underflow", at_least=2, at_most=10_000)
    samples: int = knob(0, "samples of each tree", at_least=0, at_most=100_000)
    draws: int = knob(40, "draws of all tables", at_least=1, at_most=10_000)

    @property
    def known(self) -> list[str]:
        return names(self.factors) or [f"x{k}" for k in range(1, self.variables + 1)]

    def problems(self) -> Iterator[str]:
        yield from scope_problems("factors", self.factors)
        if not set(self.observed) <= set(self.known):
            yield f"study.observed={self.observed}; allowed: {', '.join(self.known)}"
        if self.factors and not factor_graph(self._tables(np.random.default_rng(0))).is_tree:
            yield "study.factors: their graph has a loop or falls apart; allowed: a tree"
        if len(self.known) > 8:
            yield f"study.factors: {len(self.known)} variables; allowed: 8, for all settings count"

    def run(self, rng: Generator) -> Outcome:
        tried = [self._tried(rng) for _ in range(self.draws)]
        return Outcome(
            **side_by_side(tried, axis("draw", self.draws)),
            **self._long(rng),
            **self._cost(rng),
            **self._trellis(rng),
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

    def _tried(self, rng: Generator) -> Tried:
        tables = self._tables(rng)
        logs = [Factor(f.variables, np.log(f.table)) for f in tables]
        graph, every = factor_graph(logs), self.known
        joint = keep(product(logs, MAX_SUM), every, MAX_SUM).table
        best = float(joint.max())
        tops = [_top(graph, root) for root in every]
        both = two_passes(graph, every[0], MAX_SUM)
        scores = [marginal(graph, both, name, MAX_SUM) for name in every]
        right = [keep(Factor(tuple(every), joint), [name], MAX_SUM).table for name in every]
        paths = [[_at(one, every) for one in traced(graph, root)] for root in every]
        printed = [_at(one, every) for one in traced(graph, every[-1], with_messages=False)]
        start = tuple(int(k) for k in rng.integers(self.states, size=len(every)))
        return Tried(
            maximum=float(np.exp(best)),
            modes=int((joint >= best - 1e-9).sum()),
            log_maximum_found=tops[0],
            root_spread=max(tops) - min(tops),
            max_marginal_error=max(off(a, b) for a, b in zip(scores, right, strict=True)),
            traced_gap=max(best - float(joint[at]) for some in paths for at in some),
            traced_modes=len(set(paths[0])),
            nodewise_gap=max(best - float(joint[at]) for at in chosen_apart(scores)),
            printed_gap=max(best - float(joint[at]) for at in printed),
            clamped_gap=self._clamped(logs, joint, rng),
            icm_gap=best - float(joint[conditional_modes(joint, start)]),
            sample_p_value=self._p_value(tables, rng),
        )

    def _clamped(self, logs: Sequence[Factor], joint: Floats, rng: Generator) -> float:
        """The worst gap from the best configuration that agrees with an observation."""
        given = {name: int(rng.integers(self.states)) for name in self.observed}
        graph = factor_graph(clamp(logs, given, MAX_SUM))
        agree = joint[tuple(given.get(name, slice(None)) for name in self.known)]
        found = [joint[_at(one, self.known)] for one in traced(graph, self.known[0])]
        return float(agree.max() - min(found))

    def _p_value(self, tables: Sequence[Factor], rng: Generator) -> float:
        """Of a chi-square test of samples against the joint."""
        if not self.samples:
            return 1.0
        drawn = sampled(factor_graph(tables), self.known[0], self.samples, rng)
        joint = keep(normalised(product(tables)), self.known).table
        counts = np.zeros(joint.shape)
        np.add.at(counts, tuple(drawn[name] for name in self.known), 1)
        few = self.samples * joint < 5
        seen, wanted = (np.append(t[~few], t[few].sum()) for t in (counts, self.samples * joint))
        return float(chisquare(seen[wanted > 0], wanted[wanted > 0]).pvalue)

    def _long(self, rng: Generator) -> dict[str, float]:
        """The maximum of a long chain of conditional tables as a product and as a sum of logs."""
        psi = rng.dirichlet(np.ones(self.states), (self.long - 1, self.states))
        products, sums = as_factors(psi), as_factors(np.log(psi))
        return {
            "long_product": float(
                marginal(products, inward(products, "x1", MAX_PRODUCT), "x1", MAX_PRODUCT).max()
            ),
            "long_sum": _top(sums, "x1"),
        }

    def _cost(self, rng: Generator) -> dict[str, Quantity]:
        """Operations for the maximum, by messages to a root and over all configurations."""
        graph, counts = factor_graph(self._tables(rng)), []
        for all_at_once in (True, False):
            ring, tally = counted(MAX_PRODUCT)
            if all_at_once:
                keep(product(graph.factors, ring), [], ring)
            else:
                name = self.known[0]
                ring.plus.reduce(marginal(graph, inward(graph, name, ring), name, ring), axis=(0,))
            counts.append(tally.operations)
        return {"operations": axis("way", ["all configurations", "messages"]).of(counts)}

    def _trellis(self, rng: Generator) -> dict[str, Quantity]:
        """Figure 8.53: the predecessor of each state, and all paths that are maxima."""
        every = self.known
        if [split(scope)[0] for scope in self.factors] != [list(p) for p in pairwise(every)]:
            return {}
        logs = [Factor(f.variables, np.log(f.table)) for f in self._tables(rng)]
        graph, joint = factor_graph(logs), keep(product(logs, MAX_SUM), every, MAX_SUM).table
        before = predecessors(graph, every[-1])
        tracked = []
        for last in range(self.states):
            path = [last]
            for name in every[-2::-1]:
                path.insert(0, int(before[name][path[0]]))  # 8.102
            tracked.append(joint[tuple(path)])
        paths = [_at(one, every) for one in traced(graph, every[-1])]
        node, state = axis("node", every), axis("state", self.states)
        return {
            "predecessor": over([before[x] for x in every[:-1]], axis("before", every[:-1]), state),
            "best_path": over(paths, axis("path", len(paths)), node),
            "tracked_log": state.of(tracked),
            "best_log": state.of(joint.reshape(-1, self.states).max(0)),
        }


def _top(graph: FactorGraph, root: str) -> float:
    """The largest sum of messages at a root (8.97)."""
    return float(marginal(graph, inward(graph, root, MAX_SUM), root, MAX_SUM).max())


def _at(setting: dict[str, int], names: Sequence[str]) -> tuple[int, ...]:
    return tuple(setting[name] for name in names)
