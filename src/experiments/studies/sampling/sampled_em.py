"""Monte Carlo EM and data augmentation (PRML 11.1.6)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling import sampled_em as models

START = np.array([-0.5, 0.5])
CONVERGED = 300  # iterations of exact EM
OTHER = np.array([-1.0, 1.0])  # means at which Q is compared


@dataclass
class SampledEm(Study):
    """Two means of a mixture by EM, by Monte Carlo EM and by data augmentation (PRML 11.1.6)."""

    headline = {"gap": "mean(abs(sampled_means - em_means))"}
    more_quantities = True
    quantities = {
        "em_means": quantity("means by EM", "repetition component"),
        "sampled_means": quantity("means by Monte Carlo EM", "samples repetition component"),
        "inputs": quantity("points of the data", "repetition point"),
        "assigned": quantity("sampled component of a point", "samples repetition point"),
        "expected_gap": quantity(
            "sampled minus exact expectation of the log likelihood", "samples repetition"
        ),
        "wander": quantity("deviation of the means over the last iterations", "samples repetition"),
        "sampled_map": quantity("mode by Monte Carlo EM", "samples repetition component"),
        "exact_map": quantity("exact mode of the posterior", "repetition component"),
        "posterior_mean": quantity("exact posterior mean", "repetition component"),
        "posterior_sd": quantity("exact posterior deviation", "repetition component"),
        "augmented_mean": quantity("posterior mean by data augmentation", "repetition component"),
        "augmented_sd": quantity(
            "posterior deviation by data augmentation", "repetition component"
        ),
        "path": quantity("means after each iteration", "samples iteration component"),
        "drawn": quantity("means drawn by data augmentation", "draw component"),
    }

    points: int = knob(60, "of a data set", at_least=10, at_most=1000)
    separation: float = knob(2.5, "of the true means, in deviations", at_least=1, at_most=5)
    samples: list[int] = knob([1, 10, 100], "L of the E step", at_least=1, distinct=True)
    iterations: int = knob(60, "of EM with samples", at_least=4, at_most=10_000)
    prior_variance: float = knob(4.0, "of each mean", above=0)
    draws: int = knob(200, "of the posterior", at_least=10, at_most=10_000)
    sweeps: int = knob(20, "of data augmentation", at_least=1, at_most=1000)
    repetitions: int = knob(40, "data sets", at_least=2, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        size, repetition = axis("samples", self.samples), axis("repetition", self.repetitions)
        component, R = axis("component", [1, 2]), self.repetitions
        precision = 1 / self.prior_variance
        x = models.data(self.points, self.separation, R, rng)
        start = np.tile(START, (R, 1))
        exact = models.em(x, start, CONVERGED, 0.0).last
        truth = np.tile([-0.5, 0.5], (R, 1)) * self.separation
        shares = models.responsibilities(x, truth)
        there = models.expected(x, shares, OTHER)
        gaps, ends, modes, wander, paths, assigned = [], [], [], [], [], []
        for L in self.samples:
            drawn = models.assignments(shares, L, rng)
            assigned.append(drawn)
            gaps.append(models.expected(x, drawn, OTHER) - there)
            course = models.em(x, start, self.iterations, 0.0, L, rng)
            late = course.means[self.iterations // 2 :]
            ends.append(course.last)
            wander.append(late.std(0).mean(-1))
            paths.append(course.means[:, 0])
            modes.append(models.em(x, start, self.iterations, precision, L, rng).last)
        one = models.assignments(shares, 1, rng)
        known = models.posterior(x, precision)
        draws = np.sort(models.augment(x, exact, self.sweeps, self.draws, precision, rng), axis=-1)
        each, point = (repetition, component), axis("point", self.points)
        return Outcome(
            inputs=over(x, repetition, point),
            assigned=over(assigned, size, repetition, point),
            expected=repetition.of(there),
            expected_gap=over(gaps, size, repetition),
            softness=repetition.of((one * (1 - one)).max(-1)),
            em_means=over(exact, *each),
            sampled_means=over(ends, size, *each),
            wander=over(wander, size, repetition),
            sampled_map=over(modes, size, *each),
            exact_map=over(known.mode, *each),
            posterior_mean=over(known.mean, *each),
            posterior_sd=over(known.sd, *each),
            augmented_mean=over(draws.mean(1), *each),
            augmented_sd=over(draws.std(1), *each),
            path=over(paths, size, axis("iteration", self.iterations + 1), component),
            drawn=over(draws[0], axis("draw", self.draws), component),
        )
