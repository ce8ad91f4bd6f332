"""Parallel messages on trees and on graphs with loops (PRML 8.4.7; MLAPP 20.2.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
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
RECORDED = 30  # rounds whose errors are recorded
SERIAL = 20  # draws in which messages are sent one by one
TURNS = ["random sweeps", "one node after another"]


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
    drawn from Gaussians. A graph is a shape, or its links, "a-b, b-c". Each draw has a new tree.
    On trees, nodes also send in turn, each as often as the tree's diameter.
    """

    headline = {"error": "max(abs(belief - exact_belief))"}
    quantities = {
        "belief": quantity(
            "probability that a node is 1, by loopy messages", "graph coupling damping draw node"
        ),
        "exact_belief": quantity("exact probability that a node is 1", "graph coupling draw node"),
        "change": quantity(
            "largest change of a message in the last round", "graph coupling damping draw"
        ),
        "round_error": quantity(
            "largest error of a belief after each round", "graph coupling damping draw iteration"
        ),
        "first_right": quantity(
            "first round after which all beliefs are correct; -1 if there is none",
            "graph coupling damping draw",
        ),
        "diameter": quantity("diameter of the graph", "graph draw", unit="links"),
        "turn_error": quantity(
            "largest error of a belief if nodes send in turn", "graph coupling turns draw"
        ),
        "still_pending": quantity(
            "whether a message is pending after messages sent one by one", "graph serial"
        ),
    }
    axes = {
        "graph": axis_of("graph"),
        "coupling": axis_of("standard deviation of J"),
        "damping": axis_of("share of the old message that stays"),
        "draw": axis_of("draw of all potentials"),
        "node": axis_of("node"),
        "iteration": axis_of("round"),
        "turns": axis_of("order of the turns"),
        "serial": axis_of("draw of the first coupling"),
    }

    graphs: list[str] = knob(
        ["grid"], f"graphs of equally many nodes: {', '.join(SHAPES)}, or links", distinct=True
    )
    variables: int = knob(9, "nodes of a shape; of a grid a square", at_least=3, at_most=12)
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
        for graph in self.graphs:
            if graph not in SHAPES and any(link.count("-") != 1 for link in graph.split(",")):
                yield f"study.graphs: {graph}; allowed: {', '.join(SHAPES)}, or links such as a-b"
                return
        if len({self._nodes(graph) for graph in self.graphs}) > 1:
            yield f"study.graphs={self.graphs}: allowed: graphs with equally many nodes"
        if max(self._nodes(graph) for graph in self.graphs) > 12:
            yield "study.graphs: more than 12 nodes; allowed: 12, for all configurations count"
        if "grid" in self.graphs and self.variables not in (4, 9):
            yield f"study.variables={self.variables} of a grid; allowed: 4, 9"

    def run(self, rng: Generator) -> Outcome:
        cells = [self._groups(graph, rng) for graph in self.graphs]
        courses = [
            [[_joined(fields, self.rounds, share) for share in self.dampings] for fields in groups]
            for groups in cells
        ]
        right = [
            [np.concatenate([exact(field)[..., 1] for field in fields]) for fields in groups]
            for groups in cells
        ]
        N = self._nodes(self.graphs[0])
        along = "graph coupling damping draw"
        coords: dict[str, Any] = {"graph": self.graphs, "coupling": self.couplings}
        coords |= {"damping": self.dampings, "draw": self.draws, "node": np.arange(1, N + 1)}
        coords |= {"iteration": min(self.rounds, RECORDED) + 1}
        found: dict[str, Any] = {
            "diameter": ("graph draw", [_diameters(groups[0], N) for groups in cells])
        }
        if all(graph == "tree" for graph in self.graphs):
            coords |= {"turns": TURNS}
            found["turn_error"] = (
                "graph coupling turns draw",
                [self._in_turn(groups, rng) for groups in cells],
            )
        if self.pending:
            left = [self._one_by_one(groups[0], rng) for groups in cells]
            coords |= {"serial": len(left[0])}
            found["still_pending"] = ("graph serial", left)
        for name, axis in {"belief": " node", "change": "", "first_right": ""}.items():
            values = [[[getattr(c, name) for c in row] for row in rows] for rows in courses]
            found[name] = (along + axis, values)
        errors = [[[course.round_error for course in row] for row in rows] for rows in courses]
        return outcome(
            coords,
            exact_belief=("graph coupling draw node", right),
            round_error=(f"{along} iteration", errors),
            **found,
        )

    def _nodes(self, graph: str) -> int:
        return self.variables if graph in SHAPES else int(_stated(graph).max()) + 1

    def _groups(self, graph: str, rng: Generator) -> list[list[Field]]:
        """For each coupling all draws as one field; trees differ, so each draw is a field."""
        count, x = (self.draws, 1) if graph == "tree" else (1, self.draws), np.array([-1.0, 1])
        groups: list[list[Field]] = [[] for _ in self.couplings]
        N = self._nodes(graph)
        for _ in range(count[0]):
            links = shaped(graph, N, rng) if graph in SHAPES else _stated(graph)
            h = self.field * rng.standard_normal((count[1], N, 1))
            J = rng.standard_normal((count[1], len(links), 1, 1))
            for group, strength in zip(groups, self.couplings, strict=True):
                tables = np.exp(strength * J * np.multiply.outer(x, x))
                group.append(Field(np.exp(h * x), links, tables))
        return groups

    def _in_turn(self, groups: list[list[Field]], rng: Generator) -> Floats:
        """The largest errors if each node sends as often as the tree's diameter."""
        off = np.empty((len(self.couplings), len(TURNS), self.draws))
        for k in range(self.draws):
            span = length(groups[0][k].links, self.variables)
            sweeps = np.concatenate([rng.permutation(self.variables) for _ in range(span)])
            for c, fields in enumerate(groups):
                for w, order in enumerate((sweeps, np.sort(sweeps))):
                    messages = node_by_node(fields[k], order)
                    off[c, w, k] = np.abs(beliefs(fields[k], messages) - exact(fields[k])).max()
        return off

    def _one_by_one(self, fields: list[Field], rng: Generator) -> list[bool]:
        """Whether a message is pending after `pending` messages, in some draws."""
        singles = islice((one for field in fields for one in field.each()), SERIAL)
        return [
            one_by_one(factor_graph(one.factors()), rng, self.pending, waiting=False).pending > 0
            for one in singles
        ]


def _stated(graph: str) -> Ints:
    """The links of a text such as "a-b, b-c"; nodes are numbered as they first occur."""
    pairs = [[end.strip() for end in link.split("-")] for link in graph.split(",")]
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    return np.array([[names.index(name) for name in pair] for pair in pairs])


def _diameters(fields: list[Field], N: int) -> list[int]:
    return [length(field.links, N) for field in fields for _ in range(len(field.nodes))]


def _joined(fields: list[Field], count: int, damping: float) -> Course:
    courses = [_course(field, count, damping) for field in fields]
    return Course(*(np.concatenate(parts) for parts in zip(*courses, strict=True)))


def _course(field: Field, count: int, damping: float) -> Course:
    truth = exact(field)
    right = np.full(len(truth), -1)
    errors = []
    last = before = np.empty(0)
    for k, messages in enumerate(islice(rounds(field, damping), count + 1)):
        before, last = last, messages
        if k <= RECORDED:
            off = np.abs(beliefs(field, messages) - truth).max((-1, -2))
            right = np.where((right < 0) & (off <= RIGHT), k, right)
            errors.append(off)
    change = np.abs(last - before).max((-1, -2))
    return Course(beliefs(field, last)[..., 1], change, np.array(errors).T, right)
