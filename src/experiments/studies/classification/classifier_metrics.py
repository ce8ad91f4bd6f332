"""What a classifier that ignores its input scores by different measures (FCML 5.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from models.classification.roc import auc, confusion, loss_01, sensitivity, specificity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class ClassifierMetrics(Study):
    """0/1 loss, sensitivity, specificity and AUC when all objects get one answer (FCML 5.4)."""

    n: int = knob(1000, "objects", at_least=2, at_most=1_000_000)
    rare_share: float = knob(0.2, "share of the rare (positive) class", above=0, below=1)
    repetitions: int = knob(200, "random guessers", at_least=1, at_most=10_000)

    def problems(self) -> "Iterator[str]":
        if not 0 < round(self.n * self.rare_share) < self.n:
            yield f"study.rare_share={self.rare_share:g} leaves a class of {self.n} objects empty"

    def run(self, rng: Generator) -> Outcome:
        true = np.arange(self.n) < round(self.n * self.rare_share)
        answers = {
            "all_negative": np.zeros_like(true),
            "all_positive": np.ones_like(true),
            "perfect": true,
        }
        metrics: dict[str, Scalar] = {}
        rows = []
        for name, guess in answers.items():
            values = (
                loss_01(guess.astype(int), true.astype(int)),
                sensitivity(guess, true),
                specificity(guess, true),
                float(auc(guess.astype(float), true)),
            )
            rows.append((name, *values))
            for measure, value in zip(
                ("loss", "sensitivity", "specificity", "auc"), values, strict=True
            ):
                metrics[f"{measure}_{name}"] = value
        table = confusion(np.zeros(self.n, int), true.astype(int), 2)
        metrics |= {"tn": int(table[0, 0]), "fn": int(table[0, 1])}
        metrics |= {"fp": int(table[1, 0]), "tp": int(table[1, 1])}
        scores = rng.random((self.repetitions, self.n))
        metrics["mean_auc_guessing"] = float(
            auc(scores, np.broadcast_to(true, scores.shape)).mean()
        )
        names = ("classifier", "loss", "sensitivity", "specificity", "auc")
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        return Outcome(metrics, tables={"measures": columns})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        table = outcome.tables["measures"]
        figure, ax = panels()
        place = np.arange(len(table["classifier"]))
        for k, measure in enumerate(("loss", "sensitivity", "specificity", "auc")):
            bars = ax.bar(place + 0.2 * (k - 1.5), table[measure], 0.18, label=measure)
            ax.bar_label(bars, fmt="%g", fontsize=8)
        ax.set_xticks(place, [name.replace("_", " ") for name in table["classifier"]])
        ax.set(xlabel="Classifier", ylabel="Value", ylim=(0, 1.1))
        figure.legend(loc="outside lower center", ncols=4)
        return {"measures": figure}
