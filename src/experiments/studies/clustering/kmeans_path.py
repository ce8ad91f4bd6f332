"""K-means from one start, hand-picked or random, step by step (PRML 9.1, FCML 6.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import Clusters, numbered, of_points, place_problems
from models.clustering.kmeans import assign, bisector_margins, kmeans, random_in_box
from models.em import smallest_gain


@dataclass
class KmeansPath(Clusters, Study):
    """The distortion J after every half step, from one start and from many near it (PRML 9.1)."""

    headline = {
        "shown_cycles": "max(coordinates(bisector_margin))",
        "distortion": "last(distortion)",
    }

    start: list[list[float]] = knob(
        [[-1.5, 1.0], [1.5, -1.0]], "the centres to begin with; empty if random", may_be_empty=True
    )
    k: int = knob(0, "clusters of random starts; 0 if `start` is given", at_least=0, at_most=8)
    box: list[float] = knob([-5.0, 5.0], "random centres are uniform between these, per variable")
    jitter: float = knob(0.5, "how well the start is known: sd of its coordinates", at_least=0)
    repetitions: int = knob(400, "further starts, drawn about `start`", at_least=1, at_most=100_000)
    panels: int = knob(9, "half steps to draw, the start among them", at_least=0, at_most=16)

    def rules(self) -> Iterator[str]:
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
        one = kmeans(X, start[None], snapshots=range(300))
        T = int(one.iterations[0])
        centres = np.stack([one.snapshots[t][0] for t in range(T + 1)])
        labels = assign(X, centres)  # of the E step that follows
        points, repetition = of_points(X), axis("repetition", self.repetitions)
        cycle, cluster = axis("cycle", T + 1), numbered("cluster", len(start))
        half_step = axis("half_step", [f"{step}{t}" for t in range(1, T + 1) for step in "EM"])
        return Outcome(
            points=points,
            centres=over(centres, cycle, cluster, points.axes[1]),
            labels=over(labels, cycle, points.axes[0]),
            bisector_margin=cycle.of(bisector_margins(X, centres, labels)),
            cluster_size=cluster.of(np.bincount(labels[T], minlength=len(start))),
            distortion=half_step.of(one.distortion[0]),
            # And where the other starts end.
            cycles=repetition.of(near.iterations),
            final_distortion=repetition.of(near.final),
            converged=repetition.of(near.converged),
            clusters_left=repetition.of([len(np.unique(found)) for found in near.labels]),
            smallest_gain=smallest_gain(-near.distortion),
        )
