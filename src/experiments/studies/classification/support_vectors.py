"""Linear support vector machines in the plane: hard and soft margins (FCML 5.3.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.classification._plane import Clouds
from bythebook.models.classification import svm
from bythebook.models.classification.kernels import linear
from bythebook.models.types import Bools, Floats


@dataclass
class SupportVectors(Clouds, Study):
    """Margins and support vectors of linear machines, before and after a point is moved."""

    headline = {"support_vectors": "mean(count(support, over='point'))"}
    quantities = {
        "inputs": quantity("attributes of the first set of points", "point attribute"),
        "label": quantity("class of a point", "point"),
        "alpha": quantity(
            "Lagrange multiplier of a point", "machine repetition point", equation="FCML 5.13"
        ),
        "support": quantity("whether a point is a support vector", "machine repetition point"),
        "support_of_class": quantity("support vectors of class +1", "machine repetition"),
        "line": quantity("weights and bias of the boundary", "machine repetition coefficient"),
        "distance_of_centre": quantity(
            "distance of the centre of class +1 from the boundary", "machine repetition"
        ),
        "stray_alpha": quantity("Lagrange multiplier of the moved point", "repetition"),
        "line_before": quantity(
            "weights and bias of the hard margin before the move", "repetition coefficient"
        ),
        "distance_before": quantity(
            "distance of the centre of class +1 from the boundary before the move", "repetition"
        ),
    }
    axes = {
        "point": axis_of("point of the data"),
        "attribute": axis_of("attribute"),
        "machine": axis_of("hard margin, or soft margin with a bound C"),
        "repetition": axis_of("set of points that a line separates"),
        "coefficient": axis_of("coefficient of the boundary"),
    }

    centres: list[list[float]] = knob([[0.0, 0.0], [4.0, 4.0]], "centres of the classes -1 and +1")
    sizes: list[int] = knob([20, 20], "points in each cloud", at_least=2, at_most=200)
    stray: list[float] = knob(
        [], "new place of the leading support vector of class +1; none: no move", may_be_empty=True
    )
    costs: list[float] = knob([], "C of soft margins", above=0, may_be_empty=True)

    def rules(self) -> Iterator[str]:
        if len(self.stray) not in (0, 2):
            yield f"study.stray={self.stray}; allowed: a place in the plane, or []"

    def run(self, rng: Generator) -> Outcome:
        X, labels = self.points(rng)
        t = np.where(labels > 0, 1.0, -1.0)
        keep = _separable(X, t)
        if not keep.any():
            raise InputError("a line separates no set of points: move study.centres apart")
        before, X, t = self._moved(X[keep], t[keep])
        fits = [svm.solve(linear(X, X), t, C) for C in (np.inf, *self.costs)]
        lines = np.stack([svm.line(fit, X, t) for fit in fits])
        support = np.array([fit.support for fit in fits])
        moved = np.equal(X, self.stray).all(-1) if self.stray else np.zeros_like(t)
        return outcome(
            {
                "point": t.shape[1],
                "attribute": [1, 2],
                "machine": ["hard", *(f"C = {C:g}" for C in self.costs)],
                "repetition": len(X),
                "coefficient": ["w1", "w2", "b"],  # of the line w^T x + b = 0
            },
            inputs=("point attribute", X[0]),
            label=("point", t[0]),
            alpha=("machine repetition point", [fit.alpha for fit in fits]),
            support=("machine repetition point", support),
            support_of_class=("machine repetition", (support & (t > 0)).sum(-1)),
            line=("machine repetition coefficient", lines),
            distance_of_centre=("machine repetition", self._distance(lines)),
            stray_alpha=("repetition", (fits[0].alpha * moved).sum(1)),
            line_before=("repetition coefficient", before),
            distance_before=("repetition", self._distance(before)),
        )

    def _moved(self, X: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
        """The lines before the move; the sets that a line still separates, and their classes."""
        hard = svm.solve(linear(X, X), t)
        before = svm.line(hard, X, t)
        if not self.stray:
            return before, X, t
        moved = X.copy()
        moved[np.arange(len(X)), (hard.alpha * (t > 0)).argmax(1)] = self.stray
        keep = _separable(moved, t)
        if not keep.any():
            raise InputError(f"study.stray={self.stray} leaves no set that a line separates")
        return before[keep], moved[keep], t[keep]

    def _distance(self, lines: Floats) -> Floats:
        """Signed distance of the centre of class +1 from lines (..., 3)."""
        w, b = lines[..., :2], lines[..., 2]
        centre = np.array(self.centres[self.classes.index(1)])
        return np.asarray((w @ centre + b) / np.linalg.norm(w, axis=-1))


def _separable(X: Floats, t: Floats) -> Bools:
    return np.array([svm.separable(*each) for each in zip(X, t, strict=True)])
