"""Independent parameters of models: counted, and as the rank of a Jacobian (PRML 8.1.3)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.dimension import (
    Parametrised,
    boltzmann,
    dimension,
    full_covariance,
    low_rank_covariance,
    noisy_or,
    sigmoid,
    tables,
)

Maker = Callable[[int, int], Parametrised]

# Of M variables with K states; of binary ones for any K.
DISCRETE: dict[str, Maker] = {
    "joint": lambda M, K: tables([list(range(i)) for i in range(M)], K),
    "independent": lambda M, K: tables([[] for _ in range(M)], K),
    "chain": lambda M, K: tables([[i - 1] if i else [] for i in range(M)], K),
    "tied chain": lambda M, K: tables([[i - 1] if i else [] for i in range(M)], K, tied=True),
    "second order": lambda M, K: tables([list(range(max(i - 2, 0), i)) for i in range(M)], K),
    "sigmoid": lambda M, K: sigmoid(M),
    "noisy-or": lambda M, K: noisy_or(M),
    "field": lambda M, K: boltzmann(M),
    "links": lambda M, K: boltzmann(M, biases=False),
}
# Of D variables with M factors.
COVARIANCES: dict[str, Maker] = {
    "full": lambda D, M: full_covariance(D),
    "principal components": lambda D, M: low_rank_covariance(D, M, isotropic=True),
    "factors": lambda D, M: low_rank_covariance(D, M, isotropic=False),
}


@dataclass
class ParameterCounts(Study):
    """Number of parameters of models, and the rank of their Jacobian (PRML 8.1.3)."""

    headline = {"largest": "max(rank)"}
    more_quantities = True
    quantities = {
        "rank": quantity(
            "number of independent parameters, as the rank of a Jacobian", "model M K"
        ),
    }

    models: list[str] = knob(
        ["joint", "independent", "chain"], "of tables", choices=tuple(DISCRETE), distinct=True
    )
    variables: list[int] = knob([2, 3, 4], "M, how many", at_least=1, at_most=7, distinct=True)
    states: list[int] = knob([2, 3], "K, states of each", at_least=2, at_most=5, distinct=True)
    covariances: list[str] = knob(
        [], "of Gaussians", choices=tuple(COVARIANCES), distinct=True, may_be_empty=True
    )
    dimensions: list[int] = knob([2, 3, 4, 5, 6], "D", at_least=1, at_most=20, distinct=True)
    factors: list[int] = knob([0, 1, 2, 3], "M, latent dimensions", at_least=0, distinct=True)

    def problems(self) -> Iterator[str]:
        largest = max(self.states) ** max(self.variables)
        if largest > 1024:
            yield f"study.states and study.variables: tables of {largest}; allowed: 1024 entries"

    def run(self, rng: Generator) -> Outcome:
        axes = axis("model", self.models), axis("M", self.variables), axis("K", self.states)
        found = _counted(DISCRETE, *axes, rng) | _conditionals(max(self.variables))
        if self.covariances:
            kinds = axis("covariance", self.covariances)
            more = _counted(
                COVARIANCES, kinds, axis("D", self.dimensions), axis("factors", self.factors), rng
            )
            found |= {f"covariance_{name}": value for name, value in more.items()}
        return Outcome(**found)


def _counted(
    known: dict[str, Maker], names: Axis, one: Axis, other: Axis, rng: Generator
) -> dict[str, Quantity]:
    """Numbers and ranks of each model for each pair of sizes."""
    shape = (len(names), len(one), len(other))
    numbers, ranks, totals = np.empty(shape, int), np.empty(shape, int), np.empty(shape)
    for at in np.ndindex(*shape):
        made = known[str(names.values[at[0]])](int(one.values[at[1]]), int(other.values[at[2]]))
        numbers[at], ranks[at] = made.numbers, dimension(made, rng)
        totals[at] = made.family(np.linspace(-1, 1, made.numbers).astype(complex)).real.sum()
    found = {"numbers": numbers, "rank": ranks, "total": totals}
    return {name: over(values, names, one, other) for name, values in found.items()}


def _conditionals(M: int) -> dict[str, Quantity]:
    """p(y = 1 | x) of M binary parents, of the families and written out, parent by parent."""
    w = np.linspace(-1.5, 1, M + 1)
    mu = 1 / (1 + np.exp(-w))
    score, off = np.full([2] * M, w[0]), np.full([2] * M, 1 - mu[0])
    for parent in range(M):
        on = np.indices([2] * M)[parent] == 1
        score, off = (
            np.where(on, score + w[parent + 1], score),
            np.where(on, off * (1 - mu[parent + 1]), off),
        )
    families = [made.family(w.astype(complex)).real for made in (sigmoid(M), noisy_or(M))]
    written = [(1 / (1 + np.exp(-score))).ravel(), (1 - off).ravel()]
    axes = axis("way", ["family", "written out"]), axis("conditional", ["sigmoid", "noisy-or"])
    return {"conditional": over([families, written], *axes, axis("setting", 2**M))}
