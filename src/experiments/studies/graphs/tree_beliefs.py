"""Evidence collected at a root and distributed: what each message knows (MLAPP 20.2.1)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.chains.hmm import smoother
from models.graphs.collection import collect, distribute, hung
from models.graphs.factors import product
from models.graphs.pairwise import Field, exact, random_tree
from models.types import Floats, Ints

SHAPES = ["tree", "chain"]
READINGS = ["the part below", "the whole field"]


class Tried(NamedTuple):
    """One tree with potentials: worst errors over all roots, effects with the first as the root."""

    root_error: float
    belief_error: float
    log_normalisers: float
    log_total: float
    directed_normalisers: float
    directed_evidence: float
    division_gap: float
    sibling_effect: float
    recipient_effect: float


@dataclass
class TreeBeliefs(Study):
    """Beliefs by two passes against all configurations, and what messages hang on.

    A directed tree has conditional tables on its links and likelihoods at its nodes. Effects are
    the largest change of a message from the parent when evidence is drawn anew: of all nodes below
    its sender, or of those at and below its recipient.
    """

    headline = {"error": "max(belief_error)"}

    variables: int = knob(7, "nodes", at_least=3, at_most=9)
    states: int = knob(3, "states of each node", at_least=2, at_most=4)
    draws: int = knob(40, "draws of trees and potentials", at_least=1, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        shape, draw = axis("shape", SHAPES), axis("draw", self.draws)
        fields = [[self._field(some, rng) for _ in range(self.draws)] for some in SHAPES]
        tried = [[_tried(field, rng) for field in some] for some in fields]
        found = over(tried, shape, draw, axis("checked", list(Tried._fields)))
        upward = [[_upward_error(field, whole) for field in fields[0]] for whole in (False, True)]
        return Outcome(
            **{name: found.at(checked=name) for name in Tried._fields},
            upward_error=over(upward, axis("reading", READINGS), draw),
            forward_backward_gap=draw.of([self._chain_gap(rng) for _ in range(self.draws)]),
        )

    def _links(self, shape: str, rng: Generator) -> Ints:
        N = self.variables
        return (
            random_tree(N, rng) if shape == "tree" else np.array([(k, k + 1) for k in range(N - 1)])
        )

    def _field(self, shape: str, rng: Generator) -> Field:
        links, K = self._links(shape, rng), self.states
        nodes, tables = (
            rng.uniform(0.1, 1, (self.variables, K)),
            rng.uniform(0.1, 1, (len(links), K, K)),
        )
        return Field(nodes, links, tables)

    def _chain_gap(self, rng: Generator) -> float:
        """Beliefs on a chain against those of a hidden Markov model."""
        K, T = self.states, self.variables
        start, A, seen = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K), rng.random((T, K))
        nodes = seen.copy()
        nodes[0] *= start
        field = Field(nodes, self._links("chain", rng), np.broadcast_to(A, (T - 1, K, K)))
        order = hung(field, T // 2)
        found = distribute(field, order, collect(field, order), dividing=False).belief
        return float(np.abs(found - smoother(start, A, np.log(seen)).smoothed).max())


def _tried(field: Field, rng: Generator) -> Tried:
    right = exact(field)
    roots, beliefs, gaps = [], [], []
    for root in range(len(right)):
        order = hung(field, root)
        up = collect(field, order)
        down, divided = (distribute(field, order, up, dividing=d) for d in (False, True))
        roots.append(np.abs(up.belief[root] - right[root]).max())
        beliefs.append(np.abs(down.belief - right).max())
        gaps.append(np.abs(down.message - divided.message).max())
    directed = _directed(field)
    return Tried(
        root_error=max(roots),
        belief_error=max(beliefs),
        log_normalisers=_log_normalisers(field),
        log_total=_log_total(field),
        directed_normalisers=_log_normalisers(directed),
        directed_evidence=_log_total(directed),
        division_gap=max(gaps),
        sibling_effect=_effect(field, rng, of_all=True),
        recipient_effect=_effect(field, rng, of_all=False),
    )


def _log_normalisers(field: Field) -> float:
    return float(np.log(collect(field, hung(field, 0)).normaliser).sum())


def _log_total(field: Field) -> float:
    """Ln of the sum over all configurations."""
    return float(np.log(product(field.factors()).table.sum()))


def _directed(field: Field) -> Field:
    """The same tree with conditional tables from each node to those that hang on it."""
    nodes = field.nodes.copy()
    nodes[0] *= field.tables[0, 0] / field.tables[0, 0].sum()  # the root's prior
    return Field(nodes, field.links, field.tables / field.tables.sum(-1, keepdims=True))


def _below(order: list[tuple[int, int]], top: int) -> list[int]:
    """A node and all that hang on it."""
    found = [top]
    for node, parent in order:
        if parent in found:
            found.append(node)
    return found


def _upward_error(field: Field, whole: bool) -> float:
    """Bottom-up beliefs against posteriors: of the part below, or with all else unseen."""
    order = hung(field, 0)
    up, worst = collect(field, order).belief, 0.0
    for top, _ in order:
        part = _below(order, top)
        inner = np.isin(field.links, part).all(1)
        nodes, tables = (
            np.ones_like(field.nodes),
            np.where(inner[:, None, None] | whole, field.tables, 1),
        )
        nodes[part] = field.nodes[part]
        worst = max(
            worst, float(np.abs(up[top] - exact(Field(nodes, field.links, tables))[top]).max())
        )
    return worst


def _effect(field: Field, rng: Generator, *, of_all: bool) -> float:
    """How much evidence below changes a message from above, at most."""
    order = hung(field, 0)
    before, worst = _from_above(field, order), 0.0
    for node, parent in order[1:]:
        changed = [n for n in _below(order, parent if of_all else node) if n != parent]
        nodes = field.nodes.copy()
        nodes[changed] = rng.uniform(0.1, 1, nodes[changed].shape)
        after = _from_above(field._replace(nodes=nodes), order)
        worst = max(worst, float(np.abs(after[node] - before[node]).max()))
    return worst


def _from_above(field: Field, order: list[tuple[int, int]]) -> Floats:
    return distribute(field, order, collect(field, order), dividing=False).message
