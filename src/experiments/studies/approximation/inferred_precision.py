"""Logistic regression whose prior precision is inferred as well (PRML 10.6.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import inferred_precision as model


@dataclass
class InferredPrecision(Study):
    """Two variational bounds after each update against the evidence, and the precision."""

    headline = {"gap": "median(log_evidence - last(bound, over='update'))"}
    quantities = {
        "bound": quantity(
            "local and global bound on the log evidence",
            "repetition update",
            unit="nats",
            equation="PRML 10.172",
        ),
        "global_bound": quantity(
            "global bound on the log evidence",
            "repetition update",
            unit="nats",
            equation="PRML 10.170",
        ),
        "log_evidence": quantity("log evidence", "repetition", unit="nats", equation="PRML 10.167"),
        "expected_precision": quantity(
            "expected prior precision", "repetition update", equation="PRML 10.182"
        ),
    }
    axes = {
        "repetition": axis_of("data set"),
        "update": axis_of("update of the weights, the precision or the local bounds"),
    }

    points: int = knob(20, "points of a data set", at_least=2, at_most=500)
    repetitions: int = knob(10, "data sets", at_least=1, at_most=200)
    weights: list[float] = knob([0.0, 2.0], "bias and slope that data are drawn with")
    hyperprior: list[float] = knob([1.0, 1.0], "a_0 and b_0 of the precision", above=0)
    iterations: int = knob(40, "cycles of three updates", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        if len(self.weights) != 2 or len(self.hyperprior) != 2:
            yield "study.weights and study.hyperprior; allowed: two numbers each"

    def run(self, rng: Generator) -> Outcome:
        prior = self.hyperprior[0], self.hyperprior[1]
        shape = self.repetitions, 3 * self.iterations
        local, whole, precision = np.empty((3, *shape))
        evidence = np.empty(self.repetitions)
        for k in range(self.repetitions):
            x = rng.standard_normal(self.points)
            X = np.stack([np.ones_like(x), x], axis=-1)
            t = (rng.random(self.points) < expit(X @ np.array(self.weights))).astype(float)
            path = model.climb(X, t, prior, self.iterations)
            local[k] = [model.bound(X, t, prior, q) for q in path]
            whole[k] = [model.global_bound(X, t, prior, q) for q in path]
            precision[k] = [q.a / q.b for q in path]
            evidence[k] = model.log_evidence(X, t, prior)
        along = "repetition update"
        return outcome(
            {"repetition": self.repetitions, "update": np.arange(1, shape[1] + 1)},
            bound=(along, local),
            global_bound=(along, whole),
            log_evidence=("repetition", evidence),
            expected_precision=(along, precision),
        )
