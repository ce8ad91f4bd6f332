"""Principal components of clusters hidden in noise (FCML 7.1-7.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.latent._hidden_clusters import HiddenClusters
from bythebook.models.latent.groups import apart_on_a_line, astray, between_share
from bythebook.models.latent.pca import pca

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
        "cluster": quantity("cluster of an object", "object"),
        "projections": quantity("projections on the principal directions", "data object component"),
        "directions": quantity("principal directions", "data variable component"),
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
        sets, further = {"clusters": self.objects(rng)}, dict[str, Any]()
        R, N, M = sets["clusters"].shape
        counted = np.arange(1, M + 1)
        coords: dict[str, Any] = {"repetition": R, "object": N}
        coords |= {"variable": counted, "component": counted}
        if self.cloud:
            cos, sin = np.cos(TURN), np.sin(TURN)
            axes = np.array([[cos, sin], [-sin, cos]])
            sets["cloud"] = rng.standard_normal((R, N, M)) * np.sqrt(self.cloud) @ axes
            along = (sets["cloud"] @ axes.T).var(axis=1)  # true axes; the sample axes differ
            coords["direction"] = ["A", "B"]
            further["cloud_variance"] = ("repetition direction", along)
        Y = np.stack(list(sets.values()))
        found = pca(Y)
        if self.neighbours is not None:
            kept = [astray(found.X[0, ..., :D], self.labels, self.neighbours) for D in counted]
            coords["dimensions"] = counted
            further["accuracy"] = ("dimensions repetition", 1 - np.array(kept))
        lines = [apart_on_a_line(objects, self.labels) for objects in Y[0, :TRIED]]
        every = "data repetition component"
        return outcome(
            coords | {"data": list(sets), "tried": len(lines)},
            points=("data object variable", Y[:, 0]),
            cluster=("object", self.labels),
            projections=("data object component", found.X[:, 0]),
            directions=("data variable component", found.W[:, 0]),
            eigenvalues=(every, found.eigenvalues),
            structure=(every, between_share(found.X, self.labels)),
            apart_on_a_line=("tried", lines),
            **further,
        )
