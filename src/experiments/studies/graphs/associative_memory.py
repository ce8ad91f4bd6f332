"""Patterns stored in a Hopfield network and completed from a part of them (MLAPP 19.4.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import softmax

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs import boltzmann, hopfield
from bythebook.models.graphs.lattice import shapes
from bythebook.models.types import Bools, Floats

RULES = ("outer product", "likelihood")
STAGES = ("start", "after 5", "final")
RIDGE = 0.01  # precision of the prior on weights, per pattern
STEPS = 60  # along the gradient of the pseudo-likelihood of images
FIRM, SETTLED = 0.1, 300  # a stronger prior, with which this number of steps converges
FORMULA_UNITS = 5
FORMULA_DRAWS = 20


@dataclass
class AssociativeMemory(Study):
    """Images stored by two rules and completed by iterated conditional modes (MLAPP 19.4.2).

    Hidden pixels start at -1, visible ones are fixed. The likelihood of images is the
    pseudo-likelihood, that of small networks with random patterns is the likelihood itself.
    """

    headline = {"wrong": "mean(wrong['likelihood', :, 'final'])"}
    more_quantities = True
    quantities = {
        "wrong": quantity("share of the hidden pixels that are wrong", "rule draw stage"),
    }

    size: int = knob(50, "rows and columns of an image", at_least=6, at_most=200)
    patterns: int = knob(5, "images learned", at_least=1, at_most=50)
    hidden: float = knob(0.5, "share of an image that is hidden, from the left", above=0, below=1)
    draws: int = knob(10, "sets of images", at_least=1, at_most=200)
    units: int = knob(10, "of small networks", at_least=4, at_most=12)
    loads: list[int] = knob([2, 3, 4, 5], "their patterns", at_least=1, at_most=12, distinct=True)
    small_draws: int = knob(20, "sets of their patterns", at_least=1, at_most=500)

    def problems(self) -> Iterator[str]:
        if sorted(self.loads) != self.loads:
            yield "study.loads: not in their order; allowed: from few to many"

    def run(self, rng: Generator) -> Outcome:
        rule, draw, stage = axis("rule", RULES), axis("draw", self.draws), axis("stage", STAGES)
        row, column = axis("row", self.size), axis("column", self.size)
        wrong = np.empty((len(rule), self.draws, len(stage)))
        rise = np.empty((len(rule), self.draws))
        shown = np.empty((len(rule), len(stage), self.size, self.size))
        first = np.empty(0)
        left = np.arange(self.size) < max(1, round(self.hidden * self.size))
        hidden = np.tile(left, self.size)  # row by row
        for k in range(self.draws):
            images = np.array([shapes(self.size, rng) for _ in range(self.patterns)])
            Y = images.reshape(self.patterns, -1).astype(float)
            start = np.where(hidden, -1.0, Y[0])
            learned = [hopfield.outer_product(Y), hopfield.by_pseudo_likelihood(Y, STEPS, RIDGE)]
            for r, memory in enumerate(learned):
                path = hopfield.completed(memory, start, hidden)
                kept = [path[0], path[min(5, len(path) - 1)], path[-1]]
                wrong[r, k] = [(y != Y[0])[hidden].mean() for y in kept]
                rise[r, k] = np.diff([memory.energy(y) for y in path]).max()
                if k == 0:
                    shown[r], first = np.array(kept).reshape(shown[r].shape), Y[0]
        return Outcome(
            wrong=over(wrong, rule, draw, stage),
            largest_rise=over(rise, rule, draw),
            original=over(first.reshape(self.size, self.size), row, column),
            picture=over(shown, rule, stage, row, column),
            **self._small(rng),
            **_formulas(rng),
        )

    def _small(self, rng: Generator) -> dict[str, Quantity]:
        """Random patterns of a few units: completed by half, and energies of all states.

        All of it also with the weights as a matrix.
        """
        rule, load = axis("rule", RULES), axis("load", self.loads)
        draw = axis("small_draw", self.small_draws)
        wrong, seen, other, form = np.empty((4, len(rule), len(load), self.small_draws))
        differs = np.empty(wrong.shape, dtype=np.int64)
        unit = axis("unit", self.units), axis("other_unit", self.units)
        weights = np.empty((2, len(load), self.small_draws, self.units, self.units))
        slope, pseudo = np.empty(weights.shape[1:]), np.empty((len(load), self.units, self.units))
        states = boltzmann.all_states(self.units)
        hidden = np.arange(self.units) < self.units // 2
        place = 2.0 ** np.arange(self.units)[::-1]
        for at, P in enumerate(self.loads):
            for k in range(self.small_draws):
                Y = rng.choice(np.array([-1.0, 1.0]), (P, self.units))
                learned = [hopfield.outer_product(Y), hopfield.by_likelihood(Y, RIDGE)]
                mine = np.zeros(len(states), dtype=bool)
                mine[(((Y + 1) / 2) @ place).astype(int)] = True
                outer = Y.T @ Y / self.units * (1 - np.eye(self.units))
                weights[:, at, k] = _matrix(learned[0]), outer
                slope[at, k] = _slope(learned[1], Y, states)
                for r, memory in enumerate(learned):
                    starts = [np.where(hidden, -1.0, y) for y in Y]
                    ends = [hopfield.completed(memory, y, hidden)[-1] for y in starts]
                    direct = [_by_energy(memory, y, hidden) for y in starts]
                    wrong[r, at, k] = (np.array(ends) != Y)[:, hidden].mean()
                    differs[r, at, k] = (np.array(ends) != np.array(direct)).sum()
                    energy = memory.energy(states)
                    seen[r, at, k], other[r, at, k] = energy[mine].mean(), energy[~mine].mean()
                    form[r, at, k] = _energy(_matrix(memory), memory.bias, states[mine]).mean()
            pseudo[at] = _pseudo_slope(hopfield.by_pseudo_likelihood(Y, SETTLED, FIRM), Y)
        return {
            "small_wrong": over(wrong, rule, load, draw),
            "observed_energy": over(seen, rule, load, draw),
            "other_energy": over(other, rule, load, draw),
            "observed_energy_as_printed": over(form, rule, load, draw),
            "completion_differs": over(differs, rule, load, draw),
            "outer_weight": over(weights, axis("way", ["network", "matrix"]), load, draw, *unit),
            "slope": over(slope, load, draw, *unit),
            "pseudo_slope": over(pseudo, load, *unit),
        }


def _matrix(memory: hopfield.Memory) -> Floats:
    """W, column by column from states in which one unit alone is on."""
    return memory.field(np.eye(len(memory.bias))) - memory.bias


def _energy(W: Floats, b: Floats, y: Floats) -> Floats:
    """Minus (19.19), of states (..., unit)."""
    return np.asarray(-np.einsum("...s,st,...t->...", y, W, y) / 2 - y @ b)


def _by_energy(memory: hopfield.Memory, y: Floats, hidden: Bools) -> Floats:
    """Conditional modes by whole energies: each hidden unit in turn to its lower one."""
    W, before = _matrix(memory), -y
    while not np.array_equal(y, before):
        before = y
        for s in np.flatnonzero(hidden):
            other = np.where(np.arange(len(y)) == s, -y, y)
            lower = _energy(W, memory.bias, other) < _energy(W, memory.bias, y) - 1e-8
            y = other if lower else y
    return y


def _slope(memory: hopfield.Memory, Y: Floats, states: Floats) -> Floats:
    """(19.42) for weights minus the prior's term: products in the data less those of the model."""
    p = softmax(-_energy(_matrix(memory), memory.bias, states))
    return np.asarray(Y.T @ Y / len(Y) - (states.T * p) @ states - RIDGE * _matrix(memory)) * (
        1 - np.eye(Y.shape[1])
    )


def _pseudo_slope(memory: hopfield.Memory, Y: Floats) -> Floats:
    """Slope of the pseudo-likelihood: products of a unit's residual with its neighbours.

    The diagonal has the slope along a unit's bias.
    """
    off = Y - np.tanh(Y @ _matrix(memory) + memory.bias)
    both = off.T @ Y / Y.size
    found = np.asarray(both + both.T - FIRM * _matrix(memory))
    np.fill_diagonal(found, off.sum(0) / Y.size - FIRM * memory.bias)
    return found


def _formulas(rng: Generator) -> dict[str, Quantity]:
    """(19.21) and the rule after it, against enumerated conditionals of drawn networks."""
    N = FORMULA_UNITS
    links = np.column_stack(np.triu_indices(N, 1))
    coding, rules = axis("coding", ["0/1", "-1/1"]), axis("form", ["corrected", "as printed"])
    draw = axis("network", FORMULA_DRAWS)
    errors, off = np.zeros((len(coding), len(draw))), np.zeros((len(rules), len(draw)))
    for d in range(len(draw)):
        theta = rng.standard_normal(len(links) + N)
        W, b = boltzmann.weight_matrix(theta, links, N), theta[len(links) :]
        for c, low in enumerate((0, -1)):
            y = boltzmann.all_states(N, low)
            p = boltzmann.probabilities(theta, boltzmann.features(y, links)).reshape([2] * N)
            for s in range(N):
                up: Floats = np.broadcast_to(np.take(p, [1], s) / p.sum(s, keepdims=True), p.shape)
                z = (y @ W[s]).reshape(p.shape)
                errors[c, d] = max(errors[c, d], np.abs(up - 1 / (1 + np.exp(-z - b[s]))).max())
                if low == 0:
                    best = up > 0.5
                    off[:, d] += [((z + b[s] > 0) != best).sum(), ((z > b[s]) != best).sum()]
    return {
        "conditional_error": over(errors, coding, draw),
        "rule_disagrees": over(off.astype(np.int64), rules, draw),
    }
