"""What measures say of classifiers: of constant answers, of guesses, of machines (FCML 5.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.classification import roc, svm
from models.classification.kernels import gaussian
from models.datasets import load
from models.standins import inside_and_outside, unit_disc
from models.types import Floats


@dataclass
class ClassifierMetrics(Study):
    """Loss, sensitivity, specificity and the area under the ROC curve (FCML 5.4)."""

    n: int = knob(1000, "objects, without test points", at_least=2, at_most=1_000_000)
    rare_share: float = knob(0.2, "share of their rare (positive) class", above=0, below=1)
    data: str = knob("fcml-disc-train", "points for machines: x_1, x_2, t = -1 or 1", dataset=True)
    test: str | None = knob(None, "test points for machines, or none of either", dataset=True)
    gammas: list[float] = knob(
        [0.01, 50.0, 1.0], "parameters of Gaussian kernels", above=0, distinct=True
    )
    cost: float = knob(10.0, "the bound C of the soft margin", above=0)
    repetitions: int = knob(
        100, "further training and test sets by the rule of the files", at_least=1, at_most=1000
    )

    def problems(self) -> Iterator[str]:
        if not 0 < round(self.n * self.rare_share) < self.n:
            yield f"study.rare_share={self.rare_share:g} leaves a class of {self.n} objects empty"
        for name in (self.data, self.test or self.data):
            if load(name).matrix.shape[1] != 3:
                yield f"study.data={name}: allowed: two attributes and a label"

    def run(self, rng: Generator) -> Outcome:
        scored: dict[str, Quantity] = {}
        if self.test is None:
            true = np.arange(self.n) < round(self.n * self.rare_share)
        else:
            true = load(self.test).matrix[:, 2] > 0
            scored = self._scored(load(self.data).matrix, load(self.test).matrix, rng)
        answers = {
            "all negative": np.zeros_like(true),
            "all positive": np.ones_like(true),
            "perfect": true,
        }
        answer, each = axis("answer", list(answers)), answers.values()
        predicted, of = (axis(name, ["negative", "positive"]) for name in ("predicted", "true"))
        counts = [roc.confusion(guess.astype(int), true.astype(int), 2) for guess in each]
        return Outcome(
            loss=answer.of([roc.loss_01(guess.astype(int), true.astype(int)) for guess in each]),
            sensitivity=answer.of([roc.sensitivity(guess, true) for guess in each]),
            specificity=answer.of([roc.specificity(guess, true) for guess in each]),
            auc=answer.of([roc.auc(guess.astype(float), true) for guess in each]),
            confusion=over(counts, answer, predicted, of),
            **scored,
        )

    def _scored(self, train: Floats, test: Floats, rng: Generator) -> dict[str, Quantity]:
        """Machines on the test points, guesses, and machines on sets drawn by the files' rule."""
        true, n = test[:, 2] > 0, len(test)
        score = self._scores(train[None], test[None])[:, 0]
        curves = [np.stack(roc.roc_curve(each, true)) for each in score]
        # Objects with equal scores make a curve shorter: it stays where it has arrived.
        curves = [np.pad(c, ((0, 0), (0, n + 1 - c.shape[1])), mode="edge") for c in curves]
        guesses = rng.random((200, n))
        inside, outside, sets = (train[:, 2] > 0).sum(), (train[:, 2] < 0).sum(), self.repetitions
        trains = np.stack([inside_and_outside(rng, inside, outside) for _ in range(sets)])
        tests = np.stack([unit_disc(rng, n) for _ in range(sets)])
        repeated = [roc.auc(each, tests[..., 2] > 0) for each in self._scores(trains, tests, 1e-6)]
        gamma, rate = axis("gamma", self.gammas), axis("rate", ["false positive", "sensitivity"])
        return {
            "roc": over(curves, gamma, rate, axis("called", n + 1)),
            "machine_auc": gamma.of([roc.auc(each, true) for each in score]),
            "guessing_auc": axis("guess", 200).of(roc.auc(guesses, np.tile(true, (200, 1)))),
            "repeated_auc": over(repeated, gamma, axis("repetition", sets)),
        }

    def _scores(self, train: Floats, test: Floats, tol: float = 1e-9) -> Floats:
        """Outputs without b of each machine, for R training sets and test sets, (G, R, M)."""
        pairs = list(zip(train[..., :2], test[..., :2], strict=True))
        t, found = train[..., 2], []
        for gamma in self.gammas:
            K = np.stack([gaussian(X, X, gamma) for X, _ in pairs])
            influence = svm.solve(K, t, self.cost, tol=tol).alpha * t
            weighed = zip(pairs, influence, strict=True)
            found.append([gaussian(Z, X, gamma) @ alpha for (X, Z), alpha in weighed])
        return np.array(found)
