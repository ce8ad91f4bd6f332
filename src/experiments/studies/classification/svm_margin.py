"""Linear support vector machines: the widest margin, a stray point, soft margins (FCML 5.3.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.classification._plane import clouds, labelled
from models.classification import svm
from models.classification.kernels import linear
from models.types import Floats

COEFFICIENTS = axis("coefficient", ["w1", "w2", "b"])  # of the line w^T x + b = 0


@dataclass
class SvmMargin(Study):
    """Margins of linear support vector machines over many sets of points (FCML 5.3.2.2-5.3.2.5)."""

    headline = {"mean_support_vectors": "mean(support_vectors['hard'])"}

    centres: list[list[float]] = knob([[0.0, 0.0], [4.0, 4.0]], "centres of the classes -1 and +1")
    n_each: int = knob(20, "points in each class", at_least=2, at_most=200)
    stray: list[float] = knob(
        [],
        "where the leading support vector of class +1 is moved to; empty: nowhere",
        may_be_empty=True,
    )
    costs: list[float] = knob([], "C of soft margins, descending", above=0, may_be_empty=True)
    repetitions: int = knob(200, "sets of points; the first is drawn", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        if len(self.centres) != 2 or any(len(centre) != 2 for centre in self.centres):
            yield f"study.centres={self.centres}; allowed: two places in the plane"
        if len(self.stray) not in (0, 2):
            yield f"study.stray={self.stray}; allowed: a place in the plane, or []"
        if self.costs != sorted(self.costs, reverse=True):
            yield f"study.costs={self.costs}; allowed: descending"

    def run(self, rng: Generator) -> Outcome:
        labels = np.repeat([-1.0, 1.0], self.n_each)
        X = clouds(self.centres, [self.n_each] * 2, self.repetitions, rng)
        X = X[[svm.separable(points, labels) for points in X]]
        if not len(X):
            raise BadInput("a line separates no set of points: move study.centres apart")
        hard = svm.solve(linear(X, X), np.broadcast_to(labels, X.shape[:2]))
        leading = (hard.alpha * (labels > 0)).argmax(1)
        machines = {"hard": (X, hard)}
        if self.stray:
            moved = X.copy()
            moved[np.arange(len(X)), leading] = self.stray
            keep = np.array([svm.separable(points, labels) for points in moved])
            if not keep.any():
                raise BadInput(f"study.stray={self.stray} leaves no set that a line separates")
            machines = {"before": (X[keep], hard.part(keep))}
            X, leading = moved[keep], leading[keep]
        t = np.broadcast_to(labels, X.shape[:2])
        if self.stray:
            machines["hard"] = X, svm.solve(linear(X, X), t)
        soft = {C: svm.solve(linear(X, X), t, C) for C in self.costs}
        machines |= {f"C = {C:g}": (X, fit) for C, fit in soft.items()}
        repetition, machine = axis("repetition", len(X)), axis("machine", list(machines))
        point = axis("point", len(labels))
        lines = [svm.line(fit, points, t) for points, fit in machines.values()]
        measures = [self._measures(points, t, fit) for points, fit in machines.values()]
        hard = machines["hard"][1]
        return Outcome(
            **labelled(X[0], labels),
            line=over([line[0] for line in lines], machine, COEFFICIENTS),
            support=over([fit.support[0] for _, fit in machines.values()], machine, point),
            leading_influence=repetition.of(hard.alpha[np.arange(len(X)), leading]),
            refit_gap=repetition.of(self._refit(X, t, hard)),
            **{
                name: over([each[name] for each in measures], machine, repetition)
                for name in measures[0]
            },
            **self._duality(X, t, soft),
        )

    def _measures(self, X: Floats, t: Floats, fit: svm.Svm) -> dict[str, Floats]:
        """What is asked of a machine, for each set of points."""
        w = svm.weights(fit, X, t)
        norm, margin = np.linalg.norm(w, axis=1), t * (fit.output + fit.bias[:, None])
        return {
            "support_vectors": fit.support.sum(1),
            "weight_norm": norm,
            "nearest_distance": margin.min(1) / norm,
            "distance_of_centre": (w @ np.array(self.centres[1]) + fit.bias) / norm,
            # How far support vectors are off the margin, and b if the highest of them gives it:
            "support_off_margin": np.where(fit.support, np.abs(margin - 1), 0).max(1),
            "highest_output_bias_gap": np.abs(svm.bias(fit, t, svm.HIGHEST) - fit.bias),
        }

    def _refit(self, X: Floats, t: Floats, fit: svm.Svm) -> Floats:
        """How much the line changes, relatively, if only the support vectors are kept."""
        lines, found = svm.line(fit, X, t), []
        for points, labels, kept, line in zip(X, t, fit.support, lines, strict=True):
            points, labels = points[kept][None], labels[kept][None]
            again = svm.line(svm.solve(linear(points, points), labels), points, labels)
            found.append(np.abs(again[0] - line).max() / np.abs(line).max())
        return np.array(found)

    def _duality(self, X: Floats, t: Floats, soft: dict[float, svm.Svm]) -> dict[str, Quantity]:
        """Objectives of soft margins; for the first set, the optimum by another solver."""
        if not soft:
            return {}
        cost, repetition = axis("cost", list(soft)), axis("repetition", len(X))
        primal = [svm.primal_objective(fit, X, t) for fit in soft.values()]
        dual = [svm.dual_objective(fit, t) for fit in soft.values()]
        optima = [svm.solve_primal(X[0], t[0], C) for C in soft]
        return {
            "primal_objective": over(primal, cost, repetition),
            "dual_objective": over(dual, cost, repetition),
            "primal_optimum": cost.of([found.objective for found in optima]),
            "primal_line": over([[*found.w, found.b] for found in optima], cost, COEFFICIENTS),
        }
