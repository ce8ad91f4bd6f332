"""What a classifier that ignores its input scores by different measures (FCML 5.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.classification.roc import auc, confusion, loss_01, sensitivity, specificity


@dataclass
class ClassifierMetrics(Study):
    """0/1 loss, sensitivity, specificity and AUC when all objects get one answer (FCML 5.4)."""

    n: int = knob(1000, "objects", at_least=2, at_most=1_000_000)
    rare_share: float = knob(0.2, "share of the rare (positive) class", above=0, below=1)

    def problems(self) -> Iterator[str]:
        if not 0 < round(self.n * self.rare_share) < self.n:
            yield f"study.rare_share={self.rare_share:g} leaves a class of {self.n} objects empty"

    def run(self, rng: Generator) -> Outcome:
        true = np.arange(self.n) < round(self.n * self.rare_share)
        answers = {
            "all negative": np.zeros_like(true),
            "all positive": np.ones_like(true),
            "perfect": true,
        }
        answer, each = axis("answer", list(answers)), answers.values()
        predicted, of = (axis(name, ["negative", "positive"]) for name in ("predicted", "true"))
        counts = [confusion(guess.astype(int), true.astype(int), 2) for guess in each]
        return Outcome(
            loss=answer.of([loss_01(guess.astype(int), true.astype(int)) for guess in each]),
            sensitivity=answer.of([sensitivity(guess, true) for guess in each]),
            specificity=answer.of([specificity(guess, true) for guess in each]),
            auc=answer.of([auc(guess.astype(float), true) for guess in each]),
            confusion=over(counts, answer, predicted, of),
        )
