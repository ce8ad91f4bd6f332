"""Linear support vector machines: the widest margin, a stray point, soft margins (FCML 5.3.2)."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.errors import BadInput
from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from experiments.drawing.classes import ringed, scatter
from models.classification import svm
from models.classification.kernels import linear
from models.types import Bools, Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass
class SvmMargin(Study):
    """Margins of linear support vector machines over many sets of points (FCML 5.3.2.2-5.3.2.5)."""

    centres: list[list[float]] = knob([[0.0, 0.0], [4.0, 4.0]], "centres of the classes -1 and +1")
    n_each: int = knob(20, "points in each class", at_least=2, at_most=200)
    stray: list[float] = knob(
        [],
        "where the leading support vector of class +1 is moved to; empty: nowhere",
        may_be_empty=True,
    )
    costs: list[float] = knob([], "C of soft margins, descending", above=0, may_be_empty=True)
    primal: bool = knob(False, "solve the primal problem of the first set too, for every C")
    repetitions: int = knob(200, "sets of points; the first is drawn", at_least=1, at_most=1000)

    def problems(self) -> "Iterator[str]":
        if len(self.centres) != 2 or any(len(centre) != 2 for centre in self.centres):
            yield f"study.centres={self.centres}; allowed: two places in the plane"
        if len(self.stray) not in (0, 2):
            yield f"study.stray={self.stray}; allowed: a place in the plane, or []"
        if self.costs != sorted(self.costs, reverse=True):
            yield f"study.costs={self.costs}; allowed: descending"
        if self.primal and not self.costs:
            yield "study.primal needs study.costs"

    def run(self, rng: Generator) -> Outcome:
        labels = np.repeat([-1.0, 1.0], self.n_each)
        centres = np.repeat(np.array(self.centres), self.n_each, axis=0)
        X = centres + rng.standard_normal((self.repetitions, *centres.shape))
        X = X[[svm.separable(points, labels) for points in X]]
        if not len(X):
            raise BadInput(
                "no set of points could be separated by a line: move study.centres apart"
            )
        t = np.broadcast_to(labels, X.shape[:2])
        before = X, svm.solve(linear(X, X), t)
        moved = (before[1].alpha * (labels > 0)).argmax(1)
        if self.stray:
            X = X.copy()
            X[np.arange(len(X)), moved] = self.stray
            keep = np.array([svm.separable(points, labels) for points in X])
            if not keep.any():
                raise BadInput(f"study.stray={self.stray} leaves no set that a line separates")
            X, t, moved = X[keep], t[keep], moved[keep]
            before = before[0][keep], _part(before[1], keep)
        hard = svm.solve(linear(X, X), t) if self.stray else before[1]
        w = svm.weights(hard, X, t)
        norm = np.linalg.norm(w, axis=1)
        output = hard.output + hard.bias[:, None]
        nearest = (t * output).min(1) / norm
        metrics: dict[str, Any] = {
            "separable_sets": len(X),
            "mean_support_vectors": float(hard.support.sum(1).mean()),
            "margin_is_one_over_norm": bool(np.allclose(nearest, 1 / norm, rtol=1e-6)),
            "support_vectors_are_the_nearest": bool(
                np.abs((t * output)[hard.support] - 1).max() < 1e-6
            ),
            "others_can_be_discarded": self._refit(X, t, hard),
            "largest_gap": float(hard.gap.max()),
        }
        arrays: dict[str, Any] = {
            "support_vectors": hard.support.sum(1),
            "X": X[0],
            "t": labels,
            "line_hard": [*w[0], hard.bias[0]],
            "support_hard": hard.support[0],
        }
        if self.stray:
            old = svm.weights(before[1], before[0], t)
            arrays["before"] = [*old[0], before[1].bias[0]]
            arrays["stray_alpha"] = hard.alpha[np.arange(len(X)), moved]
            turned = (w * old).sum(1) / (norm * np.linalg.norm(old, axis=1))
            metrics["median_turn_degrees"] = float(
                np.median(np.degrees(np.arccos(turned.clip(-1, 1))))
            )
            metrics["median_margin_kept"] = float(np.median(np.linalg.norm(old, axis=1) / norm))
            metrics["median_stray_alpha"] = float(np.median(arrays["stray_alpha"]))
        fits = {C: svm.solve(linear(X, X), t, C) for C in self.costs}
        counts = [hard.support.sum(1)] + [fit.support.sum(1) for fit in fits.values()]
        growing = [(b >= a).mean() for a, b in pairwise(counts)]
        metrics["share_more_support_vectors_as_c_falls"] = float(min(growing, default=1.0))
        for C, fit in fits.items():
            metrics |= self._soft(C, fit, hard, X, t, moved)
            arrays[f"line_{C:g}"] = [*svm.weights(fit, X, t)[0], fit.bias[0]]
            arrays[f"support_{C:g}"] = fit.support[0]
        return Outcome(metrics, arrays=arrays)

    def _refit(self, X: Floats, t: Floats, fit: svm.Svm) -> bool:
        """Whether the support vectors alone give the same line, in the first sets of points."""
        for r in range(min(len(X), 20)):
            kept = fit.support[r]
            points, labels = X[r, kept][None], t[r, kept][None]
            again = svm.solve(linear(points, points), labels)
            line = [*svm.weights(again, points, labels)[0], again.bias[0]]
            same = [*svm.weights(fit, X, t)[r], fit.bias[r]]
            if not np.allclose(line, same, rtol=1e-5, atol=1e-6):
                return False
        return True

    def _soft(
        self, C: float, fit: svm.Svm, hard: svm.Svm, X: Floats, t: Floats, moved: Any
    ) -> dict[str, Any]:
        """What a soft margin changes, against the hard one."""
        w, w_hard = svm.weights(fit, X, t), svm.weights(hard, X, t)
        centre = np.array(self.centres[1])
        room = (w @ centre + fit.bias) / np.linalg.norm(w, axis=1)
        room_hard = (w_hard @ centre + hard.bias) / np.linalg.norm(w_hard, axis=1)
        bounded = hard.alpha[np.arange(len(X)), moved] > C  # else C changes nothing
        back = (room < room_hard)[bounded]
        printed = svm.bias(fit, t, svm.HIGHEST)
        slack = np.maximum(0, 1 - t * (fit.output + fit.bias[:, None]))
        primal = (w**2).sum(1) / 2 + C * slack.sum(1)
        dual = svm.dual_objective(fit, t)
        metrics = {
            f"mean_support_vectors_c_{C:g}": float(fit.support.sum(1).mean()),
            f"share_moved_back_c_{C:g}": float(back.mean()) if len(back) else 1.0,
            f"sets_with_bounded_stray_c_{C:g}": int(bounded.sum()),
            f"highest_output_rule_is_right_c_{C:g}": bool(np.abs(printed - fit.bias).max() < 1e-6),
            f"share_highest_output_rule_right_c_{C:g}": float(
                (np.abs(printed - fit.bias) < 1e-6).mean()
            ),
            f"largest_duality_gap_c_{C:g}": float(np.abs(primal - dual).max()),
            f"duality_gap_is_zero_c_{C:g}": bool(np.abs(primal / dual - 1).max() < 1e-6),
        }
        if self.primal:
            found = svm.solve_primal(X[0], t[0], C)
            metrics[f"primal_objective_c_{C:g}"] = found.objective
            metrics[f"dual_objective_c_{C:g}"] = float(dual[0])
            metrics[f"primal_and_dual_agree_c_{C:g}"] = bool(
                np.isclose(found.objective, dual[0], rtol=1e-6)
                and np.allclose(found.w, w[0], rtol=1e-4, atol=1e-5)
            )
        return metrics

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid

        a = outcome.arrays
        names = ["hard", *(f"{C:g}" for C in self.costs)]
        columns = min(len(names), 3)
        figure, axes = grid(-(-len(names) // columns), columns, 0.95, sharex=True, sharey=True)
        if len(names) == 1:
            figure.set_size_inches(figure.get_figwidth(), 0.8 * figure.get_figwidth())
        for name, ax in zip(names, axes.ravel(), strict=False):
            _panel(ax, a["X"], a["t"], a[f"line_{name}"])
            ringed(ax, a["X"][a[f"support_{name}"]], "support vectors")
            ax.set_title("hard margin" if name == "hard" else f"soft margin, C = {name}")
            if name == "hard" and self.stray:
                _line(
                    ax, a["before"], 0, a["X"], color="0.6", linestyle=":", label="before the move"
                )
            ax.label_outer()
        for ax in axes.ravel()[len(names) :]:
            ax.set_axis_off()
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        return {"margin": figure}


def _part(fit: svm.Svm, keep: Bools) -> svm.Svm:
    """Some of the problems of a batch."""
    return svm.Svm(fit.alpha[keep], fit.output[keep], fit.bias[keep], fit.gap[keep], fit.C)


def _panel(ax: "Axes", X: Floats, t: Floats, line: Floats) -> None:
    scatter(ax, X, t, ["class −1", "class +1"])
    _line(ax, line, 0, X, color="0.15", label="boundary")
    for level in (-1, 1):
        name = "margin" if level < 0 else "_"
        _line(ax, line, level, X, color="0.15", linestyle="--", linewidth=0.9, label=name)
    low, high = X.min(0) - 0.7, X.max(0) + 0.7
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))


def _line(ax: "Axes", line: Floats, level: float, X: Floats, **options: Any) -> None:
    """The line w^T x + b = level across the picture."""
    w, b = line[:2], line[2]
    foot = w * (level - b) / (w @ w)
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    reach = np.abs(X).max() * 4
    ax.plot(*np.stack([foot - reach * along, foot + reach * along]).T, **options)
