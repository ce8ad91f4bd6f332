"""Clusters that are not round: K-means against a mixture of Gaussians (FCML 6.2.2, 6.3.4)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import in_ring, numbered
from models.clustering.agreement import agreement
from models.clustering.gaussian_mixture import fit, responsibilities
from models.clustering.gaussian_mixture_starts import start_at_points
from models.clustering.kmeans import kmeans, random_points
from models.datasets import load
from models.em import take
from models.types import Floats, Ints


@dataclass
class ClusterShapes(Study):
    """Two clusters, a ring about a disc or two long parallel ones, and which method finds them."""

    headline = {
        "rings_agreement": "mean(rings_agreement)",
        "stretched_agreement": "mean(stretched_agreement)",
    }

    data: str | None = knob("fcml-rings", "a ring about a disc", dataset=True)
    stretched: bool = knob(True, "also draw two long clusters side by side")
    methods: list[str] = knob(
        ["kmeans"], "how to cluster", choices=("kmeans", "mixture"), distinct=True
    )
    offset: list[float] = knob([4.0, 2.0], "centre of the second long cluster; of the first: 0")
    sd: list[float] = knob([0.5, 5.0], "standard deviations of a long cluster", above=0)
    n_each: int = knob(50, "objects in each long cluster", at_least=2, at_most=100_000)
    repetitions: int = knob(20, "draws of the long clusters", at_least=1, at_most=1000)
    restarts: int = knob(10, "starts; the best is kept", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        if self.data is None and not self.stretched:
            yield "study.data=null and study.stretched=false leave nothing to cluster"
        for name, pair in (("offset", self.offset), ("sd", self.sd)):
            if len(pair) != 2:
                yield f"study.{name}={pair}; allowed: two numbers"

    def run(self, rng: Generator) -> Outcome:
        quantities: dict[str, Quantity] = {}
        if self.data is not None:
            X = load(self.data).matrix
            ring = in_ring(X)
            gap = X[ring == 0].mean(axis=0) - X[ring == 1].mean(axis=0)
            quantities = self._found("rings", ring, [X], rng)
            quantities["rings_mean_gap"] = Quantity(np.linalg.norm(gap))
        if self.stretched:
            second = np.repeat([0, 1], self.n_each)
            mean, sd = second[:, None] * np.array(self.offset), np.array(self.sd)
            draws = (mean + sd * rng.standard_normal(mean.shape) for _ in range(self.repetitions))
            quantities |= self._found("stretched", second, draws, rng)
        return Outcome(**quantities)

    def _found(
        self, shape: str, truth: Ints, draws: Iterable[Floats], rng: Generator
    ) -> dict[str, Quantity]:
        """What each method makes of each draw, where `truth` says which object is whose."""
        X, found = zip(
            *((X, [self._cluster(method, X, rng) for method in self.methods]) for X in draws),
            strict=True,
        )
        labels = np.array([[label for label, _ in row] for row in found])  # (draw, method, N)
        centres = np.array([[centre for _, centre in row] for row in found])
        shares = [(labels[..., truth == k] == 0).mean(axis=-1) for k in (0, 1)]
        draw, method = axis(f"{shape}_draw", len(X)), axis("method", self.methods)
        point, cluster = axis(f"{shape}_point", len(truth)), numbered("cluster", 2)
        variable, true_cluster = numbered("variable", 2), numbered("true_cluster", 2)
        agreements = [[agreement(label, truth, 2) for label in row] for row in labels]
        return {
            f"{shape}_points": over(X, draw, point, variable),
            f"{shape}_labels": over(labels, draw, method, point),
            f"{shape}_centres": over(centres, draw, method, cluster, variable),
            f"{shape}_agreement": over(agreements, draw, method),
            f"{shape}_share_in_first": over(np.stack(shares, -1), draw, method, true_cluster),
        }

    def _cluster(self, method: str, X: Floats, rng: Generator) -> tuple[Ints, Floats]:
        """Labels (N,) and centres (2, D), the best of some starts."""
        if method == "kmeans":
            ends = kmeans(X, random_points(X, 2, rng, self.restarts))
            return ends.labels[ends.best], ends.centres[ends.best]
        em = fit(X, start_at_points(X, 2, rng, self.restarts), min_eigenvalue=1e-3, tol=1e-6)
        best = take(em.theta, [em.best])
        return responsibilities(X, best)[0].argmax(axis=1), best.mu[0]
