"""Networks sampled from parents to children (PRML 8.1.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import network_problems, random_network, split
from bythebook.models.graphs.sampling import ancestral, counted, nodes, p_value

FIGURE_8_2 = ["x1", "x2", "x3", "x4 | x1, x2, x3", "x5 | x1, x3", "x6 | x4", "x7 | x4, x5"]


@dataclass
class AncestralSampling(Study):
    """Ancestral samples of networks with random tables, and their joint tables (PRML 8.1.2)."""

    headline = {"distance": "mean(last(joint_distance, over='samples'))"}
    quantities = {
        "joint_p_value": quantity("p-value of the samples' joint table", "network samples draw"),
        "kept_p_value": quantity("p-value of the samples' marginal table", "network samples draw"),
        "joint_distance": quantity(
            "total variation of the samples' shares from the joint table", "network samples draw"
        ),
    }
    axes = {
        "network": axis_of("network"),
        "samples": axis_of("number of samples"),
        "draw": axis_of("random tables"),
    }

    networks: dict[str, list[str]] = knob(
        {}, "by name: 'node | parents', each after its parents; none: PRML's Figure 8.2"
    )
    kept: dict[str, list[str]] = knob(
        {}, "nodes whose marginal is compared, by network; none: the first two"
    )
    samples: list[int] = knob([1000], "L, of each network", at_least=10, distinct=True)
    states: int = knob(2, "of each node", at_least=2, at_most=4)
    draws: int = knob(40, "networks drawn", at_least=1, at_most=10_000)

    @property
    def known(self) -> dict[str, list[str]]:
        return self.networks or {"Figure 8.2": FIGURE_8_2}

    def problems(self) -> Iterator[str]:
        for name, scopes in self.known.items():
            yield from network_problems("networks", scopes)
            names = [split(scope)[0][0] for scope in scopes if split(scope)[0]]
            if not set(self.kept.get(name, [])) <= set(names):
                yield f"study.kept: {self.kept[name]}; allowed: among {', '.join(names)}"

    def run(self, rng: Generator) -> Outcome:
        shape = len(self.known), len(self.samples), self.draws
        joint_p, kept_p, distance = np.empty((3, *shape))
        for n, (name, scopes) in enumerate(self.known.items()):
            for d in range(self.draws):
                tables, joint = random_network(scopes, self.states, rng)
                names = nodes(tables)
                some = self.kept.get(name, names[:2])
                away = tuple(k for k, node in enumerate(names) if node not in some)
                for s, count in enumerate(self.samples):
                    seen = counted(ancestral(tables, count, rng), joint.shape)
                    joint_p[n, s, d] = p_value(seen, joint)
                    kept_p[n, s, d] = p_value(seen.sum(away), joint.sum(away))
                    distance[n, s, d] = np.abs(seen / count - joint).sum() / 2
        return outcome(
            {"network": list(self.known), "samples": self.samples, "draw": self.draws},
            joint_p_value=("network samples draw", joint_p),
            kept_p_value=("network samples draw", kept_p),
            joint_distance=("network samples draw", distance),
        )
