"""Equations of MLAPP 19.4.5, Markov logic networks, over all worlds."""

from itertools import product

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.graphs.logic import Ground, clause_holds, world_probabilities


@equation(
    "19.32 to 19.35",
    section="19.4.5",
    latex=r"(p_1 \wedge \ldots \wedge p_n \implies q) \iff"
    r" (\neg p_1 \vee \ldots \vee \neg p_n \vee q)",
)
def clausal_form(rng: Generator) -> Sides:
    """A clause has the truth values of its implication, in all worlds.

    An implication is false only if all its premises are true and its conclusion is false.
    """
    names = [f"P{k}" for k in range(int(rng.integers(2, 6)))]
    premises = [name for name in names if rng.random() < 0.6] or names[:1]
    conclusion = str(rng.choice(names))
    worlds = [
        dict(zip(names, values, strict=True))
        for values in product((False, True), repeat=len(names))
    ]
    truth, printed = [1], [1]
    for world in worlds:
        violated = all(world[name] for name in premises) and not world[conclusion]
        truth.append(int(not violated))
        printed.append(int(any(not world[name] for name in premises) or world[conclusion]))
    return Sides(truth=truth, printed=printed)


@equation(
    "19.36",
    section="19.4.5",
    latex=r"\psi_c(\mathbf{x}_c) = \exp(w_c \phi_c(\mathbf{x}_c)), \quad p(\mathbf{x})"
    r" \propto \prod_c \psi_c(\mathbf{x}_c)",
)
def weighted_clauses(rng: Generator) -> Sides:
    """The probability of each world, from the weights of the clauses that hold in it."""
    names = [f"P{k}" for k in range(int(rng.integers(3, 5)))]
    worlds = np.array(list(product((False, True), repeat=len(names))))
    grounds, weights, potentials = [], [], np.ones(len(worlds))
    for _ in range(int(rng.integers(2, 5))):
        premise, conclusion = rng.choice(len(names), 2, replace=False)
        w = rng.normal(0, 1.5)
        grounds.append(Ground((names[premise],), names[conclusion]))
        weights.append(float(w))
        potentials = potentials * np.exp(w * (~worlds[:, premise] | worlds[:, conclusion]))
    held = [clause_holds(one, names, worlds).astype(float) for one in grounds]
    return Sides(truth=world_probabilities(held, weights), printed=potentials / potentials.sum())
