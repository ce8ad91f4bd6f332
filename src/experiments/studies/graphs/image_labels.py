"""Labels of the pixels of an image: segments, or disparities (MLAPP 19.4.3, 19.6.2.7)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs import labelling, stereo
from bythebook.models.types import Floats, Ints

TASKS = ("segmentation", "stereo")
EDGES = ("equal", "quadratic", "truncated")
METHODS = ("alone", "modes", "gibbs", "mean field", "messages")
DELTA = 2.0  # delta_0 of truncated links, in labels
ROUNDS = 24  # of messages
SWEEPS = 40  # of Gibbs sampling, a quarter of them dropped
REGIONS = 12  # of an image to be segmented


@dataclass
class ImageLabels(Study):
    """Labels of drawn images, by links of several types and strengths (MLAPP 19.4.3, 19.6.2.7).

    Segments have grey values that are a whole number apart and Gaussian noise. Disparities are
    those of random dots, a rectangle before a plane. Messages are those of marginals for segments
    and of the best labelling for disparities.
    """

    headline = {"wrong": "min(mean(wrong, over='draw'))"}
    quantities = {
        "wrong": quantity("share of the pixels with a wrong label", "edges method strength draw"),
        "round_wrong": quantity(
            "share of the pixels with a wrong label, with links of the middle strength",
            "edges rounds draw",
        ),
        "boundary_step": quantity(
            "mean step of the labels, by the last method, between neighbours that truly differ",
            "edges strength draw",
        ),
        "true_step": quantity("mean step between neighbours that differ", "draw"),
        "patch_right": quantity(
            "share of the pixels whose disparity cross-correlation of patches finds", "texture draw"
        ),
        "seen": quantity("first image", "row column"),
        "true_label": quantity("true labels of the first image", "row column"),
        "picture": quantity(
            "labels of the first image by the last method, with links of the middle strength",
            "edges row column",
        ),
    }
    axes = {
        "edges": axis_of("kind of links"),
        "method": axis_of("method of labelling"),
        "strength": axis_of("strength of links"),
        "draw": axis_of("image"),
        "rounds": axis_of("rounds of messages"),
        "texture": axis_of("texture of the region"),
        "row": axis_of("row"),
        "column": axis_of("column"),
    }

    task: str = knob("segmentation", "the meaning of labels", choices=TASKS)
    labels: int = knob(4, "K", at_least=2, at_most=60)
    rows: int = knob(40, "of an image", at_least=8, at_most=400)
    columns: int = knob(40, "of an image", at_least=8, at_most=400)
    noise: float = knob(0.8, "standard deviation of each pixel", above=0)
    strengths: list[float] = knob([0.0, 1.0], "of links", at_least=0, distinct=True)
    edges: list[str] = knob(["equal"], "kinds of links", choices=EDGES, distinct=True)
    methods: list[str] = knob(["alone", "messages"], "of labelling", choices=METHODS, distinct=True)
    draws: int = knob(8, "images", at_least=1, at_most=200)

    def problems(self) -> Iterator[str]:
        if sorted(self.strengths) != self.strengths:
            yield "study.strengths: not in their order; allowed: from weak to strong"

    def run(self, rng: Generator) -> Outcome:
        image, truth, u, found_patches = self._images(rng)
        found = {
            (e, m, s): self._labelled(u, self._links(e, s), m, rng)
            for e, m, s in product(self.edges, self.methods, self.strengths)
        }
        middle, last = self.strengths[len(self.strengths) // 2], self.methods[-1]
        wrong = [(y != truth).mean((-1, -2)) for y in found.values()]
        shape = len(self.edges), len(self.methods), len(self.strengths), self.draws
        course = [
            [(cost.argmin(-3) != truth).mean((-1, -2)) for cost in rounds]
            for rounds in (self._messages(u, self._links(e, middle)) for e in self.edges)
        ]
        steps = [
            [list(map(stereo.border_step, found[e, last, s], truth)) for s in self.strengths]
            for e in self.edges
        ]
        return outcome(
            {
                "edges": self.edges,
                "method": self.methods,
                "strength": self.strengths,
                "draw": self.draws,
                "rounds": ROUNDS + 1,
                "row": self.rows,
                "column": self.columns,
                **({"texture": ["textured", "flat"]} if found_patches is not None else {}),
            },
            wrong=("edges method strength draw", np.reshape(wrong, shape)),
            round_wrong=("edges rounds draw", course),
            boundary_step=("edges strength draw", steps),
            true_step=("draw", list(map(stereo.border_step, truth, truth))),
            seen=("row column", image[0]),
            true_label=("row column", truth[0]),
            picture=("edges row column", [found[e, last, middle][0] for e in self.edges]),
            **({} if found_patches is None else {"patch_right": ("texture draw", found_patches)}),
        )

    def _images(self, rng: Generator) -> tuple[Floats, Ints, Floats, Floats | None]:
        """Images, their labels, the cost of each label, and the share of disparities that
        cross-correlation finds in textured and in flat regions.
        """
        if self.task == "segmentation":
            size = self.rows, self.columns
            truth = np.array(
                [
                    labelling.drawn_regions(size, self.labels, REGIONS, rng)
                    for _ in range(self.draws)
                ]
            )
            image = truth + self.noise * rng.standard_normal(truth.shape)
            off = image[..., None, :, :] - np.arange(self.labels)[:, None, None]
            return image, truth, off**2 / (2 * self.noise**2), None
        pairs = [
            stereo.drawn_pair(self.rows, self.columns, self.labels, self.noise, rng)
            for _ in range(self.draws)
        ]
        truth = np.array([pair.disparity for pair in pairs])
        sigma = 2**0.5 * self.noise  # both images are noisy
        u = np.array([stereo.matching_cost(pair, self.labels, sigma) for pair in pairs])
        right = np.array([stereo.matched_patches(pair, self.labels) for pair in pairs]) == truth
        shares = [
            [own[pair.flat == flat].mean() for own, pair in zip(right, pairs, strict=True)]
            for flat in (False, True)
        ]
        return np.array([pair.left for pair in pairs]), truth, u, np.array(shares)

    def _links(self, kind: str, strength: float) -> Floats:
        if kind == "equal":
            return labelling.potts_cost(self.labels, strength)
        most = DELTA if kind == "truncated" else np.inf
        return labelling.quadratic_cost(self.labels, strength, most)

    def _labelled(self, u: Floats, V: Floats, method: str, rng: Generator) -> Ints:
        if method == "alone":
            return np.asarray(u.argmin(-3))
        if method == "modes":
            return labelling.modes(u, V)
        if method == "gibbs":
            return np.asarray(labelling.gibbs(u, V, SWEEPS, SWEEPS // 4, rng).argmax(-3))
        if method == "mean field":
            return np.asarray(labelling.mean_field(u, V).argmax(-3))
        *_, cost = self._messages(u, V)
        return np.asarray(cost.argmin(-3))

    def _messages(self, u: Floats, V: Floats) -> Iterator[Floats]:
        return labelling.messages(u, V, ROUNDS, soft=self.task == "segmentation")
