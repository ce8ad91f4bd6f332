"""Transformations of uniform numbers, against the intended density (PRML 11.1.1)."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling.direct import (
    RINGS,
    SECTORS,
    TRANSFORMS,
    disc_cells,
    source,
)
from bythebook.models.sampling.uniformity import all_even, from_counts, independent, tally
from bythebook.models.types import Floats

SHOWN = 500  # draws of the first sample, for figures
TESTED = ("uniform_p", "independence_p", "kept")
CURVES = ("drawn", "density", "distribution")


@dataclass
class DirectSamples(Study):
    """Inverse distribution functions, the Box-Muller method and Cholesky factors (PRML 11.1.1).

    Draws are mapped to numbers that should be uniform and independent. Each repetition has its own
    parameters.
    """

    headline = {"worst": "min(uniform_p)"}
    quantities = {
        "uniform_p": quantity(
            "p-value of the uniformity of transformed draws", "sampler repetition"
        ),
        "independence_p": quantity(
            "p-value of the independence of transformed draws", "sampler repetition"
        ),
        "disc_p": quantity("p-value of an even spread of z over the unit disc", "pair repetition"),
        "kept": quantity("share of the candidates that is kept", "sampler repetition"),
        "drawn": quantity("draws of one variable in increasing order", "variable draw"),
        "density": quantity("density at the draws", "variable draw"),
        "distribution": quantity("distribution function at the draws", "variable draw"),
        "point": quantity("first two components of the draws", "plane draw component"),
    }
    axes = {
        "sampler": axis_of("transformation"),
        "repetition": axis_of("sample"),
        "variable": axis_of("transformation to one variable"),
        "plane": axis_of("transformation to several variables"),
        "pair": axis_of("transformation of points of the unit disc"),
        "draw": axis_of("index of a draw"),
        "component": axis_of("component"),
    }

    samplers: list[str] = knob(
        ["exponential", "cauchy"], "transformations", choices=tuple(TRANSFORMS), distinct=True
    )
    draws: int = knob(2000, "draws of a sample", at_least=50, at_most=100_000)
    repetitions: int = knob(200, "samples", at_least=2, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        tested: list[tuple[Floats, Floats, Floats]] = []
        curves: dict[str, Floats] = {}
        planes: dict[str, Floats] = {}
        discs: dict[str, Floats] = {}
        for name in self.samplers:
            transform = TRANSFORMS[name]
            theta = transform.parameters(self.repetitions, rng)
            shape = self.repetitions, self.draws, transform.dimension
            z, kept = source(transform.source, *shape, rng)
            y = transform.of(z, theta)
            u = transform.uniforms(y, theta)
            tested.append((all_even(u), _independence(u), kept))
            shown = y[0, :SHOWN]
            if transform.source == "disc":
                discs[name] = from_counts(tally(disc_cells(z), RINGS * SECTORS))
            if transform.log_density is None:
                planes[name] = shown[:, :2]
            else:
                x = np.sort(shown, axis=0)
                density = np.exp(transform.log_density(x, theta[0]))
                curves[name] = np.stack([x[:, 0], density, transform.uniforms(x, theta[0])[:, 0]])
        found = _over("sampler repetition", TESTED, np.moveaxis(np.array(tested), 1, 0))
        if curves:
            found |= _over("variable draw", CURVES, np.moveaxis(np.array([*curves.values()]), 1, 0))
        if planes:
            found |= _over("plane draw component", ["point"], [[*planes.values()]])
        if discs:
            found |= _over("pair repetition", ["disc_p"], [[*discs.values()]])
        coords = {
            "sampler": self.samplers,
            "repetition": self.repetitions,
            "variable": list(curves),
            "plane": list(planes),
            "pair": list(discs),
            "draw": min(SHOWN, self.draws),
            "component": [1, 2],
        }
        used = {axis for axes, _ in found.values() for axis in axes.split()}
        return outcome({name: coords[name] for name in used}, **found)


def _over(axes: str, names: Iterable[str], values: Iterable[Any]) -> dict[str, tuple[str, Any]]:
    return {name: (axes, value) for name, value in zip(names, values, strict=True)}


def _independence(u: Floats) -> Floats:
    """Independence of pairs of components, or of successive draws of one component."""
    if u.shape[-1] == 1:
        return independent(u[:, ::2, 0], u[:, 1::2, 0][:, : u[:, ::2].shape[1]])
    pairs = [independent(u[..., i], u[..., j]) for i, j in combinations(range(u.shape[-1]), 2)]
    return np.asarray(np.minimum(1.0, np.min(pairs, axis=0) * len(pairs)))
