"""Ising models on small lattices by enumeration of all states (MLAPP 19.4.1)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.boltzmann import (
    all_states,
    features,
    named,
    probabilities,
    weight_matrix,
)
from bythebook.models.types import Floats, Ints

SHAPE = re.compile(r"(grid|triangles) \d+x\d+|cube \d+x\d+x\d+|ring \d+")
MOST = 16  # spins
SPINS = 6  # of the models whose formulas are checked; all pairs but two are linked
LEVELS = 41  # of the mean spin, up to which probabilities are summed
FORMS = ("halved", "as printed")
MEANS = ("covariance times field", "as printed")
NORMALISERS = ("square root", "as printed")
CODINGS = {"-1/1": -1, "0/1": 0}
FORMULAS = {"once": 1.0, "twice": 2.0}


@dataclass
class IsingEnumeration(Study):
    """Modes and broken links by coupling; the model's formulas with drawn weights and fields."""

    headline = {"broken": "max(broken_links)"}
    more_quantities = True
    quantities = {
        "broken_links": quantity("broken links of a mode", "graph coupling"),
    }

    graphs: list[str] = knob(["grid 3x4", "ring 9"], "lattices", distinct=True)
    couplings: list[float] = knob([-1.0, 1.0], "J of all links", distinct=True)
    draws: int = knob(20, "models drawn for the formulas", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        for graph in self.graphs:
            if not SHAPE.fullmatch(graph):
                allowed = "grid 3x4, triangles 3x4, cube 2x2x3, ring 9"
                yield f"study.graphs: {graph} is unknown; allowed: such as {allowed}"
            elif np.prod([int(n) for n in re.findall(r"\d+", graph)]) > MOST:
                yield f"study.graphs: {graph} is too large; allowed: {MOST} spins"
        if 0 in self.couplings or sorted(self.couplings) != self.couplings:
            yield "study.couplings: one is 0 or out of order; allowed: from weak to strong, not 0"

    def run(self, rng: Generator) -> Outcome:
        graph, coupling = axis("graph", self.graphs), axis("coupling", self.couplings)
        level = axis("magnetisation", np.linspace(-1, 1, LEVELS))
        found = [[_modes(named(g), J) for J in self.couplings] for g in self.graphs]
        return Outcome(
            **{
                name: over([[f[name] for f in row] for row in found], graph, coupling)
                for name in found[0][0]
                if name != "spread"
            },
            spread=over([[f["spread"] for f in row] for row in found], graph, coupling, level),
            **self._formulas(rng),
        )

    def _formulas(self, rng: Generator) -> dict[str, Quantity]:
        """Each formula against the tables (19.17) or against enumeration, in every draw."""
        draw = axis("draw", self.draws)
        links = np.column_stack(np.triu_indices(SPINS, 1))[:-2]
        found = [_one(links, rng) for _ in range(self.draws)]
        axes = {
            "form_error": (axis("form", FORMS),),
            "gaussian_spread": (axis("mean", MEANS),),
            "normaliser_error": (axis("normaliser", NORMALISERS),),
            "far_change": (axis("coding", list(CODINGS)),),
            "conditional_error": (axis("coding", list(CODINGS)), axis("argument", list(FORMULAS))),
        }
        return {
            name: over(np.stack([f[name] for f in found], -1), *more, draw)
            for name, more in axes.items()
        }


def _modes(links: Ints, J: float) -> dict[str, float | Floats]:
    """Probabilities, modes and broken links of the states of one lattice."""
    N = int(links.max()) + 1
    y = all_states(N)
    product = y[:, links[:, 0]] * y[:, links[:, 1]]
    score = J * product.sum(1)
    p = np.exp(score - score.max())
    p /= p.sum()
    best = score > score.max() - 1e-9
    total = y.sum(1).astype(int)
    by_sum = np.bincount((total + N) // 2, p, N + 1)
    padded = np.concatenate([[-1.0], by_sum, [-1.0]])
    peaks = (padded[1:-1] > padded[:-2] + 1e-12) & (padded[1:-1] > padded[2:] + 1e-12)
    up_to = np.floor((np.linspace(-1, 1, LEVELS) + 1) / 2 * N + 1e-9).astype(int)
    return {
        "least_equal": float((p @ (product > 0)).min()),
        "best_states": int(best.sum()),
        "best_alignment": float(np.abs(total[best]).min() / N),
        "broken_links": int((J * product[best] < 0).sum(1).min()),
        "peaks": int(peaks.sum()),
        "spread": np.cumsum(by_sum)[up_to],
    }


def _one(links: Ints, rng: Generator) -> dict[str, Floats]:
    theta = rng.normal(0, 0.7, len(links) + SPINS)
    W, b = weight_matrix(theta, links, SPINS), theta[len(links) :]
    y = all_states(SPINS)
    tables = np.exp(np.multiply.outer(theta[: len(links)], [[1.0, -1.0], [-1.0, 1.0]]))  # (19.17)
    at = ((y + 1) // 2).astype(int)
    coupled = sum(np.log(t[at[:, s], at[:, u]]) for t, (s, u) in zip(tables, links, strict=True))
    half = np.einsum("is,st,it->i", y, W, y) / 2
    Sigma = np.linalg.inv(-W)
    means = [Sigma @ b, -0.5 * np.linalg.solve(Sigma, b)]
    forms = [-0.5 * np.einsum("is,st,it->i", y - m, -W, y - m) for m in means]  # (19.20)
    return {
        "form_error": np.array([np.abs(coupled - f).max() for f in (half, -half)]),
        "gaussian_spread": np.array([np.ptp(coupled + y @ b - f) for f in forms]),
        "normaliser_error": _normaliser(rng),
        **_conditionals(theta, links),
    }


def _normaliser(rng: Generator) -> Floats:
    """Normaliser of a Gaussian in two dimensions: a sum over a fine grid, and formulas."""
    L = np.array([[1.0, 0.0], [rng.normal(0, 0.5), rng.uniform(0.5, 1.5)]])
    Sigma = L @ L.T
    side = np.linspace(-12, 12, 481) * np.sqrt(Sigma.diagonal().max())
    x = np.stack(np.meshgrid(side, side), -1)
    area = np.exp(-0.5 * np.einsum("ijk,kl,ijl->ij", x, np.linalg.inv(Sigma), x)).sum()
    area *= (side[1] - side[0]) ** 2
    determinant = np.linalg.det(2 * np.pi * Sigma)
    return np.asarray(np.abs(np.array([determinant**0.5, determinant]) / area - 1))


def _conditionals(theta: Floats, links: Ints) -> dict[str, Floats]:
    """p(y_s = 1 | all others) by enumeration: against formulas, and when other spins flip."""
    W, b = weight_matrix(theta, links, SPINS), theta[len(links) :]
    errors, changes = np.zeros((len(CODINGS), len(FORMULAS))), np.zeros(len(CODINGS))
    for c, low in enumerate(CODINGS.values()):
        y = all_states(SPINS, low)
        p = probabilities(theta, features(y, links)).reshape([2] * SPINS)
        for s in range(SPINS):
            up = np.broadcast_to(np.take(p, [1], s) / p.sum(s, keepdims=True), p.shape)
            z = (y @ W[s] + b[s]).reshape(p.shape)
            for f, factor in enumerate(FORMULAS.values()):
                off = np.abs(up - 1 / (1 + np.exp(-factor * z)))
                errors[c, f] = max(errors[c, f], float(off.max()))
            for t in range(SPINS):
                if t != s and W[s, t] == 0:
                    turned = np.abs(np.diff(up, axis=t)).max()
                    changes[c] = max(changes[c], float(turned))
    return {"conditional_error": errors, "far_change": changes}
