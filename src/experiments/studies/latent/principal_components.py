"""Principal components of clusters hidden in noise (FCML 7.1-7.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.latent._hidden_clusters import HiddenClusters
from bythebook.models.latent.groups import apart_on_a_line, astray, between_share
from bythebook.models.latent.pca import covariance, eigenvalues_without_n, largest_cosine, pca

TURN = 0.6  # angle of the first axis of the one Gaussian, in radians
TRIED = 20  # draws in which a line that separates the clusters is searched for


@dataclass
class PrincipalComponents(HiddenClusters, Study):
    """Variance along each principal direction, and the share between clusters (FCML 7.1-7.2)."""

    headline = {
        "first_eigenvalue": "mean(eigenvalues['clusters', :, 1])",
        "structure_in_first": "mean(structure['clusters', :, 1])",
    }
    quantities = {
        "eigenvalues": quantity(
            "variance along a principal direction", "data repetition component"
        ),
        "structure": quantity(
            "share of the variance along a principal direction that is between clusters",
            "data repetition component",
        ),
        "points": quantity("values of the first data set", "data object variable"),
        "projections": quantity("projections on the principal directions", "data object component"),
        "directions": quantity("principal directions", "data variable component"),
        "projected_variance": quantity("variance of the projections", "data repetition component"),
        "shuffled_eigenvalues": quantity(
            "eigenvalues after shuffling the variables", "repetition component"
        ),
        "eigenvalues_as_printed": quantity(
            "eigenvalues by the formula as printed", "repetition component"
        ),
        "largest_cosine": quantity("largest cosine between two eigenvectors", "matrix repetition"),
        "apart_on_a_line": quantity(
            "whether a line separates the clusters of a projection", "tried"
        ),
        "accuracy": quantity(
            "share of the points in the right cluster, by dimensions kept", "dimensions repetition"
        ),
        "cloud_variance": quantity(
            "variance of the cloud along a direction", "repetition direction"
        ),
    }
    axes = {
        "component": axis_of("principal direction"),
        "data": axis_of("kind of data"),
        "dimensions": axis_of("dimensions that are kept"),
        "direction": axis_of("direction of the cloud"),
        "matrix": axis_of("matrix whose eigenvectors are taken"),
        "object": axis_of("object"),
        "repetition": axis_of("data set"),
        "tried": axis_of("data set that is projected on a line"),
        "variable": axis_of("variable"),
    }

    cloud: list[float] = knob([], "variances of one Gaussian to compare with", may_be_empty=True)
    neighbours: int | None = knob(None, "voters for an object's cluster", at_least=1, at_most=1000)

    def rules(self) -> Iterator[str]:
        if self.cloud and len(self.cloud) != 2:
            yield f"study.cloud={self.cloud}; allowed: two variances"
        if self.cloud and len(self.centres[0]) + self.noise_dimensions != 2:
            yield "study.cloud; allowed: where the clusters have two variables in all"
        if len(self.labels) < len(self.centres[0]) + self.noise_dimensions:
            yield f"study.n_each={self.n_each}; allowed: no fewer objects than variables"
        if (self.neighbours or 0) >= len(self.labels):
            yield f"study.neighbours={self.neighbours}; there are {len(self.labels)} objects"

    def run(self, rng: Generator) -> Outcome:
        sets, further = {"clusters": self.objects(rng)}, dict[str, Quantity]()
        R, N, M = sets["clusters"].shape
        repetition, thing = axis("repetition", R), axis("object", N)
        variable, component = (axis(name, range(1, M + 1)) for name in ("variable", "component"))
        if self.cloud:
            cos, sin = np.cos(TURN), np.sin(TURN)
            axes = np.array([[cos, sin], [-sin, cos]])
            sets["cloud"] = rng.standard_normal((R, N, M)) * np.sqrt(self.cloud) @ axes
            along = (sets["cloud"] @ axes.T).var(axis=1)  # true axes; the sample axes differ
            further["cloud_variance"] = over(along, repetition, axis("direction", ["A", "B"]))
        data = axis("data", list(sets))
        Y = np.stack(list(sets.values()))
        found = pca(Y)
        if self.neighbours is not None:
            X, nearest = found.X[0], self.neighbours
            right = [1 - astray(X[..., :D], self.labels, nearest) for D in component.values]
            further["accuracy"] = over(right, axis("dimensions", component.values), repetition)
        shuffled = pca(Y[0][..., rng.permutation(M)]).eigenvalues
        lines = [apart_on_a_line(objects, self.labels) for objects in Y[0, :TRIED]]
        cosines = [largest_cosine(A) for A in (covariance(Y[0]), Y[0][:, :M])]
        every = data, repetition, component
        return Outcome(
            points=over(Y[:, 0], data, thing, variable),
            projections=over(found.X[:, 0], data, thing, component),
            directions=over(found.W[:, 0], data, variable, component),
            eigenvalues=over(found.eigenvalues, *every),
            projected_variance=over(found.X.var(axis=2), *every),
            structure=over(between_share(found.X, self.labels), *every),
            shuffled_eigenvalues=over(shuffled, repetition, component),
            eigenvalues_as_printed=over(eigenvalues_without_n(Y[0]), repetition, component),
            largest_cosine=over(cosines, axis("matrix", ["covariance", "square"]), repetition),
            apart_on_a_line=axis("tried", len(lines)).of(lines),
            **further,
        )
