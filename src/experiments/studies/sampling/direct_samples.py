"""Transformations of uniform numbers, against the intended density (PRML 11.1.1)."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling.direct import (
    RINGS,
    SECTORS,
    TRANSFORMS,
    VECTOR,
    Transform,
    density_gaps,
    disc_cells,
    distributions,
    moment_scores,
    source,
)
from bythebook.models.sampling.uniformity import all_even, from_counts, independent, tally
from bythebook.models.types import Floats

SHOWN = 500  # draws of a first repetition that are kept for the figure
POINTS = 200  # at which Jacobians are tried
H = np.linspace(0.1, 0.9, 9)  # of the distribution functions


@dataclass
class DirectSamples(Study):
    """Inverse distribution functions, the Box-Muller method and Cholesky factors (PRML 11.1.1).

    Draws are mapped to numbers that should be uniform and independent. Each repetition has its own
    parameters.
    """

    headline = {"worst": "min(uniform_p)"}
    more_quantities = True
    quantities = {
        "uniform_p": quantity(
            "p-value of the uniformity of transformed draws", "sampler repetition"
        ),
        "independence_p": quantity(
            "p-value of the independence of transformed draws", "sampler repetition"
        ),
        "kept": quantity("share of the candidates that is kept", "sampler repetition"),
        "defined": quantity("share of the draws that is finite", "sampler repetition"),
        "shown": quantity("draws of the figure", "sampler draw component"),
        "shown_z": quantity("uniform numbers of the figure", "sampler draw component"),
        "parameter": quantity("parameters of a repetition", "kind repetition place"),
        "integral": quantity("integral of a density up to the quantile", "density h"),
        "distribution": quantity("value of the distribution function", "density h"),
        "moment_score": quantity("sample moment in standard errors", "repetition moment"),
        "disc_p": quantity("p-value of pairs in the disc", "pair repetition"),
    }

    samplers: list[str] = knob(
        ["exponential", "cauchy"], "transformations", choices=tuple(TRANSFORMS), distinct=True
    )
    draws: int = knob(2000, "draws of a sample", at_least=50, at_most=100_000)
    repetitions: int = knob(200, "samples", at_least=2, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        repetition = axis("repetition", self.repetitions)
        sampler = axis("sampler", self.samplers)
        chosen = {name: TRANSFORMS[name] for name in self.samplers}
        single = {name: t for name, t in chosen.items() if t.dimension == 1}
        found: dict[str, list[Floats]] = {}
        shown, shown_z, parameters = [], [], {}
        disc, scores = [], None
        for name, transform in chosen.items():
            theta = transform.parameters(self.repetitions, rng)
            z, kept = source(
                transform.source, self.repetitions, self.draws, transform.dimension, rng
            )
            with np.errstate(invalid="ignore", divide="ignore"):  # as printed not all are numbers
                y = transform.of(z, theta)
            u = transform.uniforms(y, theta)
            found.setdefault("uniform_p", []).append(all_even(u))
            found.setdefault("independence_p", []).append(_independence(u))
            found.setdefault("kept", []).append(kept)
            found.setdefault("defined", []).append(np.isfinite(y).all(-1).mean(-1))
            shown.append(_shown(transform, y[0], theta[0]))
            shown_z.append(np.resize(z[0], (SHOWN, z.shape[-1]))[:, [0, min(1, z.shape[-1] - 1)]])
            if theta.size:
                parameters[name] = theta[:, 0, [0, -1]]
            if transform.source == "disc":
                disc.append(from_counts(tally(disc_cells(z), RINGS * SECTORS)))
            if transform.dimension == VECTOR:
                scores = moment_scores(y, theta)
        outcome = {name: over(values, sampler, repetition) for name, values in found.items()}
        gaps = [density_gaps(t, POINTS, rng) for t in chosen.values()]
        outcome["density_gap"] = over(gaps, sampler, axis("point", POINTS))
        draws = axis("draw", SHOWN), axis("component", [1, 2])
        outcome["shown"], outcome["shown_z"] = (
            over(of, sampler, *draws) for of in (shown, shown_z)
        )
        if parameters:
            kind = axis("kind", list(parameters)), repetition, axis("place", ["first", "last"])
            outcome["parameter"] = over(list(parameters.values()), *kind)
        if single:
            found_h = np.array([distributions(t, H, rng) for t in single.values()])
            where = axis("density", list(single)), axis("h", H)
            outcome["integral"] = over(found_h[:, 0], *where)
            outcome["distribution"] = over(found_h[:, 1], *where)
        if disc:
            pairs = [name for name, t in chosen.items() if t.source == "disc"]
            outcome["disc_p"] = over(disc, axis("pair", pairs), repetition)
        if scores is not None:
            outcome["moment_score"] = over(scores, repetition, axis("moment", scores.shape[1]))
        return Outcome(**outcome)


def _independence(u: Floats) -> Floats:
    """Independence of pairs of components, or of successive draws of one component."""
    if u.shape[-1] == 1:
        return independent(u[:, ::2, 0], u[:, 1::2, 0][:, : u[:, ::2].shape[1]])
    pairs = [independent(u[..., i], u[..., j]) for i, j in combinations(range(u.shape[-1]), 2)]
    return np.asarray(np.minimum(1.0, np.min(pairs, axis=0) * len(pairs)))


def _shown(transform: Transform, y: Floats, theta: Floats) -> Floats:
    """First draws: two components, or one and its density; zero replaces NaN."""
    y = np.resize(y, (SHOWN, y.shape[-1]))
    if transform.dimension > 1:
        return np.nan_to_num(y[:, :2])
    return np.stack([y[:, 0], np.exp(transform.log_density(y, theta))], axis=-1)
