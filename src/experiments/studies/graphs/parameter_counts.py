"""Independent parameters of models, as the rank of a Jacobian (PRML 8.1.3)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.dimension import (
    Parametrised,
    boltzmann,
    dimension,
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


@dataclass
class ParameterCounts(Study):
    """Rank of the Jacobian of models of M variables with K states (PRML 8.1.3)."""

    headline = {"largest": "max(rank)"}
    quantities = {
        "rank": quantity(
            "number of independent parameters, as the rank of a Jacobian", "model M K"
        ),
    }
    axes = {
        "model": axis_of("model"),
        "M": axis_of("number of variables, or of parents"),
        "K": axis_of("number of states of a variable"),
    }

    models: list[str] = knob(
        ["joint", "independent", "chain"], "of tables", choices=tuple(DISCRETE), distinct=True
    )
    variables: list[int] = knob([2, 3, 4], "M, how many", at_least=1, at_most=7, distinct=True)
    states: list[int] = knob([2, 3], "K, states of each", at_least=2, at_most=5, distinct=True)

    def problems(self) -> Iterator[str]:
        largest = max(self.states) ** max(self.variables)
        if largest > 1024:
            yield f"study.states and study.variables: tables of {largest}; allowed: 1024 entries"

    def run(self, rng: Generator) -> Outcome:
        ranks = [
            [[dimension(DISCRETE[model](M, K), rng) for K in self.states] for M in self.variables]
            for model in self.models
        ]
        return outcome(
            {"model": self.models, "M": self.variables, "K": self.states},
            rank=("model M K", ranks),
        )
