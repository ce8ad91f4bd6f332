"""Monte Carlo EM and data augmentation (PRML 11.1.6)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.sampling import sampled_em as models

START = np.array([-0.5, 0.5])
CONVERGED = 300  # iterations of exact EM
OTHER = np.array([-1.0, 1.0])  # means at which Q is compared


@dataclass
class SampledEm(Study):
    """Two means of a mixture by EM, by Monte Carlo EM and by data augmentation (PRML 11.1.6)."""

    headline = {"distance": "mean(abs(sampled_means - em_means))"}
    quantities = {
        "q_error": quantity(
            "sampled minus exact expectation of the log likelihood of the complete data",
            "samples repetition",
            equation="PRML 11.29",
        ),
        "em_means": quantity("means by EM", "repetition component"),
        "sampled_means": quantity("means by Monte Carlo EM", "samples repetition component"),
        "late_sd": quantity("deviation of the means in the last half", "samples repetition"),
        "sampled_map": quantity(
            "means by Monte Carlo EM with a prior", "samples repetition component"
        ),
        "exact_map": quantity("mode of the posterior", "repetition component"),
        "posterior_mean": quantity("exact posterior mean", "repetition component"),
        "posterior_sd": quantity("exact posterior deviation", "repetition component"),
        "augmented_mean": quantity("posterior mean by data augmentation", "repetition component"),
        "augmented_sd": quantity(
            "posterior deviation by data augmentation", "repetition component"
        ),
        "path": quantity("means after each iteration", "samples iteration component"),
        "drawn": quantity("means drawn by data augmentation", "draw component"),
    }
    axes = {
        "samples": axis_of("samples of an E step"),
        "repetition": axis_of("data set"),
        "component": axis_of("component of the mixture"),
        "iteration": axis_of("iteration"),
        "draw": axis_of("draw of the means"),
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
        R, precision = self.repetitions, 1 / self.prior_variance
        x = models.data(self.points, self.separation, R, rng)
        start = np.tile(START, (R, 1))
        exact = models.em(x, start, CONVERGED, 0.0).last
        shares = models.responsibilities(x, self.separation * start)  # of the true means
        there = models.expected(x, shares, OTHER)
        q_errors, courses, modes = [], [], []
        for L in self.samples:
            drawn = models.assignments(shares, L, rng)
            q_errors.append(models.expected(x, drawn, OTHER) - there)
            courses.append(models.em(x, start, self.iterations, 0.0, L, rng))
            modes.append(models.em(x, start, self.iterations, precision, L, rng).last)
        late = [course.means[self.iterations // 2 :].std(0).mean(-1) for course in courses]
        known = models.posterior(x, precision)
        draws = np.sort(models.augment(x, exact, self.sweeps, self.draws, precision, rng), axis=-1)
        return outcome(
            {
                "samples": self.samples,
                "repetition": R,
                "component": [1, 2],
                "iteration": self.iterations + 1,
                "draw": self.draws,
            },
            q_error=("samples repetition", q_errors),
            em_means=("repetition component", exact),
            sampled_means=("samples repetition component", [course.last for course in courses]),
            late_sd=("samples repetition", late),
            sampled_map=("samples repetition component", modes),
            exact_map=("repetition component", known.mode),
            posterior_mean=("repetition component", known.mean),
            posterior_sd=("repetition component", known.sd),
            augmented_mean=("repetition component", draws.mean(1)),
            augmented_sd=("repetition component", draws.std(1)),
            path=("samples iteration component", [course.means[:, 0] for course in courses]),
            drawn=("draw component", draws[0]),
        )
