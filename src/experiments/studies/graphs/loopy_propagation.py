"""Messages of all nodes at once on trees and on graphs with loops (PRML 8.4.7; MLAPP 20.2.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.graphs.pairwise import (
    Field,
    beliefs,
    exact,
    grid,
    length,
    node_by_node,
    random_tree,
    rounds,
)
from models.graphs.propagation import factor_graph, one_by_one
from models.types import Floats, Ints

SHAPES = ("tree", "ring", "grid", "complete")
RIGHT = 1e-10  # a belief this close is right but for rounding
SHOWN = 30  # rounds whose errors are kept


class Course(NamedTuple):
    """Of one field: beliefs at the end, the last change of a message, errors round by round."""

    belief: Floats
    change: float
    round_error: Floats
    first_right: int  # the first round after which all beliefs are right; -1 for none


@dataclass
class LoopyPropagation(Study):
    """Beliefs round by round against all configurations, as links grow stronger.

    Nodes have two states, ln psi_s = h_s x_s and ln psi_st = J_st x_s x_t with x = -1, 1 and h, J
    drawn from Gaussians. A tree is drawn anew in each draw. Also nodes that send in turn, and
    messages sent one by one while any is pending.
    """

    headline = {"error": "max(abs(belief - exact_belief))"}

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
        fields = [self._fields(rng) for _ in range(self.draws)]  # of each draw one a coupling
        courses = [
            [[self._course(by_draw[c], share) for by_draw in fields] for share in self.dampings]
            for c in range(len(coupling))
        ]
        names = {"belief": (node,), "change": (), "round_error": (step,), "first_right": ()}
        found = {
            name: over(
                [[[getattr(one, name) for one in row] for row in rows] for rows in courses],
                *(coupling, damping, draw, *more),
            )
            for name, more in names.items()
        }
        right = [[exact(by_draw[c])[:, 1] for by_draw in fields] for c in range(len(coupling))]
        spans = [length(by_draw[0].links, self.variables) for by_draw in fields]
        return Outcome(
            exact_belief=over(right, coupling, draw, node),
            diameter=draw.of(spans),
            links=len(fields[0][0].links),
            **found,
            **self._in_turn(fields, spans, rng),
            **self._one_by_one(fields, rng),
        )

    def _links(self, rng: Generator) -> Ints:
        if self.shape == "tree":
            return random_tree(self.variables, rng)
        if self.shape == "grid":
            return grid(*[round(self.variables**0.5)] * 2)
        if self.shape == "ring":
            return np.array([(k, (k + 1) % self.variables) for k in range(self.variables)])
        return np.array(list(combinations(range(self.variables), 2)))

    def _fields(self, rng: Generator) -> list[Field]:
        """One draw, with its links as strong as each coupling says."""
        links, x = self._links(rng), np.array([-1.0, 1.0])
        nodes = np.exp(self.field * rng.standard_normal((self.variables, 1)) * x)
        J = rng.standard_normal((len(links), 1, 1)) * np.multiply.outer(x, x)
        return [Field(nodes, links, np.exp(strength * J)) for strength in self.couplings]

    def _course(self, field: Field, damping: float) -> Course:
        truth, errors, right = exact(field), [], -1
        last = before = None
        for k, messages in enumerate(islice(rounds(field, damping), self.rounds + 1)):
            before, last = last, messages
            if k <= SHOWN or right < 0:
                off = float(np.abs(beliefs(field, messages) - truth).max())
                errors.append(off)
                right = k if right < 0 and off <= RIGHT else right
        assert last is not None
        assert before is not None
        change = float(np.abs(last - before).max())
        shown = np.array(errors[: min(self.rounds, SHOWN) + 1])
        return Course(beliefs(field, last)[:, 1], change, shown, right)

    def _in_turn(
        self, fields: list[list[Field]], spans: list[int], rng: Generator
    ) -> dict[str, Quantity]:
        """On a tree: each node sends as often as the tree is long, in turns or all at once."""
        if self.shape != "tree":
            return {}
        coupling, draw = axis("coupling", self.couplings), axis("draw", self.draws)
        ways = axis("turns", ["random sweeps", "one node after another"])
        off = np.empty((len(coupling), 2, self.draws))
        for k, (by_coupling, span) in enumerate(zip(fields, spans, strict=True)):
            sweeps = np.concatenate([rng.permutation(self.variables) for _ in range(span)])
            for c, field in enumerate(by_coupling):
                for w, order in enumerate((sweeps, np.sort(sweeps))):
                    told = node_by_node(field, order)
                    off[c, w, k] = np.abs(beliefs(field, told) - exact(field)).max()
        return {"turn_error": over(off, coupling, ways, draw)}

    def _one_by_one(self, fields: list[list[Field]], rng: Generator) -> dict[str, Quantity]:
        """Whether a message is still pending after so many have been sent."""
        if not self.pending:
            return {}
        sent = [
            one_by_one(factor_graph(by_draw[0].factors()), rng, self.pending, waiting=False)
            for by_draw in fields
        ]
        return {"still_pending": axis("draw", self.draws).of([not one.ended for one in sent])}
