"""Networks sampled from parents to children, and with nodes observed (PRML 8.1.2, 11.1.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import scope_problems, split
from bythebook.models.graphs.factors import Factor, keep, product
from bythebook.models.graphs.sampling import (
    Evidence,
    ancestral,
    early,
    logic,
    nodes,
    p_value,
    uniform,
    weighted,
)
from bythebook.models.types import Floats, Ints

FIGURE_8_2 = ["x1", "x2", "x3", "x4 | x1, x2, x3", "x5 | x1, x3", "x6 | x4", "x7 | x4, x5"]
WAYS = {"uniform": uniform, "weighted": weighted}


class Net(NamedTuple):
    """A network with its tables, and the joint table that they make."""

    tables: list[Factor]
    joint: Floats

    def chance(self, evidence: Evidence) -> Floats:
        """p(hidden, evidence), an axis for each node that is not observed."""
        names = nodes(self.tables)
        return np.asarray(self.joint[tuple(evidence.get(name, slice(None)) for name in names)])

    def drawing(self, evidence: Evidence) -> Floats:
        """Probability that likelihood weighted sampling draws each setting of the hidden nodes."""
        names = nodes(self.tables)
        at = tuple(evidence.get(name, slice(None)) for name in names)
        return np.asarray(self._hidden(evidence)[at])

    def ratio(self, evidence: Evidence, z: Ints) -> Floats:
        """p(z) over the probability of drawing it, both from tables over all nodes."""
        at = tuple(z.T)
        return np.asarray(self.joint[at] / self._hidden(evidence)[at])

    def _hidden(self, evidence: Evidence) -> Floats:
        """The product of the hidden nodes' tables."""
        tables = [table for table in self.tables if table.variables[-1] not in evidence]
        return np.broadcast_to(product(tables).over(nodes(self.tables)), self.joint.shape)


@dataclass
class NetworkSampling(Study):
    """Samples of networks with drawn tables against their joint tables (PRML 8.1.2, 11.1.4).

    Without observed nodes: all networks. With observed nodes, the first network alone: logic
    sampling as the number of observed nodes and of states grows, and uniform and likelihood
    weighted sampling as tables grow flatter, with two states and all `observed` nodes. Observations
    are drawn from the network.
    """

    networks: dict[str, list[str]] = knob(
        {}, "by name: 'node | parents', each after its parents; none: PRML's Figure 8.2"
    )
    kept: dict[str, list[str]] = knob(
        {}, "nodes whose marginal is compared, by network; none: the first two"
    )
    samples: list[int] = knob([1000], "L, of each network", at_least=10, distinct=True)
    draws: int = knob(40, "networks drawn", at_least=1, at_most=10_000)
    observed: list[str] = knob([], "nodes, one after another", may_be_empty=True, distinct=True)
    states: list[int] = knob([2], "of each node", at_least=2, at_most=4, distinct=True)
    concentrations: list[float] = knob(
        [1.0], "of the Dirichlet rows of tables, with two states", above=0, distinct=True
    )
    repetitions: int = knob(20, "samples of each size, with nodes observed", at_least=2)

    @property
    def known(self) -> dict[str, list[str]]:
        return self.networks or {"Figure 8.2": FIGURE_8_2}

    def problems(self) -> Iterator[str]:
        for name, scopes in self.known.items():
            yield from scope_problems(f"networks: {name}", scopes)
            names = [split(scope)[0][0] for scope in scopes if split(scope)[0]]
            if not 2 <= len(names) <= 8 or len(set(names)) < len(names):
                yield f"study.networks: {name} has {names}; allowed: 2 to 8 different nodes"
            for k, scope in enumerate(scopes):
                if not set(split(scope)[1]) <= set(names[:k]):
                    yield f"study.networks: '{scope}'; allowed: parents before children"
            if not set(self.kept.get(name, [])) <= set(names):
                yield f"study.kept: {self.kept[name]}; allowed: among {', '.join(names)}"
        first = next(iter(self.known.values()))
        if not set(self.observed) < {split(scope)[0][0] for scope in first if split(scope)[0]}:
            yield f"study.observed={self.observed}; allowed: some nodes of the first network"

    def run(self, rng: Generator) -> Outcome:
        if not self.observed:
            return Outcome(**self._plain(rng))
        return Outcome(**self._rejected(rng), **self._weighed(rng))

    def _net(self, scopes: list[str], K: int, concentration: float, rng: Generator) -> Net:
        tables = []
        for scope in scopes:
            (node,), given = split(scope)
            rows = rng.dirichlet(np.full(K, concentration), [K] * len(given))
            tables.append(Factor((*given, node), np.maximum(rows, np.finfo(float).tiny)))
        return Net(tables, np.asarray(keep(product(tables), nodes(tables)).table))

    def _plain(self, rng: Generator) -> dict[str, Quantity]:
        """Ancestral samples against the joint table and against a marginal."""
        network, size = axis("network", list(self.known)), axis("samples", self.samples)
        draw = axis("draw", self.draws)
        shape = (len(network), len(size), self.draws)
        found = {
            name: np.empty(shape)
            for name in ("joint_p_value", "kept_p_value", "reversed_p_value", "joint_distance")
        }
        total, before = np.empty((len(network), self.draws)), np.empty(shape[::2], dtype=int)
        for n, (name, scopes) in enumerate(self.known.items()):
            for d in range(self.draws):
                net = self._net(scopes, self.states[0], self.concentrations[0], rng)
                names = nodes(net.tables)
                some = self.kept.get(name, names[:2])
                total[n, d], before[n, d] = net.joint.sum(), early(net.tables)
                for s, count in enumerate(self.samples):
                    seen = _counted(ancestral(net.tables, count, rng), net.joint.shape)
                    turned = ancestral(_reversed(net.tables, some[-1]), count, rng)
                    away = tuple(k for k, node in enumerate(names) if node not in some)
                    at = n, s, d
                    found["joint_p_value"][at] = p_value(seen, net.joint)
                    found["kept_p_value"][at] = p_value(seen.sum(away), net.joint.sum(away))
                    found["reversed_p_value"][at] = p_value(
                        _counted(turned, net.joint.shape), net.joint
                    )
                    found["joint_distance"][at] = np.abs(seen / count - net.joint).sum() / 2
        return {
            "total": over(total, network, draw),
            "early_nodes": over(before, network, draw),
            **{name: over(values, network, size, draw) for name, values in found.items()},
        }

    def _rejected(self, rng: Generator) -> dict[str, Quantity]:
        """Logic sampling with more and more observed nodes, of more and more states."""
        state, draw = axis("K", self.states), axis("draw", self.draws)
        number = axis("observed", range(1, len(self.observed) + 1))
        shape = (len(state), len(number), self.draws)
        found = {
            name: np.empty(shape)
            for name in ("acceptance", "acceptance_z", "visited_nodes", "logic_p_value")
        }
        for k, d in np.ndindex(len(state), self.draws):
            net = self._net(next(iter(self.known.values())), self.states[k], 1.0, rng)
            all_observed = self._seen(net, rng)
            count = self.samples[0] * self.repetitions
            z = ancestral(net.tables, count, rng)
            for n in range(len(number)):
                evidence = {name: all_observed[name] for name in self.observed[: n + 1]}
                right, one = net.chance(evidence), logic(net.tables, evidence, z)
                p, share = right.sum(), one.kept.mean()
                hidden = [i for i, name in enumerate(nodes(net.tables)) if name not in evidence]
                seen = _counted(z[one.kept][:, hidden], right.shape)
                at = k, n, d
                found["acceptance"][at] = share
                found["acceptance_z"][at] = (share - p) / np.sqrt(p * (1 - p) / count)
                found["visited_nodes"][at] = one.drawn.mean()
                found["logic_p_value"][at] = p_value(seen, right / p)
        return {name: over(values, state, number, draw) for name, values in found.items()}

    def _seen(self, net: Net, rng: Generator) -> dict[str, int]:
        """A setting of the observed nodes, drawn from the network."""
        (one,) = ancestral(net.tables, 1, rng)
        return {n: int(one[nodes(net.tables).index(n)]) for n in self.observed}

    def _weighed(self, rng: Generator) -> dict[str, Quantity]:
        """Uniform and likelihood weighted sampling, with all `observed` nodes observed.

        The estimate is the posterior of the first hidden node's second state.
        """
        way, draw = axis("method", list(WAYS)), axis("draw", self.draws)
        flat = axis("concentration", self.concentrations)
        shape = (len(flat), self.draws)
        found = {name: np.empty((2, *shape)) for name in ("rms_error", "effective_share", "z")}
        distance, gap = np.empty(shape), np.empty(shape)
        for at in np.ndindex(*shape):
            net = self._net(next(iter(self.known.values())), 2, self.concentrations[at[0]], rng)
            evidence = self._seen(net, rng)
            right = net.chance(evidence)
            on, p = right[1].sum(), right.ravel() / right.sum()
            distance[at] = np.log(p.size) + (p * np.log(p)).sum()
            first = next(k for k, name in enumerate(nodes(net.tables)) if name not in evidence)
            for w, (name, sampler) in enumerate(WAYS.items()):
                z, r = sampler(net.tables, evidence, self.samples[0] * self.repetitions, rng)
                q = net.drawing(evidence) if name == "weighted" else np.full_like(right, 1 / p.size)
                hits = np.where(z[:, first] == 1, r, 0.0)
                spread = np.sqrt(((right**2 / q)[1].sum() - on**2) / len(r))
                estimate = _sums(hits, self.repetitions) / _sums(r, self.repetitions)
                found["z"][w, *at] = (hits.mean() - on) / spread
                found["rms_error"][w, *at] = np.sqrt(np.mean((estimate - on / right.sum()) ** 2))
                found["effective_share"][w, *at] = r.sum() ** 2 / (r**2).sum() / len(r)
            gap[at] = np.abs(r - net.ratio(evidence, z)).max()
        uniform_z, weighted_z = found.pop("z")
        return {
            **{name: over(values, way, flat, draw) for name, values in found.items()},
            "uniform_z": over(uniform_z, flat, draw),
            "weighted_z": over(weighted_z, flat, draw),
            "from_uniform": over(distance, flat, draw),
            "weight_gap": over(gap, flat, draw),
        }


def _sums(values: Floats, parts: int) -> Floats:
    return np.asarray(values.reshape(parts, -1).sum(1))


def _counted(z: Ints, shape: tuple[int, ...]) -> Ints:
    """Number of samples with each setting."""
    at = np.ravel_multi_index(tuple(z.T), shape)
    return np.bincount(at, minlength=int(np.prod(shape))).reshape(shape)


def _reversed(tables: list[Factor], node: str) -> list[Factor]:
    """The tables, with the states of one of them exchanged."""
    return [
        t if t.variables[-1] != node else Factor(t.variables, t.table[..., ::-1]) for t in tables
    ]
