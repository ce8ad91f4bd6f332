"""Support vector machines with Gaussian kernels, and their ROC curves (FCML 5.3.2.6, 5.4.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from experiments.drawing.classes import mesh, regions, ringed, scatter
from models.classification import svm
from models.classification.kernels import gaussian
from models.classification.roc import auc, roc_curve
from models.datasets import load
from models.standins import inside_and_outside, unit_disc
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_SHOWN = ("data", "boundaries", "roc")


@dataclass
class SvmKernel(Study):
    """Gaussian-kernel machines for a disc: too simple, right, too complex (FCML 5.3.2.6)."""

    data: str = knob("fcml-disc-train", "two attributes and t = -1 or +1", dataset=True)
    test: str = knob("fcml-disc-test", "test points, in the same form", dataset=True)
    gammas: list[float] = knob([0.01, 1.0, 50.0], "kernel parameters", above=0, distinct=True)
    cost: float = knob(10.0, "the bound C of the soft margin", above=0)
    bias: str = knob("mean", "how b is found for the decisions", choices=svm.BIAS_RULES)
    repetitions: int = knob(
        100,
        "further training and test sets by the rule of the files; 0: none",
        at_least=0,
        at_most=1000,
    )
    show: list[str] = knob(["boundaries"], "what to draw", choices=_SHOWN, distinct=True)

    def problems(self) -> "Iterator[str]":
        for name in (self.data, self.test):
            if load(name).matrix.shape[1] != 3:
                yield f"study.data={name}: allowed: two attributes and a label"

    def run(self, rng: Generator) -> Outcome:
        train, test = load(self.data).matrix, load(self.test).matrix
        X, t = train[:, :2], train[:, 2]
        Z, true = test[:, :2], test[:, 2] > 0
        squared, inside = (X**2).sum(1), t > 0
        x, y, grid = mesh([-3.0, -3.0], [3.0, 3.0], 0.05)
        metrics: dict[str, Any] = {
            "n_training": len(t),
            "n_test": len(true),
            "share_of_squares": float(true.mean()),
            "classes_separate_by_distance": bool(squared[inside].max() < squared[~inside].min()),
            "no_line_separates_the_classes": not svm.separable(X, t),
            "a_line_separates_in_z": svm.separable(squared[:, None], t),
        }
        arrays: dict[str, Any] = {"X": X, "t": t, "x": x, "y": y}
        for gamma in self.gammas:
            g = f"gamma_{gamma:g}"
            fit = svm.solve(gaussian(X, X, gamma)[None], t[None], self.cost)
            influence = fit.alpha[0] * t
            score = gaussian(Z, X, gamma) @ influence
            metrics[f"support_vectors_{g}"] = int(fit.support.sum())
            metrics[f"largest_alpha_{g}"] = float(fit.alpha.max())
            metrics[f"no_alpha_at_bound_{g}"] = bool(fit.alpha.max() < self.cost)
            metrics[f"auc_{g}"] = float(auc(score, true))
            for rule in svm.BIAS_RULES:
                b = float(svm.bias(fit, t[None], rule)[0])
                metrics[f"share_called_square_{rule}_{g}"] = float((score + b > 0).mean())
                if rule == self.bias:
                    called = score + b > 0
                    metrics[f"excess_called_square_{g}"] = float(called.mean() - true.mean())
                    metrics[f"accuracy_{g}"] = float((called == true).mean())
                    on_grid = gaussian(grid.reshape(-1, 2), X, gamma) @ influence + b
                    arrays[f"map_{g}"] = on_grid.reshape(len(y), len(x)) > 0
            arrays[f"support_{g}"] = fit.support[0]
            arrays[f"false_positive_{g}"], arrays[f"sensitivity_{g}"] = roc_curve(score, true)
        order = sorted(self.gammas, key=lambda gamma: metrics[f"auc_gamma_{gamma:g}"])
        metrics["best_gamma"] = order[-1]
        metrics["worst_gamma"] = order[0]
        sparsest = min(self.gammas, key=lambda gamma: metrics[f"support_vectors_gamma_{gamma:g}"])
        metrics["sparsest_gamma"] = sparsest
        others = [metrics[f"support_vectors_gamma_{g:g}"] for g in self.gammas if g != sparsest]
        least = metrics[f"support_vectors_gamma_{sparsest:g}"]
        metrics["support_vectors_times_sparsest"] = min(others, default=least) / least
        metrics["auc_perfect"] = float(auc(true.astype(float), true))
        guesses = rng.random((200, len(true)))
        metrics["mean_auc_guessing"] = float(
            auc(guesses, np.broadcast_to(true, guesses.shape)).mean()
        )
        if self.repetitions:
            arrays |= self._repeat(int(inside.sum()), int((~inside).sum()), len(true), rng)
        return Outcome(metrics, arrays=arrays)

    def _repeat(self, inside: int, outside: int, n_test: int, rng: Generator) -> dict[str, Floats]:
        """AUC on training and test sets drawn by the rule that the authors' files follow."""
        R = self.repetitions
        train = np.stack([inside_and_outside(rng, inside, outside) for _ in range(R)])
        test = np.stack([unit_disc(rng, n_test) for _ in range(R)])
        X, t, Z = train[..., :2], train[..., 2], test[..., :2]
        found = {}
        for gamma in self.gammas:
            K = np.stack([gaussian(points, points, gamma) for points in X])
            fit = svm.solve(K, t, self.cost, tol=1e-6)
            scores = [
                gaussian(new, points, gamma) @ influence
                for new, points, influence in zip(Z, X, fit.alpha * t, strict=True)
            ]
            found[f"auc_gamma_{gamma:g}"] = auc(np.stack(scores), test[..., 2] > 0)
            found[f"support_vectors_gamma_{gamma:g}"] = fit.support.sum(1).astype(float)
        return found

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        draws = {"data": _draw_data, "boundaries": self._boundaries, "roc": self._roc}
        return {name: draws[name](outcome) for name in self.show}

    def _boundaries(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.clusters import grid

        a = outcome.arrays
        figure, axes = grid(1, len(self.gammas), 1.0, sharey=True)
        for gamma, ax in zip(self.gammas, axes[0], strict=True):
            scatter(ax, a["X"], a["t"], ["circles (−1)", "squares (+1)"])
            regions(ax, a["x"], a["y"], a[f"map_gamma_{gamma:g}"])
            ringed(ax, a["X"][a[f"support_gamma_{gamma:g}"]], "support vectors")
            ax.set_title(rf"$\gamma$ = {gamma:g}")
        handles, names = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3)
        return figure

    def _roc(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        a = outcome.arrays
        figure, ax = panels()
        for k, gamma in enumerate(self.gammas):
            g = f"gamma_{gamma:g}"
            name = rf"$\gamma$ = {gamma:g}, area {outcome.metrics[f'auc_{g}']:.4f}"
            style = ("-", "--", "-.", ":")[k % 4]
            ax.plot(a[f"false_positive_{g}"], a[f"sensitivity_{g}"], style, label=name)
        ax.plot([0, 1], [0, 1], ":", color="0.6", label="guessing, area 0.5")
        ax.set(xlabel="False positive rate, 1 − specificity", ylabel="Sensitivity")
        ax.legend(loc="lower right")
        return figure


def _draw_data(outcome: Outcome) -> "Figure":
    from experiments.drawing.canvas import panels

    a = outcome.arrays
    figure, axes = panels(1, 2)
    scatter(axes[0], a["X"], a["t"], ["circles (−1)", "squares (+1)"])
    for k, label in enumerate((-1, 1)):
        z = (a["X"][a["t"] == label] ** 2).sum(1)
        axes[1].plot(z, np.full(len(z), label), "o^"[k], color=f"C{k}", markersize=5, alpha=0.7)
    axes[1].set(xlabel="$z = x_1^2 + x_2^2$", ylabel="Class t", yticks=[-1, 1], ylim=(-2, 2))
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2)
    return figure
