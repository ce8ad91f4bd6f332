"""Laplace and BIC as data grow, against the exact evidence (Ghahramani 11.1, 11.2; Notes 1.5)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation.asymptotic import MODELS, Found

METHODS = ["exact", "laplace", "bic", "bic at the mode"]
WITHOUT_VARIATION = "product"  # the model whose total variation is not computed


@dataclass
class AsymptoticEvidence(Study):
    """Log evidence of models as the number of points grows, and assumptions of approximations.

    Every size has its own data sets.
    """

    headline = {"bic_error": "max(mean(abs(log_evidence[:, 'bic'] - log_evidence[:, 'exact'])))"}
    quantities = {
        "log_evidence": quantity(
            "log evidence of a model, exact or approximate",
            "model method points repetition",
            unit="nats",
        ),
        "parameters": quantity("number of parameters d", "model"),
        "total_variation": quantity(
            "total variation between posterior and Laplace's Gaussian", "model points repetition"
        ),
        "log_prior": quantity(
            "log prior density at the most probable parameters", "model points repetition"
        ),
        "least_eigenvalue": quantity(
            "smallest eigenvalue of A, divided by the number of points", "model points repetition"
        ),
        "determinant_rest": quantity(
            "half the log determinant of A, less (d / 2) log N", "model points repetition"
        ),
    }
    axes = {
        "model": axis_of("model"),
        "method": axis_of("method"),
        "points": axis_of("number of points"),
        "repetition": axis_of("data set"),
    }

    models: list[str] = knob(["coin"], "what data are drawn from", choices=tuple(MODELS))
    points: list[int] = knob([10, 100], "points of a data set", at_least=2, at_most=1_000_000)
    repetitions: int = knob(30, "data sets of each size", at_least=1, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        sizes = sorted(self.points)
        found = [
            [[MODELS[name](N, rng) for _ in range(self.repetitions)] for N in sizes]
            for name in self.models
        ]
        rows = [
            [[_summary(each, N) for each in row] for N, row in zip(sizes, of_model, strict=True)]
            for of_model in found
        ]
        table = np.moveaxis(np.array(rows), -1, 0)  # (what, model, points, repetition)
        evidence, rest = table[: len(METHODS)], table[len(METHODS) :]
        along = "model points repetition"
        more: dict[str, Any] = {}
        if WITHOUT_VARIATION not in self.models:
            more["total_variation"] = (along, rest[0])
        return outcome(
            {
                "model": self.models,
                "method": METHODS,
                "points": sizes,
                "repetition": self.repetitions,
            },
            log_evidence=("model method points repetition", np.moveaxis(evidence, 0, 1)),
            log_prior=(along, rest[1]),
            least_eigenvalue=(along, rest[2]),
            determinant_rest=(along, rest[3]),
            parameters=("model", [len(of_model[0][0].A) for of_model in found]),
            **more,
        )


def _summary(f: Found, N: int) -> list[float]:
    """Log evidence by all methods, and the other recorded quantities of a data set."""
    least, half = np.linalg.eigvalsh(f.A)[0] / N, np.linalg.slogdet(f.A)[1] / 2
    evidence = [f.exact, f.laplace, f.bic(N), f.bic(N, largest=False)]
    rest = half - len(f.A) / 2 * np.log(N)
    return [*evidence, f.variation, f.log_prior, float(least), float(rest)]
