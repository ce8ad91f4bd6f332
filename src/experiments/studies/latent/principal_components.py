"""Principal components of clusters hidden in noise (FCML 7.1-7.2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.clustering.cluster_data import place_problems
from models.classification.knn import fold_errors
from models.latent.pca import pca
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SQUARE = [[0.0, 0.0], [5.0, 5.0], [5.0, 0.0], [0.0, 5.0]]


@dataclass
class HiddenClusters:
    """Knobs of the data: round clusters in the first variables, noise in the others. A base."""

    centres: list[list[float]] = knob(SQUARE, "centres of the clusters in the first variables")
    n_each: int = knob(20, "objects in a cluster", at_least=2, at_most=10_000)
    noise_dimensions: int = knob(5, "further variables, standard normal", at_least=0, at_most=1000)
    repetitions: int = knob(200, "data sets", at_least=1, at_most=10_000)

    def problems(self) -> "Iterator[str]":
        found = list(place_problems("centres", self.centres, len(self.centres[0])))
        yield from found or self.rules()

    def rules(self) -> "Iterator[str]":
        """What a study asks of the other knobs."""
        yield from ()

    @property
    def labels(self) -> Ints:
        """The cluster of each object, shape (N,)."""
        return np.repeat(np.arange(len(self.centres)), self.n_each)

    def objects(self, rng: Generator) -> Floats:
        """Data sets, shape (repetitions, N, M)."""
        M = len(self.centres[0])
        shape = (self.repetitions, len(self.labels), M + self.noise_dimensions)
        Y = rng.standard_normal(shape)
        Y[..., :M] += np.array(self.centres)[self.labels]
        return Y


@dataclass
class PrincipalClusters(HiddenClusters, Study):
    """The eigenvalues of the covariance, and the clusters in the first two projections."""

    large: int = knob(2, "eigenvalues that should stand out", at_least=1)

    def rules(self) -> "Iterator[str]":
        M = len(self.centres[0]) + self.noise_dimensions
        if self.large >= M:
            yield f"study.large={self.large}; there are {M} variables; allowed: fewer"

    def run(self, rng: Generator) -> Outcome:
        Y, d = self.objects(rng), self.large
        found = pca(Y)
        values = found.eigenvalues  # (R, M)
        ratio = values[:, d - 1] / values[:, d]
        shuffled = pca(Y[..., rng.permutation(Y.shape[-1])]).eigenvalues
        share = _between_share(found.X, self.labels)  # (R, M)
        error = fold_errors(
            found.X[0, :, :d], self.labels, [1], np.arange(Y.shape[1])[None], len(self.centres)
        )
        metrics: dict[str, Scalar] = {
            "smallest_gap_ratio": float(ratio.min()),
            "mean_gap_ratio": float(ratio.mean()),
            "large_ones_stand_out": bool((ratio > 2).all()),
            "structure_in_large_ones": bool((share[:, :d].min(axis=1) > 0.5).all()),
            "mean_structure_outside": float(share[:, d:].mean()),
            "no_structure_outside": bool(share[:, d:].mean() < 0.1),
            "neighbours_of_another_cluster": float(error[0, 0]),
            "shuffling_change": float(np.abs(shuffled - values).max()),
            "shuffling_changes_nothing": bool(np.abs(shuffled - values).max() < 1e-10 * Y.size),
        }
        for i, mean in enumerate(values.mean(axis=0), start=1):
            metrics[f"mean_eigenvalue_{i}"] = float(mean)
        return Outcome(
            metrics,
            series={"eigenvalues": Series(list(range(1, values.shape[1] + 1)), values[0].tolist())},
            arrays={"Y": Y[0], "X": found.X[0], "eigenvalues": values, "structure": share},
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid, whole_steps

        figure, axes = grid(1, 3, 0.95)
        scatter(axes[0, 0], outcome.arrays["Y"], self.labels)
        axes[0, 0].set(xlabel="$y_1$", ylabel="$y_2$", title="First two variables")
        steps, values = outcome.series["eigenvalues"]
        axes[0, 1].plot(steps, values, "o-")
        axes[0, 1].set(xlabel="Projection dimension", ylabel="Variance", ylim=(0, None))
        axes[0, 1].set_title("Eigenvalues")
        whole_steps(axes[0, 1])
        scatter(axes[0, 2], outcome.arrays["X"], self.labels)
        axes[0, 2].set(xlabel="$x_1$", ylabel="$x_2$", title="First two projections")
        for ax in (axes[0, 0], axes[0, 2]):
            ax.set_aspect("equal", adjustable="datalim")
        return {"projection": figure}


@dataclass
class ProjectionVariance(HiddenClusters, Study):
    """The variance along both principal directions of a single Gaussian and of two clusters."""

    variances: list[float] = knob([2.0, 0.5], "of the single Gaussian along its axes", above=0)
    turn: float = knob(0.6, "angle of its first axis, in radians")

    def rules(self) -> "Iterator[str]":
        if len(self.variances) != 2:
            yield f"study.variances={self.variances}; allowed: two numbers"
        if len(self.centres[0]) + self.noise_dimensions != 2:
            yield "study.centres and study.noise_dimensions; allowed: two variables in all"

    def run(self, rng: Generator) -> Outcome:
        clusters = self.objects(rng)
        cos, sin = np.cos(self.turn), np.sin(self.turn)
        axes = np.array([[cos, sin], [-sin, cos]])
        cloud = rng.standard_normal(clusters.shape) * np.sqrt(self.variances) @ axes
        metrics: dict[str, Scalar] = {}
        arrays: dict[str, Floats] = {}
        for name, Y in (("cloud", cloud), ("clusters", clusters)):
            found = pca(Y)
            ratio = found.eigenvalues[:, 0] / found.eigenvalues[:, 1]
            direct = found.X.var(axis=1)  # the variance of the projections themselves
            metrics |= {
                f"smallest_ratio_{name}": float(ratio.min()),
                f"more_than_double_{name}": bool((ratio > 2).all()),
                f"eigenvalue_is_variance_{name}": bool(
                    np.allclose(direct, found.eigenvalues, rtol=1e-9)
                ),
            }
            if name == "cloud":  # along its own axes, which the sample does not know
                along = (Y @ axes.T).var(axis=1)
                metrics["a_exceeds_b_cloud"] = bool((along[:, 0] > along[:, 1]).all())
            arrays |= {f"Y_{name}": Y[0], f"W_{name}": found.W[0]}
            arrays |= {f"eigenvalues_{name}": found.eigenvalues}
            share = _between_share(found.X, self.labels).mean(axis=0)
            metrics |= {f"structure_a_{name}": float(share[0])}
            metrics |= {f"structure_b_{name}": float(share[1])}
        return Outcome(metrics, arrays=arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid

        figure, axes = grid(1, 2, 0.85)
        for ax, name in zip(axes[0], ("cloud", "clusters"), strict=True):
            Y, W = outcome.arrays[f"Y_{name}"], outcome.arrays[f"W_{name}"]
            values = outcome.arrays[f"eigenvalues_{name}"][0]
            ax.plot(*Y.T, "o", color="0.6", markersize=4)
            for i, (letter, value) in enumerate(zip("AB", values, strict=True)):
                ends = Y.mean(axis=0) + np.outer([-2.5, 2.5], np.sqrt(value) * W[:, i])
                label = rf"{letter}: $\sigma^2$ = {value:.2f}"
                ax.plot(*ends.T, color=f"C{i}", linewidth=2.5, label=label)
            ax.set(xlabel="$y_1$", ylabel="$y_2$")
            ax.set_title("One Gaussian" if name == "cloud" else "Clusters")
            ax.set_aspect("equal", adjustable="datalim")
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
        return {"variance": figure}


@dataclass
class ComponentChoice(HiddenClusters, Study):
    """How well neighbours in the first D projections predict the cluster, by leaving one out."""

    neighbours: int = knob(5, "neighbours that vote", at_least=1, at_most=1000)

    def rules(self) -> "Iterator[str]":
        if self.neighbours >= len(self.labels):
            yield f"study.neighbours={self.neighbours}; there are {len(self.labels)} objects"

    def run(self, rng: Generator) -> Outcome:
        Y = self.objects(rng)
        X, labels = pca(Y).X, self.labels
        apart = np.arange(len(labels))[None]  # leave one out
        Ds = list(range(1, Y.shape[2] + 1))
        right = np.empty((self.repetitions, len(Ds)))
        for r, projected in enumerate(X):
            for i, D in enumerate(Ds):
                wrong = fold_errors(
                    projected[:, :D], labels, [self.neighbours], apart, len(self.centres)
                )
                right[r, i] = 1 - wrong[0, 0]
        mean = right.mean(axis=0)
        metrics: dict[str, Scalar] = {
            "best_d": Ds[int(mean.argmax())],
            "smallest_good_d": Ds[int(np.argmax(mean >= mean.max() - 0.01))],  # from there on flat
        }
        metrics |= {f"accuracy_{D}": float(value) for D, value in zip(Ds, mean, strict=True)}
        return Outcome(
            metrics,
            series={"accuracy": Series(Ds, mean.tolist())},
            arrays={"accuracy": right},
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import whole_steps

        figure, ax = panels()
        steps, mean = outcome.series["accuracy"]
        spread = outcome.arrays["accuracy"].std(axis=0)
        ax.errorbar(steps, mean, spread, marker="o", capsize=3)
        ax.set(xlabel="Projected dimensions D", ylabel="Share classified correctly")
        whole_steps(ax)
        return {"accuracy": figure}


def scatter(ax: "Axes", points: Floats, labels: Ints) -> None:
    """The first two coordinates, with a colour and a symbol for each cluster."""
    from experiments.drawing.clusters import SYMBOLS

    for k in np.unique(labels):
        first, second = points[labels == k, :2].T
        ax.plot(first, second, SYMBOLS[k % 8], color=f"C{k}", markersize=4)


def _between_share(X: Floats, labels: Ints) -> Floats:
    """The share of the variance of each variable that lies between clusters, shape (..., M)."""
    means = np.stack([X[..., labels == k, :].mean(axis=-2) for k in np.unique(labels)], axis=-2)
    return np.asarray(means.var(axis=-2) / X.var(axis=-2))
