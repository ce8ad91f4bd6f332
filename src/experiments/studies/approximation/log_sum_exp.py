"""The largest score as a bound on a log of summed exponentials (MLAPP 19.7.1)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp, softmax
from scipy.stats import norm

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import log_sum_exp
from bythebook.models.approximation.log_sum_exp import Problem
from bythebook.models.types import Floats

EXAMPLES, LABELS, FEATURES = 5, 4, 3  # of a drawn problem
C = 2.0  # of (19.90), the variance of the prior
SHOWN = 20  # drawn problems that are recorded in full
OBJECTIVES = {
    "19.84": log_sum_exp.expected_loss,
    "19.87": log_sum_exp.difference_of_maxima,
    "19.89": log_sum_exp.convex_objective,
}


@dataclass
class LogSumExp(Study):
    """Bounds on log-sum-exp of given and drawn scores; objectives of drawn problems."""

    headline = {"log_sum": "log_sum"}
    more_quantities = True
    quantities = {
        "log_sum": quantity("log of the sum of the exponentials of the scores"),
    }

    scores: list[float] = knob([0.0, 1.0, 2.0], "one for each label")
    chosen: int = knob(1, "the label of the looser bound", at_least=0)
    draws: int = knob(200, "drawn scores, and drawn problems", at_least=2, at_most=10_000)

    def problems(self) -> Iterator[str]:
        if self.chosen >= len(self.scores):
            yield f"study.chosen={self.chosen}; allowed: below {len(self.scores)}"

    def run(self, rng: Generator) -> Outcome:
        f, draw = np.array(self.scores), axis("draw", self.draws)
        sizes = rng.integers(2, 51, self.draws)
        drawn = [rng.normal(0, rng.uniform(0.1, 5), n) for n in sizes]
        sums = np.array([logsumexp(g) for g in drawn])
        top, any_one = np.array([g.max() for g in drawn]), np.array([g[0] for g in drawn])
        slack = [sums - top, np.log(sizes) + top - sums, sums - any_one]
        kinds = axis("bound", ["largest", "largest and log of their number", "any one"])
        found = [_compared(rng) for _ in range(self.draws)]
        made = {name: np.array([of[name] for of in found]) for name in found[0]}
        shown = axis("problem", min(SHOWN, self.draws))
        example, label = axis("example", EXAMPLES), axis("label", LABELS)
        subset = {name: values[: len(shown)] for name, values in made.items()}
        constant = axis("constant", ["printed", "with the constant"])
        return Outcome(
            largest=float(f.max()),
            score_chosen=float(f[self.chosen]),
            log_sum=float(logsumexp(f)),
            slack=over(slack, kinds, draw),
            objective_slack=over(made["objective"].T, constant, draw),
            chord_slack=over(made["chord"].T, axis("objective", ["19.87", "19.89"]), draw),
            zero_one_gap=draw.of(made["zero_one"]),
            prior_gap=over(made["prior"].T, axis("energy", ["printed", "corrected"]), draw),
            shown_objective=over(subset["shown"].T, axis("equation", list(OBJECTIVES)), shown),
            shown_zero_one=shown.of(subset["zero_one"]),
            half_square=shown.of(subset["half_square"]),
            score=over(subset["score"], shown, example, label),
            log_loss=over(subset["log_loss"], shown, example, label),
            own_score=over(subset["own_score"], shown, example),
            other_probability=over(subset["other_probability"], shown, example),
            own_probability=over(subset["own_probability"], shown, example),
        )


def _compared(rng: Generator) -> dict[str, object]:
    """Slack of the bound, and chords against the middle, of a drawn problem and weights."""
    w = rng.standard_normal((2, FEATURES)) * rng.uniform(0.1, 3)
    features = rng.standard_normal((EXAMPLES, LABELS, FEATURES))
    labels = rng.integers(LABELS, size=EXAMPLES)
    log_loss = rng.normal(0, 1, (EXAMPLES, LABELS))
    own = np.arange(EXAMPLES), labels
    features[own] += rng.uniform(0, 3) * w[0] / np.linalg.norm(w[0])  # fitted more or less well
    log_loss[own] -= 3  # the right label has the lowest loss
    problem = Problem(features, labels, log_loss)
    least = log_sum_exp.convex_objective(problem, w) - log_sum_exp.expected_loss(problem, w)
    chords = [
        f(problem, w).mean() - f(problem, w.mean(0))
        for f in (log_sum_exp.difference_of_maxima, log_sum_exp.convex_objective)
    ]
    worst = float(least.min())
    score = features @ w[0]
    p = softmax(score, axis=-1)
    return {
        "objective": [worst, worst + EXAMPLES * np.log(LABELS)],
        "chord": chords,
        "zero_one": float(log_sum_exp.zero_one_gap(problem, w[0])),
        "prior": _prior_gap(w),
        "shown": [float(f(problem, w[0])) for f in OBJECTIVES.values()],
        "half_square": w[0] @ w[0] / 2,
        "score": score,
        "log_loss": log_loss,
        "own_score": score[own],
        "own_probability": p[own],
        "other_probability": np.where(np.arange(LABELS) == labels[:, None], 0, p).sum(-1),
    }


def _prior_gap(w: Floats) -> list[float]:
    """Difference of -E (19.82) between two weights, compared with that of a log Gaussian."""
    half_square = (w**2).sum(-1) / (2 * C)
    log_gaussian = norm.logpdf(w, scale=np.sqrt(C)).sum(-1)
    return [
        float(np.diff(log_prior - log_gaussian)[0]) for log_prior in (half_square, -half_square)
    ]
