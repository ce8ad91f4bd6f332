"""Principal components of clusters hidden in noise (FCML 7.1-7.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.latent._hidden_clusters import HiddenClusters, confusion
from models.latent.pca import pca
from models.types import Floats, Ints


@dataclass
class PrincipalComponents(HiddenClusters, Study):
    """The variance along each principal direction, and how much of it the clusters make."""

    headline = {
        "first_eigenvalue": "mean(eigenvalues['clusters', :, 1])",
        "structure_in_first": "mean(structure['clusters', :, 1])",
    }

    cloud: list[float] = knob(
        [], "variances of one Gaussian to compare with, along its two axes", may_be_empty=True
    )
    turn: float = knob(0.6, "angle of its first axis, in radians")
    neighbours: int | None = knob(
        None, "neighbours that vote for an object's cluster", at_least=1, at_most=1000
    )

    def rules(self) -> Iterator[str]:
        if self.cloud and len(self.cloud) != 2:
            yield f"study.cloud={self.cloud}; allowed: two variances"
        if self.cloud and len(self.centres[0]) + self.noise_dimensions != 2:
            yield "study.cloud; allowed: where the clusters have two variables in all"
        if (self.neighbours or 0) >= len(self.labels):
            yield f"study.neighbours={self.neighbours}; there are {len(self.labels)} objects"

    def run(self, rng: Generator) -> Outcome:
        sets, further = {"clusters": self.objects(rng)}, dict[str, Quantity]()
        R, N, M = sets["clusters"].shape
        repetition, thing = axis("repetition", R), axis("object", N)
        variable, component = (axis(name, range(1, M + 1)) for name in ("variable", "component"))
        if self.cloud:
            cos, sin = np.cos(self.turn), np.sin(self.turn)
            axes = np.array([[cos, sin], [-sin, cos]])
            sets["cloud"] = rng.standard_normal((R, N, M)) * np.sqrt(self.cloud) @ axes
            along = (sets["cloud"] @ axes.T).var(axis=1)  # its own axes: the sample knows others
            further["cloud_variance"] = over(along, repetition, axis("direction", ["A", "B"]))
        data = axis("data", list(sets))
        Y = np.stack(list(sets.values()))
        found = pca(Y)
        if self.neighbours is not None:
            right = [
                1 - confusion(found.X[0, ..., :D], self.labels, self.neighbours)
                for D in component.values
            ]
            dimensions = axis("dimensions", component.values)
            further["accuracy"] = over(np.stack(right, axis=1), repetition, dimensions)
        shuffled = pca(Y[0][..., rng.permutation(M)]).eigenvalues
        every = data, repetition, component
        return Outcome(
            points=over(Y[:, 0], data, thing, variable),
            projections=over(found.X[:, 0], data, thing, component),
            directions=over(found.W[:, 0], data, variable, component),
            eigenvalues=over(found.eigenvalues, *every),
            projected_variance=over(found.X.var(axis=2), *every),
            structure=over(_between_share(found.X, self.labels), *every),
            shuffled_eigenvalues=over(shuffled, repetition, component),
            **further,
        )


def _between_share(X: Floats, labels: Ints) -> Floats:
    """The share of the variance of each variable that lies between clusters, shape (..., M)."""
    means = np.stack([X[..., labels == k, :].mean(axis=-2) for k in np.unique(labels)], axis=-2)
    return np.asarray(means.var(axis=-2) / X.var(axis=-2))
