"""Networks sampled with observed nodes: logic, uniform and weighted (PRML 11.1, 11.1.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import network_problems, random_network, split
from bythebook.models.graphs.factors import Factor
from bythebook.models.graphs.sampling import (
    ancestral,
    counted,
    logic,
    nodes,
    p_value,
    uniform,
    weighted,
)
from bythebook.models.types import Floats

FIGURE_8_2 = ["x1", "x2", "x3", "x4 | x1, x2, x3", "x5 | x1, x3", "x6 | x4", "x7 | x4, x5"]
METHODS = {"uniform": uniform, "weighted": weighted}


@dataclass
class NetworkSampling(Study):
    """Samples of a network with random tables and observed nodes (PRML 11.1, 11.1.4).

    Logic sampling as the number of observed nodes and of states grows; uniform and likelihood
    weighted sampling as tables grow flatter, with two states. Observations are drawn from the
    network.
    """

    headline = {"error": "mean(rms_error['weighted'])"}
    quantities = {
        "acceptance": quantity(
            "share of the samples that logic sampling accepts", "K observed draw"
        ),
        "acceptance_z": quantity(
            "difference from the probability of the evidence in standard errors", "K observed draw"
        ),
        "visited_nodes": quantity("mean number of nodes drawn for a sample", "K observed draw"),
        "logic_p_value": quantity(
            "p-value of the accepted samples' distribution", "K observed draw"
        ),
        "rms_error": quantity(
            "root mean squared error of the posterior probabilities of all unobserved nodes",
            "method concentration number draw",
        ),
        "from_uniform": quantity(
            "Kullback-Leibler divergence of the posterior from the uniform distribution",
            "concentration number draw",
        ),
    }
    axes = {
        "K": axis_of("number of states"),
        "observed": axis_of("number of observed nodes"),
        "number": axis_of("number of observed nodes"),
        "draw": axis_of("random tables and observations"),
        "method": axis_of("method of sampling"),
        "concentration": axis_of("Dirichlet parameter of the tables"),
    }

    network: list[str] = knob(FIGURE_8_2, "'node | parents', each after its parents")
    observed: list[str] = knob(["x7"], "nodes, one after another", distinct=True)
    states: list[int] = knob([2], "of each node", at_least=2, at_most=4, distinct=True)
    concentrations: list[float] = knob(
        [1.0], "of the Dirichlet rows of tables, with two states", above=0, distinct=True
    )
    samples: int = knob(300, "of a repetition", at_least=10)
    repetitions: int = knob(20, "sets of samples", at_least=2)
    draws: int = knob(40, "networks drawn", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        yield from network_problems("network", self.network)
        if not set(self.observed) < {split(scope)[0][0] for scope in self.network}:
            yield f"study.observed={self.observed}; allowed: some nodes of the network"

    def run(self, rng: Generator) -> Outcome:
        accepted = np.empty((4, len(self.states), len(self.observed), self.draws))
        for k, d in np.ndindex(len(self.states), self.draws):
            accepted[:, k, :, d] = self._logic(self.states[k], rng)
        shape = len(self.concentrations), len(self.observed), self.draws
        errors, divergence = np.empty((len(METHODS), *shape)), np.empty(shape)
        for c, d in np.ndindex(len(self.concentrations), self.draws):
            errors[:, c, :, d], divergence[c, :, d] = self._weighed(self.concentrations[c], rng)
        logic_names = "acceptance", "acceptance_z", "visited_nodes", "logic_p_value"
        return outcome(
            {
                "K": self.states,
                "observed": range(1, len(self.observed) + 1),
                "number": range(1, len(self.observed) + 1),
                "draw": self.draws,
                "method": list(METHODS),
                "concentration": self.concentrations,
            },
            **{
                name: ("K observed draw", values)
                for name, values in zip(logic_names, accepted, strict=True)
            },
            rms_error=("method concentration number draw", errors),
            from_uniform=("concentration number draw", divergence),
        )

    def _logic(self, K: int, rng: Generator) -> Floats:
        """The four quantities of logic sampling for each number of observed nodes."""
        tables, joint = random_network(self.network, K, rng)
        count = self.samples * self.repetitions
        seen, z = self._seen(tables, rng), ancestral(tables, count, rng)
        found = []
        for n in range(1, len(self.observed) + 1):
            evidence = {name: seen[name] for name in self.observed[:n]}
            right, one = _clamped(tables, joint, evidence), logic(tables, evidence, z)
            p, share = right.sum(), one.kept.mean()
            hidden = [i for i, name in enumerate(nodes(tables)) if name not in evidence]
            kept = counted(z[one.kept][:, hidden], right.shape)
            off = (share - p) / np.sqrt(p * (1 - p) / count)
            found.append([share, off, one.drawn.mean(), p_value(kept, right / p)])
        return np.array(found).T

    def _weighed(self, concentration: float, rng: Generator) -> tuple[Floats, Floats]:
        """Errors of each method and the divergence, for each number of observed nodes."""
        tables, joint = random_network(self.network, 2, rng, concentration)
        seen = self._seen(tables, rng)
        errors, divergence = [], []
        for n in range(1, len(self.observed) + 1):
            evidence = {name: seen[name] for name in self.observed[:n]}
            right = _clamped(tables, joint, evidence)
            p = right / right.sum()
            on = [np.take(p, 1, axis=k).sum() for k in range(p.ndim)]
            hidden = [i for i, name in enumerate(nodes(tables)) if name not in evidence]
            row = []
            for sampler in METHODS.values():
                z, r = sampler(tables, evidence, self.samples * self.repetitions, rng)
                parts = np.reshape(r, (self.repetitions, -1, 1))
                hits = (parts * z[:, hidden].reshape(*parts.shape[:2], -1)).sum(1)
                row.append(np.sqrt(np.mean((hits / parts.sum(1) - on) ** 2)))
            errors.append(row)
            divergence.append(np.log(p.size) + (p * np.log(p)).sum())
        return np.array(errors).T, np.array(divergence)

    def _seen(self, tables: list[Factor], rng: Generator) -> dict[str, int]:
        """A setting of the observed nodes, drawn from the network."""
        (one,) = ancestral(tables, 1, rng)
        return {n: int(one[nodes(tables).index(n)]) for n in self.observed}


def _clamped(tables: list[Factor], joint: Floats, evidence: dict[str, int]) -> Floats:
    """p(hidden, evidence), an axis for each node that is not observed."""
    return np.asarray(joint[tuple(evidence.get(name, slice(None)) for name in nodes(tables))])
