"""K nearest neighbours with a kernel in place of the inner product (FCML 5.3.2.6)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.drawing.classes import mesh, regions, scatter
from models.classification.kernels import gaussian, linear, polynomial
from models.classification.knn import kernel_distances, majority, squared_distances, votes
from models.datasets import load
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class KernelKnn(Study):
    """Nearest neighbours by the distance k(x,x) - 2 k(x,y) + k(y,y) (FCML 5.3.2.6)."""

    data: str = knob("fcml-disc-train", "two attributes and t = -1 or +1", dataset=True)
    k: int = knob(3, "neighbours that vote", at_least=1)
    gamma: float = knob(1.0, "width parameter of the Gaussian kernel", above=0, at_most=10)
    degree: float = knob(2.0, "exponent of the polynomial kernel", at_least=1, at_most=10)
    step: float = knob(0.1, "distance of the map's grid points", at_least=0.02, at_most=1)

    def problems(self) -> "Iterator[str]":
        table = load(self.data).matrix
        if table.shape[1] != 3 or self.k > len(table):
            yield f"study.data={self.data}: allowed: two attributes and a label, {self.k} points"

    def run(self, rng: Generator) -> Outcome:
        table = load(self.data).matrix
        X, t = table[:, :2], (table[:, 2] > 0).astype(np.int64)
        x, y, grid = mesh([-3.0, -3.0], [3.0, 3.0], self.step)
        new = grid.reshape(-1, 2)
        kernels: dict[str, Callable[[Floats, Floats], Floats]] = {
            "linear": linear,
            "gaussian": lambda a, b: gaussian(a, b, self.gamma),
            "polynomial": lambda a, b: polynomial(a, b, self.degree),
        }
        plain = squared_distances(new, X)
        decision = majority(votes(plain, t, [self.k], 2))[0]
        maps: dict[str, Ints] = {"euclidean": decision}
        metrics: dict[str, Scalar] = {}
        for name, kernel in kernels.items():
            # A point's kernel with itself, one at a time: no need for all pairs.
            own = np.array([kernel(point[None], point[None])[0, 0] for point in new])
            own_t = np.diag(kernel(X, X))
            distance = kernel_distances(kernel(new, X), own, own_t)
            maps[name] = majority(votes(distance, t, [self.k], 2))[0]
            metrics[f"share_changed_{name}"] = float((maps[name] != decision).mean())
            metrics[f"{name}_agrees_with_euclidean"] = bool((maps[name] == decision).all())
            if name == "linear":
                error = np.abs(distance - plain).max()
                metrics["linear_distance_is_euclidean"] = bool(error < 1e-12 * plain.max())
        shape = (len(y), len(x))
        arrays = {f"map_{name}": found.reshape(shape) for name, found in maps.items()}
        return Outcome(metrics, arrays={"X": X, "t": t, "x": x, "y": y} | arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid

        a = outcome.arrays
        names = ("euclidean", "linear", "gaussian", "polynomial")
        figure, axes = grid(2, 2, 0.8, sharex=True, sharey=True)
        for name, ax in zip(names, axes.ravel(), strict=True):
            scatter(ax, a["X"], a["t"], ["outside", "inside"])
            regions(ax, a["x"], a["y"], a[f"map_{name}"])
            ax.set_title("no kernel" if name == "euclidean" else f"{name} kernel")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
        return {"boundary": figure}
