"""Performance measures of constant answers, guesses and support vector machines (FCML 5.4)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.classification import roc, svm
from bythebook.models.classification.kernels import gaussian
from bythebook.models.datasets import load
from bythebook.models.standins import unit_disc
from bythebook.models.types import Bools, Floats

MEASURES: dict[str, Callable[[Bools, Bools], Any]] = {
    "loss": roc.loss_01,
    "sensitivity": roc.sensitivity,
    "specificity": roc.specificity,
    "auc": roc.auc,
}


@dataclass
class ClassifierMetrics(Study):
    """Loss, sensitivity, specificity and the area under the ROC curve (FCML 5.4)."""

    quantities = {
        "loss": quantity("share of the points that are classified wrongly", "answer"),
        "sensitivity": quantity("share of the positive points that are found", "answer"),
        "specificity": quantity("share of the negative points that are found", "answer"),
        "auc": quantity("area under the ROC curve", "answer"),
        "confusion": quantity("points of a class that get a label", "answer predicted true"),
        "roc": quantity("rates of true and of false positives", "gamma rate called"),
        "machine_auc": quantity("area under the ROC curve of a machine", "gamma"),
        "guessing_auc": quantity("area under the ROC curve of guesses", "guess"),
        "repeated_auc": quantity(
            "area under the ROC curve of a machine on new data", "gamma repetition"
        ),
    }
    axes = {
        "answer": axis_of("classifier"),
        "called": axis_of("rate of true or of false positives"),
        "gamma": axis_of("kernel parameter"),
        "guess": axis_of("set of guesses"),
        "predicted": axis_of("label that is given"),
        "rate": axis_of("threshold"),
        "repetition": axis_of("new data set"),
        "true": axis_of("true label"),
    }

    n: int = knob(1000, "objects, without test points", at_least=2, at_most=1_000_000)
    rare_share: float = knob(0.2, "share of their rare (positive) class", above=0, below=1)
    data: str = knob(
        "fcml-disc-train", "points for machines: x_1, x_2, t = -1 or 1", dataset="classes"
    )
    test: str | None = knob(None, "test points for machines, or none of either", dataset="classes")
    gammas: list[float] = knob(
        [0.01, 50.0, 1.0], "parameters of Gaussian kernels", above=0, distinct=True
    )
    cost: float = knob(10.0, "the bound C of the soft margin", above=0)
    repetitions: int = knob(
        200, "further test sets by the rule of the file", at_least=1, at_most=1000
    )

    def problems(self) -> Iterator[str]:
        if not 0 < round(self.n * self.rare_share) < self.n:
            yield f"study.rare_share={self.rare_share:g} leaves a class of {self.n} objects empty"
        for name in (self.data, self.test or self.data):
            if load(name).matrix.shape[1] != 3:
                yield f"study.data={name}: allowed: two attributes and a label"

    def run(self, rng: Generator) -> Outcome:
        if self.test is None:
            true, scored = np.arange(self.n) < round(self.n * self.rare_share), {}
        else:
            train, test = load(self.data).matrix, load(self.test).matrix
            true, scored = test[:, 2] > 0, self._scored(train, test, rng)
        answers = {"all negative": np.zeros_like(true), "all positive": np.ones_like(true)}
        answers["perfect"] = true
        answer, of = axis("answer", list(answers)), true.astype(int)
        predicted, label = (axis(name, ["negative", "positive"]) for name in ("predicted", "true"))
        counts = [roc.confusion(guess.astype(int), of, 2) for guess in answers.values()]
        return Outcome(
            **{
                name: answer.of([measure(guess, true) for guess in answers.values()])
                for name, measure in MEASURES.items()
            },
            confusion=over(counts, answer, predicted, label),
            **scored,
        )

    def _scored(self, train: Floats, test: Floats, rng: Generator) -> dict[str, Quantity]:
        """Machines on the test points and on others drawn by the file's rule; guesses."""
        true, n, sets = test[:, 2] > 0, len(test), range(self.repetitions)
        score = [self._scores(train[None], test[None], gamma)[0] for gamma in self.gammas]
        guesses = rng.random((200, n))
        tests = np.stack([unit_disc(rng, n) for _ in sets])
        flat = tests.reshape(1, -1, 3)
        scores = [
            self._scores(train[None], flat, gamma).reshape(tests.shape[:2]) for gamma in self.gammas
        ]
        gamma, rate = axis("gamma", self.gammas), axis("rate", ["false positive", "sensitivity"])
        repeated = [roc.auc(each, tests[..., 2] > 0) for each in scores]
        return {
            "roc": over(roc.roc_curves(score, true), gamma, rate, axis("called", n + 1)),
            "machine_auc": gamma.of([roc.auc(each, true) for each in score]),
            "guessing_auc": axis("guess", 200).of(roc.auc(guesses, np.tile(true, (200, 1)))),
            "repeated_auc": over(repeated, gamma, axis("repetition", len(sets))),
        }

    def _scores(self, train: Floats, test: Floats, gamma: float) -> Floats:
        kernel = partial(gaussian, gamma=gamma)
        X, t, Z = train[..., :2], train[..., 2], test[..., :2]
        return svm.scores(X, t, Z, kernel, self.cost)
