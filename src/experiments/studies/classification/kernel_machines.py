"""Support vector machines with Gaussian kernels: decisions, support vectors, ROC (FCML 5.3, 5.4).

The new data sets follow the rule of the authors' test file.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.classification._plane import Map
from bythebook.models.classification import roc, svm
from bythebook.models.classification.kernels import gaussian
from bythebook.models.datasets import load
from bythebook.models.standins import unit_disc
from bythebook.models.types import Bools, Floats


@dataclass
class KernelMachines(Map, Study):
    """Decisions and ROC curves of machines with Gaussian kernels (FCML 5.3.2.6, 5.4.3)."""

    headline = {
        "support_vectors": "count(support, over='point')",
        "largest_area": "max(machine_auc)",
    }
    quantities = {
        "inputs": quantity("attributes of the data", "point attribute"),
        "label": quantity("class of a point", "point"),
        "squared_distance": quantity("squared distance of a point from the origin", "point"),
        "separable": quantity("whether a linear boundary separates the classes", "space"),
        "alpha": quantity("Lagrange multiplier of a point", "gamma point", equation="5.13"),
        "support": quantity("whether a point is a support vector", "gamma point"),
        "bias": quantity("bias b of the decision function", "rule gamma", equation="5.16"),
        "new_label": quantity("class of a test point", "new"),
        "score": quantity("weighted sum of kernels, without b", "gamma new"),
        "accuracy": quantity("share of the test points that are classified correctly", "gamma"),
        "region": quantity("whether a place is assigned to class +1", "gamma x2 x1"),
        "boundary_length": quantity("edges of the map between the two decisions", "gamma"),
        "roc": quantity("rates of true and of false positives", "gamma rate called"),
        "machine_auc": quantity("area under the ROC curve of a machine", "gamma"),
        "guessing_auc": quantity("area under the ROC curve of guesses", "repetition"),
        "repeated_auc": quantity(
            "area under the ROC curve of a machine on new data", "gamma repetition"
        ),
    }
    axes = {
        "point": axis_of("training point"),
        "attribute": axis_of("attribute"),
        "space": axis_of("inputs x, or the squared distance z"),
        "gamma": axis_of("parameter gamma of the Gaussian kernel"),
        "rule": axis_of("support vectors from which b is computed"),
        "new": axis_of("test point"),
        "x1": axis_of("first attribute"),
        "x2": axis_of("second attribute"),
        "rate": axis_of("rate"),
        "called": axis_of("number of points that are assigned to class +1"),
        "repetition": axis_of("new data set"),
    }

    data: str = knob("fcml-disc-train", "training points: x_1, x_2, t = -1 or 1", dataset="classes")
    test: str = knob("fcml-disc-test", "test points", dataset="classes")
    gammas: list[float] = knob([1.0], "gamma of the Gaussian kernels", above=0, distinct=True)
    cost: float = knob(10.0, "the bound C of the soft margin", above=0)
    repetitions: int = knob(0, "new test sets by the rule of the file", at_least=0, at_most=1000)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        for name in (self.data, self.test):
            if load(name).matrix.shape[1] != 3:
                yield f"study.data={name}; allowed: two attributes and a class"

    def run(self, rng: Generator) -> Outcome:
        train, test = load(self.data).matrix, load(self.test).matrix
        X, t, true = train[:, :2], np.where(train[:, 2] > 0, 1.0, -1.0), test[:, 2] > 0
        x1, x2, grid = self.grid()
        z = (X**2).sum(1)
        fits = [svm.solve(gaussian(X, X, g)[None], t[None], self.cost) for g in self.gammas]
        bias = np.array([[svm.bias(fit, t[None], rule)[0] for fit in fits] for rule in svm.RULES])
        score = self._scores(test, X, t, fits)
        # The map has the mean b over all support vectors, as in the authors' script svmgauss.
        free, mean = (bias[svm.RULES.index(rule), :, None] for rule in (svm.FREE, svm.MEAN))
        region = self._scores(grid.reshape(-1, 2), X, t, fits) + mean > 0
        region = region.reshape(-1, len(x2), len(x1))
        guesses = rng.random((self.repetitions, len(test)))
        new = unit_disc(rng, self.repetitions * len(test)).reshape(*guesses.shape, 3)
        repeated = self._scores(new.reshape(-1, 3), X, t, fits)
        repeated = repeated.reshape(len(fits), *guesses.shape)
        plane = {"attribute": [1, 2], "space": ["x", "z"], "x1": x1, "x2": x2}
        rates = {"rate": ["false positive", "sensitivity"], "called": len(test) + 1}
        machines = {"gamma": self.gammas, "rule": svm.RULES, "repetition": self.repetitions}
        return outcome(
            {"point": len(X), "new": len(test), **plane, **rates, **machines},
            inputs=("point attribute", X),
            label=("point", t),
            squared_distance=("point", z),
            separable=("space", [svm.separable(inputs, t) for inputs in (X, z[:, None])]),
            alpha=("gamma point", [fit.alpha[0] for fit in fits]),
            support=("gamma point", [fit.support[0] for fit in fits]),
            bias=("rule gamma", bias),
            new_label=("new", test[:, 2]),
            score=("gamma new", score),
            accuracy=("gamma", ((score + free > 0) == true).mean(1)),
            region=("gamma x2 x1", region),
            boundary_length=("gamma", [_edges(each) for each in region]),
            roc=("gamma rate called", roc.roc_curves(list(score), true)),
            machine_auc=("gamma", roc.auc(score, true)),
            guessing_auc=("repetition", roc.auc(guesses, true)),
            repeated_auc=("gamma repetition", roc.auc(repeated, new[..., 2] > 0)),
        )

    def _scores(self, Z: Floats, X: Floats, t: Floats, fits: Sequence[svm.Svm]) -> Floats:
        """Weighted sums of kernels at new points (M, 2 or more), shape (G, M)."""
        pairs = zip(self.gammas, fits, strict=True)
        return np.stack([gaussian(Z[:, :2], X, g) @ (fit.alpha[0] * t) for g, fit in pairs])


def _edges(region: Bools) -> int:
    """The number of neighbouring places with different decisions."""
    return int(np.count_nonzero(np.diff(region, axis=0)) + np.count_nonzero(np.diff(region)))
