"""K-means from one start, hand-picked or random, step by step (PRML 9.1, FCML 6.2)."""

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.clustering.cluster_data import Clusters, place_problems
from models.clustering.kmeans import assign, kmeans, random_in_box
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass
class KmeansPath(Clusters, Study):
    """The distortion J after every half step, from one start and from many near it (PRML 9.1)."""

    start: list[list[float]] = knob(
        [[-1.5, 1.0], [1.5, -1.0]], "the centres to begin with; empty if random", may_be_empty=True
    )
    k: int = knob(0, "clusters of random starts; 0 if `start` is given", at_least=0, at_most=8)
    box: list[float] = knob([-5.0, 5.0], "random centres are uniform between these, per variable")
    jitter: float = knob(0.5, "how well the start is known: sd of its coordinates", at_least=0)
    repetitions: int = knob(400, "further starts, drawn about `start`", at_least=1, at_most=100_000)
    panels: int = knob(9, "half steps to draw, the start among them", at_least=0, at_most=16)

    def rules(self) -> "Iterator[str]":
        if bool(self.start) == bool(self.k):
            given = f"study.start={self.start}, study.k={self.k}"
            yield f"{given}: the start is empty or there are two; allowed: exactly one"
        if len(self.box) != 2 or self.box[0] >= self.box[1]:
            yield f"study.box={self.box}; allowed: two numbers, low < high"
        yield from place_problems("start", self.start, self.size[1])
        if self.panels and self.size[1] != 2:
            yield f"study.panels={self.panels}: the data have {self.size[1]} variables; allowed: 2"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        if self.start:
            start = np.array(self.start)
            moved = self.jitter * rng.standard_normal((self.repetitions, *start.shape))
            near = kmeans(X, start + moved)
        else:  # shown is the first that finds the smallest distortion
            low, high = (np.full(X.shape[1], end) for end in self.box)
            starts = random_in_box(low, high, self.k, rng, self.repetitions)
            near = kmeans(X, starts)
            start = starts[int(np.argmax(near.final < near.final.min() * (1 + 1e-9)))]
        fit = kmeans(X, start[None], snapshots=range(300))
        T = int(fit.iterations[0])
        centres = np.stack([fit.snapshots[t][0] for t in range(T + 1)])  # before E1, after M1, ...
        labels = assign(X, centres[:T])  # the T E steps as a batch
        J = fit.distortion[0]
        sizes = np.sort(np.bincount(fit.labels[0], minlength=len(start)))
        lost = np.array([len(np.unique(found)) < len(start) for found in near.labels])
        still = np.abs(centres[T] - centres[T - 1]).max() < 1e-12
        metrics: dict[str, Scalar] = {
            "cycles": T,
            "m_steps_to_converge": T - 1,
            "final_distortion": float(J[-1]),
            "smallest_cluster": int(sizes[0]),
            "largest_cluster": int(sizes[-1]),
            "distortion_never_rises": never_rises(J) and never_rises(near.distortion),
            "last_cycle_changes_nothing": bool(still and J[-1] == J[-2]),
            "assignment_is_by_bisector": by_bisector(X, centres[:T], labels),
            "always_converges": bool(fit.converged.all() and near.converged.all()),
            "share_empty": float(lost.mean()),  # a start so far off that a centre gets no point
            "same_minimum_unless_empty": bool(np.allclose(near.final[~lost], J[-1], rtol=1e-9)),
        }
        half_steps = list(range(1, len(J) + 1))
        names = [f"{'EM'[(i + 1) % 2]}{(i + 1) // 2}" for i in half_steps]
        return Outcome(
            metrics,
            series={"distortion": Series(half_steps, J.tolist())},
            tables={"steps": {"step": names, "distortion": J.tolist()}},
            arrays={
                "X": X,
                "centres": centres,
                "labels": labels,
                "cycles": near.iterations,
                "m_steps_to_converge": near.iterations - 1,
                "distortion_near": near.distortion,
            },
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        figures = {"steps": self._draw_steps(outcome)} if self.panels else {}
        return figures | {"cost": _draw_cost(outcome), "starts": _draw_starts(outcome)}

    def _draw_steps(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.clusters import grid, spare

        X, centres, labels = (outcome.arrays[name] for name in ("X", "centres", "labels"))
        shown = min(self.panels, 1 + 2 * len(labels))
        columns = min(3, shown)
        rows = -(-shown // columns)
        figure, axes = grid(rows, columns, sharex=True, sharey=True)
        cells = axes.ravel()
        for step, ax in enumerate(cells[:shown]):
            # Step 2t - 1 is the t-th E step, step 2t the t-th M step.
            e, m = (step + 1) // 2, step // 2
            members = None if step == 0 else labels[e - 1]
            _panel(ax, X, centres[m], members, bisector=step % 2 == 1)
            kind = "E" if step % 2 else "M"
            ax.set_title(
                f"({'abcdefghijklmnop'[step]}) " + (f"{kind} step {e}" if step else "start")
            )
        spare(cells[shown:])
        figure.supxlabel(self.labels()[0])
        figure.supylabel(self.labels()[1])
        return figure


def never_rises(J: Floats) -> bool:
    """Whether the last axis never rises, but for rounding; NaN is after the end."""
    return not bool((np.diff(J) > 1e-12 * np.nanmax(J)).any())


def by_bisector(X: Floats, centres: Floats, labels: Ints) -> bool:
    """Whether every point lies on its own centre's side of each bisector; centres (T, K, D)."""
    for j, k in combinations(range(centres.shape[1]), 2):
        a, b = centres[:, j], centres[:, k]
        side = X @ (a - b).T - ((a + b) * (a - b)).sum(axis=1) / 2  # (N, T), > 0 on the side of a
        own = labels.T
        if (side[own == j] < 0).any() or (side[own == k] > 0).any():
            return False
    return True


def _panel(ax: "Axes", X: Floats, centres: Floats, labels: Ints | None, bisector: bool) -> None:
    from experiments.drawing.clusters import SYMBOLS

    if labels is None:
        ax.plot(*X.T, "o", color="0.6", markersize=2.2)
    for k, centre in enumerate(centres):
        if labels is not None:
            ax.plot(*X[labels == k].T, SYMBOLS[k % 8], color=f"C{k}", markersize=2.2)
        ax.plot(*centre, "X", color=f"C{k}", markersize=9, markeredgecolor="black")
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    if bisector and len(centres) == 2:
        middle, across = centres.mean(axis=0), centres[1] - centres[0]
        along = np.array([-across[1], across[0]]) * 10
        ax.plot(*np.stack([middle - along, middle + along]).T, color="C3")
    ends = np.stack([low, high, *(centres - 0.3), *(centres + 0.3)])
    ax.set(xlim=(ends[:, 0].min(), ends[:, 0].max()), ylim=(ends[:, 1].min(), ends[:, 1].max()))


def _draw_cost(outcome: Outcome) -> "Figure":
    from experiments.drawing.canvas import panels

    steps, J = outcome.series["distortion"]
    figure, ax = panels()
    ax.plot(steps, J, color="0.6", zorder=1)
    ax.plot(steps[::2], J[::2], "o", color="C0", markersize=7, label="after an E step")
    ax.plot(steps[1::2], J[1::2], "s", color="C1", markersize=7, label="after an M step")
    ax.set(xlabel="Half step", ylabel="Distortion J", ylim=(0, None))
    ax.set_xticks(steps, outcome.tables["steps"]["step"])
    ax.legend()
    return figure


def _draw_starts(outcome: Outcome) -> "Figure":
    from experiments.drawing.canvas import panels

    counts = np.bincount(outcome.arrays["m_steps_to_converge"])
    figure, ax = panels()
    ax.bar(range(len(counts)), counts / counts.sum(), color="C0")
    chosen = outcome.metrics["m_steps_to_converge"]
    ax.plot(chosen, 0, "D", color="C1", clip_on=False, label="the start that is drawn")
    ax.set(
        xlabel="M steps until nothing changes",
        ylabel="Share of the starts",
        xticks=range(len(counts)),
    )
    ax.legend()
    return figure
