"""Parallel messages on trees and on graphs with loops (PRML 8.4.7; MLAPP 20.2.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.pairwise import (
    SHAPES,
    Field,
    beliefs,
    exact,
    length,
    node_by_node,
    rounds,
    shaped,
)
from bythebook.models.graphs.propagation import factor_graph, one_by_one
from bythebook.models.types import Floats, Ints

RIGHT = 1e-10  # a belief this close is correct up to rounding
SHOWN = 30  # rounds whose errors are kept
SERIAL = 20  # draws in which messages are sent one by one


class Course(NamedTuple):
    """Final beliefs, last changes of a message, and errors by round, of some fields."""

    belief: Floats  # (field, node)
    change: Floats  # (field,)
    round_error: Floats  # (field, round)
    first_right: Ints  # the first of these after which all beliefs are correct; -1 for none


@dataclass
class LoopyPropagation(Study):
    """Loopy beliefs by round against all configurations, for growing link strengths (PRML 8.4.7).

    Nodes have two states, ln psi_s = h_s x_s and ln psi_st = J_st x_s x_t with x = -1, 1 and h, J
    drawn from Gaussians. Each draw has a new tree. Also nodes that send in turn, and
    messages sent one by one while any is pending.
    """

    headline = {"error": "max(abs(belief - exact_belief))"}
    more_quantities = True
    quantities = {
        "belief": quantity(
            "probability that a node is 1, by loopy messages", "coupling damping draw node"
        ),
        "exact_belief": quantity("exact probability that a node is 1", "coupling draw node"),
    }

    shape: str = knob("grid", "of the graph", choices=SHAPES)
    variables: int = knob(9, "nodes; of a grid a square number", at_least=3, at_most=12)
    couplings: list[float] = knob(
        [0.1, 0.5, 1.0, 2.0], "standard deviations of J", at_least=0, distinct=True
    )
    field: float = knob(0.5, "standard deviation of h", at_least=0)
    dampings: list[float] = knob(
        [0.0], "shares of the old message that stay", at_least=0, below=1, distinct=True
    )
    rounds: int = knob(200, "rounds of messages", at_least=1, at_most=100_000)
    pending: int = knob(0, "messages sent one by one while pending; 0: not tried", at_least=0)
    draws: int = knob(100, "draws of all potentials", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        if self.shape == "grid" and self.variables not in (4, 9):
            yield f"study.variables={self.variables} of a grid; allowed: 4, 9"

    def run(self, rng: Generator) -> Outcome:
        coupling, damping = axis("coupling", self.couplings), axis("damping", self.dampings)
        draw, node = axis("draw", self.draws), axis("node", self.variables)
        step = axis("round", min(self.rounds, SHOWN) + 1)
        groups = self._groups(rng)
        right = [[exact(field)[..., 1] for field in fields] for fields in groups]
        courses = [
            [[self._course(field, share) for field in fields] for share in self.dampings]
            for fields in groups
        ]
        more = {"belief": (node,), "change": (), "round_error": (step,), "first_right": ()}
        found = {
            name: over(
                [
                    [np.concatenate([getattr(c, name) for c in row]) for row in rows]
                    for rows in courses
                ],
                *(coupling, damping, draw, *axes),
            )
            for name, axes in more.items()
        }
        spans = [length(f.links, len(node)) for f in groups[0] for _ in range(len(f.nodes))]
        return Outcome(
            exact_belief=over([np.concatenate(rows) for rows in right], coupling, draw, node),
            diameter=draw.of(spans),
            links=len(groups[0][0].links),
            **found,
            **self._in_turn(groups, rng),
            **self._one_by_one(groups[0], rng),
        )

    def _groups(self, rng: Generator) -> list[list[Field]]:
        """For each coupling all draws as one field; trees differ, so each draw is a field."""
        count, x = (self.draws, 1) if self.shape == "tree" else (1, self.draws), np.array([-1.0, 1])
        groups: list[list[Field]] = [[] for _ in self.couplings]
        for _ in range(count[0]):
            links = shaped(self.shape, self.variables, rng)
            h = self.field * rng.standard_normal((count[1], self.variables, 1))
            J = rng.standard_normal((count[1], len(links), 1, 1))
            for group, strength in zip(groups, self.couplings, strict=True):
                tables = np.exp(strength * J * np.multiply.outer(x, x))
                group.append(Field(np.exp(h * x), links, tables))
        return groups

    def _course(self, field: Field, damping: float) -> Course:
        truth = exact(field)
        right = np.full(len(truth), -1)
        errors = []
        last = before = np.empty(0)
        for k, messages in enumerate(islice(rounds(field, damping), self.rounds + 1)):
            before, last = last, messages
            if k <= SHOWN:
                off = np.abs(beliefs(field, messages) - truth).max((-1, -2))
                right = np.where((right < 0) & (off <= RIGHT), k, right)
                errors.append(off)
        change = np.abs(last - before).max((-1, -2))
        return Course(beliefs(field, last)[..., 1], change, np.array(errors).T, right)

    def _in_turn(self, groups: list[list[Field]], rng: Generator) -> dict[str, Quantity]:
        """On a tree: each node sends as often as the tree is long, in fixed or random turns."""
        if self.shape != "tree":
            return {}
        coupling, draw = axis("coupling", self.couplings), axis("draw", self.draws)
        ways = axis("turns", ["random sweeps", "one node after another"])
        off = np.empty((len(coupling), len(ways), self.draws))
        for k in range(self.draws):
            span = length(groups[0][k].links, self.variables)
            sweeps = np.concatenate([rng.permutation(self.variables) for _ in range(span)])
            for c, fields in enumerate(groups):
                for w, order in enumerate((sweeps, np.sort(sweeps))):
                    messages = node_by_node(fields[k], order)
                    off[c, w, k] = np.abs(beliefs(fields[k], messages) - exact(fields[k])).max()
        return {"turn_error": over(off, coupling, ways, draw)}

    def _one_by_one(self, fields: list[Field], rng: Generator) -> dict[str, Quantity]:
        """Whether a message is pending after `pending` messages; first coupling, some draws."""
        if not self.pending:
            return {}
        singles = islice((one for field in fields for one in field.each()), SERIAL)
        left = [
            one_by_one(factor_graph(one.factors()), rng, self.pending, waiting=False).pending > 0
            for one in singles
        ]
        return {"still_pending": axis("serial", len(left)).of(left)}
