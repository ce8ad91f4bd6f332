"""Where K nearest neighbours draw the line between two clouds of points (FCML 5.3.1.1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from scipy.ndimage import label

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from experiments.drawing.classes import mesh, regions, scatter
from models.classification.knn import majority, squared_distances, votes
from models.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class TwoClouds:
    """Knobs of two round Gaussian clouds in the plane, classes 0 and 1. A base."""

    centres: list[list[float]] = knob([[0.0, 0.0], [3.0, 3.0]], "centres of classes 0 and 1")
    sizes: list[int] = knob([50, 20], "points in classes 0 and 1", at_least=1, at_most=10_000)

    def problems(self) -> "Iterator[str]":
        if len(self.centres) != 2 or any(len(centre) != 2 for centre in self.centres):
            yield f"study.centres={self.centres}; allowed: two places in the plane"
        elif len(self.sizes) != 2:
            yield f"study.sizes={self.sizes}; allowed: two numbers"
        else:
            yield from self.rules()

    def rules(self) -> "Iterator[str]":
        """What a study asks of clouds that make sense: a line for each rule broken."""
        yield from ()

    def clouds(self, repetitions: int, rng: Generator) -> tuple[Floats, Ints]:
        """Points of unit variance (R, N, 2), and their classes (N,)."""
        t = np.repeat([0, 1], self.sizes)
        return np.array(self.centres)[t] + rng.standard_normal((repetitions, len(t), 2)), t


@dataclass
class KnnBoundary(TwoClouds, Study):
    """Decision regions of K nearest neighbours: islands, and imbalanced classes (FCML 5.3.1.1)."""

    flipped: int = knob(0, "points that get the wrong label", at_least=0)
    ks: list[int] = knob([5, 39], "neighbours that vote, ascending", at_least=1, distinct=True)
    low: list[float] = knob([-3.0, -3.0], "least coordinates of the map")
    high: list[float] = knob([6.0, 6.0], "largest coordinates of the map")
    step: float = knob(0.2, "distance of the map's grid points", at_least=0.05, at_most=1)
    repetitions: int = knob(60, "sets of points; the first is drawn", at_least=1, at_most=1000)

    def rules(self) -> "Iterator[str]":
        if max(self.ks) > sum(self.sizes) or self.flipped > sum(self.sizes):
            yield f"study.ks={self.ks}, flipped={self.flipped}: there are {sum(self.sizes)} points"
        if self.ks != sorted(self.ks):
            yield f"study.ks={self.ks}; allowed: ascending"
        if len(self.low) != 2 or len(self.high) != 2:
            yield "study.low and study.high need two numbers each"

    def run(self, rng: Generator) -> Outcome:
        X, t = self.clouds(self.repetitions, rng)
        wrong = rng.permuted(np.broadcast_to(np.arange(len(t)), X.shape[:2]), axis=1)
        x, y, grid = mesh(self.low, self.high, self.step)
        labels = np.broadcast_to(t, X.shape[:2]).copy()
        np.put_along_axis(labels, wrong[:, : self.flipped], 1 - t[wrong[:, : self.flipped]], axis=1)
        tally = np.stack(
            [
                votes(squared_distances(grid.reshape(-1, 2), points), of, self.ks, 2)[..., 1]
                for points, of in zip(X, labels, strict=True)
            ]
        )  # (R, K, grid) votes for class 1
        k = np.array(self.ks)[:, None]
        ones = majority(np.stack([k - tally, tally], axis=-1)) == 1
        area = ones.mean(-1)  # (R, K)
        maps = ones.reshape(*ones.shape[:2], len(y), len(x))
        found = np.array([[islands(region) for region in each] for each in maps])
        metrics: dict[str, Any] = {
            "smallest_k_without_class_1": smallest_k_without(*self.sizes),
            "mean_area_falls_with_k": bool((np.diff(area.mean(0)) < 0).all()),
            "share_area_falls": float((area[:, -1] < area[:, 0]).mean()),
        }
        arrays: dict[str, Any] = {"X": X[0], "t": labels[0], "x": x, "y": y, "map": maps[0]}
        for i, each in enumerate(self.ks):
            needed = int(tally[:, i][ones[:, i]].min()) if ones[:, i].any() else 0
            metrics[f"area_k_{each}"] = float(area[:, i].mean())
            metrics[f"least_votes_that_won_k_{each}"] = needed
            metrics[f"most_votes_for_1_k_{each}"] = int(tally[:, i].max())
            metrics[f"class_1_never_predicted_k_{each}"] = not bool(ones[:, i].any())
            metrics[f"ties_k_{each}"] = bool((2 * tally[:, i] == each).any())
            metrics[f"mean_islands_k_{each}"] = float(found[:, i].mean())
            arrays[f"islands_k_{each}"] = found[:, i]
        return Outcome(metrics, arrays=arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid

        a = outcome.arrays
        columns = min(len(self.ks), 2)
        rows = -(-len(self.ks) // columns)
        figure, axes = grid(rows, columns, 0.85, sharex=True, sharey=True)
        for i, ax in enumerate(axes.ravel()[: len(self.ks)]):
            scatter(ax, a["X"], a["t"], ["class 0", "class 1"])
            regions(ax, a["x"], a["y"], a["map"][i])
            ax.set_title(f"K = {self.ks[i]}")
        handles, names = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2)
        return {"boundary": figure}


def islands(region: Bools) -> int:
    """Regions of either class beyond the first of each; points that touch by a corner are one."""
    touching = np.ones((3, 3))
    counts = [label(part, touching)[1] for part in (region, ~region)]
    return int(sum(max(count - 1, 0) for count in counts))


def smallest_k_without(others: int, members: int) -> int:
    """The least K from which on no vote can go, or be tied, in favour of a class with `members`."""
    total = others + members
    possible = [
        any(2 * votes >= k for votes in range(max(0, k - others), min(k, members) + 1))
        for k in range(1, total + 1)
    ]
    return max(k for k, can in enumerate(possible, start=1) if can) + 1
