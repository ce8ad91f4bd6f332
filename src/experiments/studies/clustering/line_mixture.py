"""A mixture of straight lines by EM (PRML 14.5.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.stats import norm

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import place_problems
from bythebook.models.clustering import linear_mixture as lines
from bythebook.models.clustering.linear_mixture import LinearMixture
from bythebook.models.em import smallest_gain, take
from bythebook.models.regression.linear import line as line_design
from bythebook.models.types import Floats

LIMIT = 2000  # iterations of EM at most
CLOSE = 1e-3  # log units below the end that count as close to convergence
FAR = 3  # standard deviations of the noise beyond which there are no data
EARLY = 101  # log likelihoods of the random starts that are recorded


@dataclass
class LineMixture(Study):
    """Lines fitted by EM to points along the two arms of a V (PRML 14.5.1, Figure 14.8)."""

    headline = {
        "median_iterations_until_close": "median(iterations_until_close)",
        "final_log_likelihood": "last(log_likelihood)",
    }
    more_quantities = True
    quantities = {
        "iterations_until_close": quantity(
            "iterations until EM is close to its final log likelihood", "repetition"
        ),
        "log_likelihood": quantity(
            "log likelihood of the mixture of lines", "iteration", unit="nats"
        ),
    }

    n: int = knob(50, "points", at_least=5, at_most=100_000)
    slope: float = knob(1.4, "slope of the right arm; the left has its negative")
    vertex: float = knob(-0.7, "the target where the arms meet, at x = 0")
    noise: float = knob(0.15, "standard deviation of the noise", above=0)
    start: list[list[float]] = knob([[0.0, 0.5], [0.0, -0.5]], "intercepts and slopes at first")
    snapshots: list[int] = knob([30, 50], "iterations to show", at_least=1, distinct=True)
    restarts: int = knob(200, "further starts, from random lines", at_least=1, at_most=10_000)
    repetitions: int = knob(200, "data sets; the first is drawn", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        yield from place_problems("start", self.start, 2)

    def _vee(self, x: Floats) -> Floats:
        return np.asarray(self.slope * np.abs(x) + self.vertex)

    def run(self, rng: Generator) -> Outcome:
        shape = self.repetitions, self.n
        x = np.sort(rng.uniform(-1, 1, shape), axis=1)
        t = self._vee(x) + self.noise * rng.standard_normal(shape)
        start, limits = np.array([self.start]), dict[str, Any](tol=0, max_iter=LIMIT)
        Phi = np.stack([np.ones_like(x), x], axis=-1)  # (S, N, 2): one batch for all data sets
        every = lines.fit_each(Phi, t, lines.start_at(np.tile(start, (len(x), 1, 1)), t), **limits)
        repetition, point = axis("repetition", len(x)), axis("point", self.n)
        one_line = lines.start_at(np.zeros((len(x), 1, 2)), t)
        alone = lines.fit_each(Phi, t, one_line)  # a mixture of one

        grid = axis("x", np.linspace(-1, 1, 41))
        at_grid, arms = line_design(grid.values), self._vee(grid.values)
        edges = arms - FAR * self.noise, arms + FAR * self.noise
        inside = lines.mass_between(at_grid, every.theta, *edges).mean(axis=1)
        first, close = take(every.theta, [0]), (arms - self.noise, arms + self.noise)
        near = lines.mass_between(at_grid, first, *close)[0], _summed(at_grid, first, *close)

        # The first data set, which is drawn: snapshots on the way, and random lines to start from.
        Phi, x, t = Phi[0], x[0], t[0]
        snapshot = axis("snapshot", [0, *sorted(self.snapshots)])
        steps = snapshot.values.tolist()
        one = lines.fit(Phi, t, lines.start_at(start, t), snapshots=steps, **limits)
        begin = lines.start_at_random(Phi, t, len(self.start), rng, self.restarts)
        many = lines.fit(Phi, t, begin, max_iter=LIMIT)
        L = one.objective[0][: int(one.iterations[0]) + 1]
        objectives, shown = many.objective[:, :EARLY], [one.snapshots[step] for step in steps]
        gamma = [lines.responsibilities(Phi, t, theta)[0] for theta in shown]
        line, w = axis("line", len(self.start)), axis("w", ["intercept", "slope"])
        early = axis("random_start", self.restarts), axis("early_iteration", objectives.shape[1])
        until_close = np.argmax(every.final[:, None] - every.objective < CLOSE, axis=1)
        return Outcome(
            inputs=point.of(x),
            targets=point.of(t),
            lines=over([theta.w[0] for theta in shown], snapshot, line, w),
            responsibilities=over(gamma, snapshot, point, line),
            log_likelihood=axis("iteration", len(L)).of(L),
            random_climb=over(objectives, *early),
            final_log_likelihood=repetition.of(every.final),
            single_line_log_likelihood=repetition.of(alone.final),
            slopes=over(np.sort(every.theta.w[..., 1], axis=1), repetition, line),
            predictive_modes=over(lines.predictive_modes(at_grid, every.theta), repetition, grid),
            near_arms=over(near, axis("side", ["model", "by hand"]), grid),
            mass_without_data=repetition.of(1 - inside),  # on average over inputs
            iterations_until_close=repetition.of(until_close),
            smallest_gain=axis("fits", ["data sets", "random starts"]).of(
                [smallest_gain(em.objective) for em in (every, many)]
            ),
        )


def _summed(Phi: Floats, theta: LinearMixture, low: Floats, high: Floats) -> Floats:
    """Density (14.34) of one mixture summed over targets between two curves (G,), by cells."""
    part = (np.arange(2000) + 0.5) / 2000
    t = low + (high - low) * part[:, None]  # (cells, G)
    each = zip(theta.pi[0], theta.w[0], strict=True)
    density = [pi * norm.pdf(t, Phi @ w, 1 / np.sqrt(theta.beta[0])) for pi, w in each]
    return np.asarray(np.sum(density, axis=0).mean(axis=0) * (high - low))
