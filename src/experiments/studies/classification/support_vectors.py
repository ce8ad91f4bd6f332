"""Support vector machines in the plane: the widest margin, soft margins, kernels (FCML 5.3.2).

A linear machine is trained on many sets of points, one with a Gaussian kernel is tested on points.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.classification._plane import Plane, labelled
from bythebook.models.classification import svm
from bythebook.models.classification.kernels import gaussian, linear
from bythebook.models.datasets import load
from bythebook.models.types import Floats

COEFFICIENTS = axis("coefficient", ["w1", "w2", "b"])  # of the line w^T x + b = 0
SHOWN = ("margin", "data", "boundaries")


@dataclass
class SupportVectors(Plane, Study):
    """Margins, support vectors and decisions of support vector machines (FCML 5.3.2)."""

    headline = {"support_vectors": "mean(count(support, over='point'))"}
    more_quantities = True
    quantities = {
        "support": quantity(
            "whether a point is a support vector",
            "machine repetition point | gamma repetition point",
        ),
        "inputs": quantity("attributes of the data", "point attribute"),
        "label": quantity("class of a point", "point"),
        "squared_distance": quantity("squared distance of a point from the origin", "point"),
        "separable": quantity("whether a line separates the classes", "space"),
        "influence": quantity(
            "Lagrange multiplier of a point", "machine repetition point | gamma repetition point"
        ),
        "bias": quantity(
            "bias of the decision function", "rule machine repetition | rule gamma repetition"
        ),
        "line_before": quantity(
            "line of the machine before a vector is moved", "repetition coefficient"
        ),
        "line": quantity("line of the machine", "machine repetition coefficient"),
        "nearest_distance": quantity(
            "distance of the nearest point from the line", "machine repetition"
        ),
        "distance_of_centre": quantity(
            "distance of the centre from the line", "machine repetition"
        ),
        "widest_margin": quantity("largest margin that a search finds", "repetition"),
        "widest_line": quantity("line with the largest margin", "repetition coefficient"),
        "support_off_margin": quantity(
            "largest distance of a support vector from the margin", "machine repetition"
        ),
        "refit_gap": quantity(
            "change of the machine after a refit to the support vectors", "repetition"
        ),
        "primal_objective": quantity("primal objective of the soft margin", "cost repetition"),
    }

    centres: list[list[float]] = knob([[0.0, 0.0], [4.0, 4.0]], "centres of the classes -1 and +1")
    sizes: list[int] = knob([20, 20], "points in each cloud", at_least=2, at_most=200)
    stray: list[float] = knob(
        [], "new place of the leading support vector of class +1; none: no move", may_be_empty=True
    )
    gammas: list[float] = knob(
        [], "of Gaussian kernels; none: linear", above=0, distinct=True, may_be_empty=True
    )
    costs: list[float] = knob([], "C of soft margins", above=0, may_be_empty=True)
    test: str | None = knob(
        None, "test points of machines with Gaussian kernels", dataset="classes"
    )
    show: list[str] = knob(["margin"], "what to draw", choices=SHOWN, distinct=True)

    def rules(self) -> Iterator[str]:
        if len(self.stray) not in (0, 2):
            yield f"study.stray={self.stray}; allowed: a place in the plane, or []"
        if self.gammas and (len(self.costs) != 1 or self.stray or self.test is None):
            yield "study.gammas needs one of study.costs and study.test, and no study.stray"
        if self.test is not None and load(self.test).matrix.shape[1] != 3:
            yield f"study.test={self.test}; allowed: two attributes and a class"
        if bool(self.gammas) == ("margin" in self.show):
            yield f"study.show={self.show}: a margin is drawn of linear machines, and only that"

    def run(self, rng: Generator) -> Outcome:
        X, labels = self.points(rng)
        t = np.where(labels > 0, 1.0, -1.0)
        if self.gammas:
            machine = axis("gamma", self.gammas)
            grams = [np.stack([gaussian(x, x, gamma) for x in X]) for gamma in self.gammas]
            fits = [svm.solve(K, t, self.costs[0]) for K in grams]
            found = self._decided(X[0], t[0], fits) | self._objectives(grams, t, fits, machine)
        else:
            machine = axis("machine", ["hard", *(f"C = {C:g}" for C in self.costs)])
            X, t, before = self._separated(X, t)
            fits = [svm.solve(linear(X, X), t, C) for C in (np.inf, *self.costs)]
            found = before | self._margins(X, t, fits, machine) | self._duality(X, t, fits[1:])
        repetition, point = axis("repetition", len(X)), axis("point", t.shape[1])
        bias = [[svm.bias(fit, t, rule) for fit in fits] for rule in svm.BIAS_RULES]
        z = (X[0] ** 2).sum(1)
        separable = [svm.separable(inputs, t[0]) for inputs in (X[0], z[:, None])]
        return Outcome(
            **labelled(X[0], t[0]),
            squared_distance=point.of(z),
            separable=axis("space", ["x", "z"]).of(separable),
            influence=over([fit.alpha for fit in fits], machine, repetition, point),
            support=over([fit.support for fit in fits], machine, repetition, point),
            bias=over(bias, axis("rule", svm.BIAS_RULES), machine, repetition),
            **found,
        )

    def _separated(self, X: Floats, t: Floats) -> tuple[Floats, Floats, dict[str, Quantity]]:
        """Separable sets after one point is moved, and the lines before the move."""
        keep = [svm.separable(points, labels) for points, labels in zip(X, t, strict=True)]
        X, t = X[keep], t[keep]
        if not len(X):
            raise InputError("a line separates no set of points: move study.centres apart")
        if not self.stray:
            return X, t, {}
        hard = svm.solve(linear(X, X), t)
        moved = X.copy()
        moved[np.arange(len(X)), (hard.alpha * (t > 0)).argmax(1)] = self.stray
        keep = [svm.separable(points, labels) for points, labels in zip(moved, t, strict=True)]
        if not any(keep):
            raise InputError(f"study.stray={self.stray} leaves no set that a line separates")
        before = svm.line(hard, X, t)[keep]
        lines = over(before, axis("repetition", len(before)), COEFFICIENTS)
        return moved[keep], t[keep], {"line_before": lines}

    def _margins(
        self, X: Floats, t: Floats, fits: list[svm.Svm], machine: Axis
    ) -> dict[str, Quantity]:
        """Quantities of linear machines, for each set of points."""
        repetition = axis("repetition", len(X))
        lines = np.stack([svm.line(fit, X, t) for fit in fits])
        norm = np.linalg.norm(lines[..., :2], axis=-1)
        margin = np.stack([t * (fit.output + fit.bias[:, None]) for fit in fits])
        off = np.where([fit.support for fit in fits], np.abs(margin - 1), 0)
        there = lines[..., :2] @ np.array(self.centres[self.classes.index(1)]) + lines[..., 2]
        widest = np.stack([svm.widest(*each) for each in zip(X, t, strict=True)])
        stationary = [
            [svm.stationarity_gap(*each, sign) for each in zip(widest, X, t, strict=True)]
            for sign in (-1, 1)
        ]
        astray = np.equal(X, self.stray).all(-1) if self.stray else np.zeros_like(t)
        return {
            "line": over(lines, machine, repetition, COEFFICIENTS),
            "nearest_distance": over(margin.min(-1) / norm, machine, repetition),
            "distance_of_centre": over(there / norm, machine, repetition),
            "widest_margin": repetition.of(1 / np.linalg.norm(widest[:, :2], axis=1)),
            "widest_line": over(widest, repetition, COEFFICIENTS),
            "stationarity_gap": over(stationary, axis("sign", ["minus", "plus"]), repetition),
            "support_off_margin": over(off.max(-1), machine, repetition),
            "stray_influence": repetition.of((fits[0].alpha * astray).sum(1)),
            "refit_gap": repetition.of(svm.refit_gap(fits[0], X, t)),
        }

    def _duality(self, X: Floats, t: Floats, soft: list[svm.Svm]) -> dict[str, Quantity]:
        """Objectives of soft margins; for the first set, the optimum by another solver."""
        if not soft:
            return {}
        cost, repetition = axis("cost", self.costs), axis("repetition", len(X))
        optima = [svm.solve_primal(X[0], t[0], C) for C in self.costs]
        primal = [svm.primal_objective(fit, t) for fit in soft]
        dual = [svm.dual_objective(fit, t) for fit in soft]
        return {
            "primal_objective": over(primal, cost, repetition),
            "dual_objective": over(dual, cost, repetition),
            "primal_optimum": cost.of([found.objective for found in optima]),
            "primal_line": over([[*found.w, found.b] for found in optima], cost, COEFFICIENTS),
        }

    def _objectives(
        self, grams: list[Floats], t: Floats, fits: list[svm.Svm], machine: Axis
    ) -> dict[str, Quantity]:
        """The dual objectives printed in FCML 5.3.2.6 and in 5.3.2.5, and the primal one."""
        printed = [svm.dual_as_printed(fit, K)[0] for fit, K in zip(fits, grams, strict=True)]
        dual = [svm.dual_objective(fit, t)[0] for fit in fits]
        return {
            "dual": over([printed, dual], axis("sums", ["one sum", "two sums"]), machine),
            "primal": machine.of([svm.primal_objective(fit, t)[0] for fit in fits]),
        }

    def _decided(self, X: Floats, t: Floats, fits: list[svm.Svm]) -> dict[str, Quantity]:
        """Scores of the test points, without b, and the decisions over the map."""
        x1, x2, grid = self.mesh()
        test = load(str(self.test)).matrix
        score, region = [], []
        for gamma, fit in zip(self.gammas, fits, strict=True):
            influence = fit.alpha[0] * t
            score.append(gaussian(test[:, :2], X, gamma) @ influence)
            b = svm.bias(fit, t[None], svm.MEAN)[0]  # as in the authors' script svmgauss
            output = gaussian(grid.reshape(-1, 2), X, gamma) @ influence + b
            region.append(output.reshape(len(x2), len(x1)) > 0)
        machine, new = axis("gamma", self.gammas), axis("new", len(test))
        return {
            "new_label": new.of(test[:, 2]),
            "score": over(score, machine, new),
            "region": over(region, machine, x2, x1),
        }
