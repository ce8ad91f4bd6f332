"""Support vector machines with Gaussian kernels, and their ROC curves (FCML 5.3.2.6, 5.4.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.classification._plane import labelled, mesh
from models.classification import svm
from models.classification.kernels import gaussian
from models.classification.roc import auc, roc_curve
from models.datasets import load
from models.standins import inside_and_outside, unit_disc
from models.types import Floats

SHOWN = ("data", "boundaries", "roc")


@dataclass
class SvmKernel(Study):
    """Gaussian-kernel machines for a disc: too simple, right, too complex (FCML 5.3.2.6)."""

    headline = {"best_auc": "max(auc)", "best_gamma": "argmax(auc)"}

    data: str = knob("fcml-disc-train", "two attributes and t = -1 or +1", dataset=True)
    test: str = knob("fcml-disc-test", "test points, in the same form", dataset=True)
    gammas: list[float] = knob([0.01, 1.0, 50.0], "kernel parameters", above=0, distinct=True)
    cost: float = knob(10.0, "the bound C of the soft margin", above=0)
    bias: str = knob("mean", "how b is found for the map", choices=svm.BIAS_RULES)
    repetitions: int = knob(
        100, "further training and test sets by the rule of the files", at_least=0, at_most=1000
    )
    show: list[str] = knob(["boundaries"], "what to draw", choices=SHOWN, distinct=True)

    def problems(self) -> Iterator[str]:
        for name in (self.data, self.test):
            if load(name).matrix.shape[1] != 3:
                yield f"study.data={name}: allowed: two attributes and a label"

    def run(self, rng: Generator) -> Outcome:
        train, test = load(self.data).matrix, load(self.test).matrix
        X, t, Z, true = train[:, :2], train[:, 2], test[:, :2], test[:, 2] > 0
        z = (X**2).sum(1)
        x1, x2, grid = mesh([-3.0, -3.0], [3.0, 3.0], 0.05)
        gamma, point, new = axis("gamma", self.gammas), axis("point", len(t)), axis("new", len(Z))
        fits = [svm.solve(gaussian(X, X, g)[None], t[None], self.cost) for g in self.gammas]
        b = {rule: [svm.bias(fit, t[None], rule)[0] for fit in fits] for rule in svm.BIAS_RULES}
        score, curves, region = [], [], []
        for g, fit, bias in zip(self.gammas, fits, b[self.bias], strict=True):
            influence = fit.alpha[0] * t
            score.append(gaussian(Z, X, g) @ influence)
            curve = np.stack(roc_curve(score[-1], true))
            # Objects with equal scores make a curve shorter: it stays where it has arrived.
            curves.append(np.pad(curve, ((0, 0), (0, len(Z) + 1 - curve.shape[1])), mode="edge"))
            on_grid = gaussian(grid.reshape(-1, 2), X, g) @ influence + bias
            region.append(on_grid.reshape(len(x2), len(x1)) > 0)
        guesses = rng.random((200, len(true)))
        guess, called = axis("guess", len(guesses)), axis("called", len(Z) + 1)
        label, space = axis("category", [-1, 1]), axis("space", ["x", "z"])
        return Outcome(
            **labelled(X, t),
            squared_distance=point.of(z),
            least_squared_distance=label.of([z[t == c].min() for c in label.values]),
            largest_squared_distance=label.of([z[t == c].max() for c in label.values]),
            separable=space.of([svm.separable(X, t), svm.separable(z[:, None], t)]),
            influence=over([fit.alpha[0] for fit in fits], gamma, point),
            support=over([fit.support[0] for fit in fits], gamma, point),
            bias=over(list(b.values()), axis("rule", list(b)), gamma),
            region=over(region, gamma, x2, x1),
            new_label=new.of(test[:, 2]),
            score=over(score, gamma, new),
            roc=over(curves, gamma, axis("rate", ["false positive", "sensitivity"]), called),
            auc=gamma.of([auc(each, true) for each in score]),
            perfect_auc=auc(true.astype(float), true),
            guessing_auc=guess.of(auc(guesses, np.broadcast_to(true, guesses.shape))),
            **self._repeat(t, len(Z), rng),
        )

    def _repeat(self, t: Floats, n_test: int, rng: Generator) -> dict[str, Quantity]:
        """AUC on training and test sets drawn by the rule that the authors' files follow."""
        R, inside, outside = self.repetitions, int((t > 0).sum()), int((t < 0).sum())
        if R == 0:
            return {}
        train = np.stack([inside_and_outside(rng, inside, outside) for _ in range(R)])
        test = np.stack([unit_disc(rng, n_test) for _ in range(R)])
        X, t, Z = train[..., :2], train[..., 2], test[..., :2]
        found = []
        for gamma in self.gammas:
            K = np.stack([gaussian(points, points, gamma) for points in X])
            fit = svm.solve(K, t, self.cost, tol=1e-6)
            scores = [
                gaussian(new, points, gamma) @ influence
                for new, points, influence in zip(Z, X, fit.alpha * t, strict=True)
            ]
            found.append(auc(np.stack(scores), test[..., 2] > 0))
        gamma_axis, repetition = axis("gamma", self.gammas), axis("repetition", R)
        return {"repeated_auc": over(found, gamma_axis, repetition)}
