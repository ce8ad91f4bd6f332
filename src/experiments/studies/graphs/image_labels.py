"""Labels of the pixels of an image: segments, or disparities (MLAPP 19.4.3, 19.6.2.7)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp, softmax

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs import labelling, stereo
from bythebook.models.graphs.pairwise import Field, exact, grid
from bythebook.models.types import Floats, Ints

TASKS = ("segmentation", "stereo")
EDGES = ("equal", "quadratic", "truncated")
METHODS = ("alone", "modes", "gibbs", "mean field", "messages")
PENALTIES = ("quadratic", "truncated", "absolute")
DELTA = 2.0  # delta_0 of truncated links, in labels
ROUNDS = 24  # of messages
SWEEPS = 40  # of Gibbs sampling, a quarter of them dropped
REGIONS = 12  # of an image to be segmented
SMALL = (2, 4)  # rows and columns of an image with all labellings enumerated
SMALL_SWEEPS = 2000
ROW = 5  # pixels of a row, on which messages are exact
WINDOW = 5  # rows and columns of a patch


@dataclass
class ImageLabels(Study):
    """Labels of drawn images, by links of several types and strengths (MLAPP 19.4.3, 19.6.2.7).

    Segments have grey values that are a whole number apart and Gaussian noise. Disparities are
    those of random dots, a rectangle before a plane. Messages are those of marginals for segments
    and of the best labelling for disparities.
    """

    headline = {"wrong": "min(mean(wrong, over='draw'))"}
    more_quantities = True
    quantities = {
        "wrong": quantity("share of the pixels with a wrong label", "edges method strength draw"),
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
        draw = axis("draw", self.draws)
        if self.task == "stereo":
            pairs = [
                stereo.drawn_pair(self.rows, self.columns, self.labels, self.noise, rng)
                for _ in range(self.draws)
            ]
            truth = np.array([pair.disparity for pair in pairs])
            sigma = 2**0.5 * self.noise  # both images are noisy
            u = np.array([stereo.matching_cost(pair, self.labels, sigma) for pair in pairs])
            image = np.array([pair.left for pair in pairs])
        else:
            size = (self.rows, self.columns)
            truth = np.array(
                [labelling.drawn_regions(size, self.labels, REGIONS, rng) for _ in draw.values]
            )
            image = truth + self.noise * rng.standard_normal(truth.shape)
            u = self._evidence(image)
        found = {
            (e, m, s): self._labelled(u, self._links(e, s), m, rng)
            for e, m, s in product(self.edges, self.methods, self.strengths)
        }
        wrong = [
            [
                [(found[e, m, s] != truth).mean((-1, -2)) for s in self.strengths]
                for m in self.methods
            ]
            for e in self.edges
        ]
        axes = axis("edges", self.edges), axis("method", self.methods)
        strength = axis("strength", self.strengths)
        row, column = axis("row", self.rows), axis("column", self.columns)
        middle, last = self.strengths[len(self.strengths) // 2], self.methods[-1]
        shown = [found[e, last, middle][0] for e in self.edges]
        more = self._stereo(pairs, u, found) if self.task == "stereo" else self._small(rng)
        return Outcome(
            wrong=over(wrong, *axes, strength, draw),
            seen=over(image[0], row, column),
            true_label=over(truth[0], row, column),
            picture=over(shown, axes[0], row, column),
            **more,
        )

    def _evidence(self, image: Floats) -> Floats:
        """Costs of labels given grey values, (..., label, row, column)."""
        off = image[..., None, :, :] - np.arange(self.labels)[:, None, None]
        return np.asarray(off**2 / (2 * self.noise**2))

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
        *_, cost = labelling.messages(u, V, ROUNDS, soft=self.task == "segmentation")
        return np.asarray(cost.argmin(-3))

    def _small(self, rng: Generator) -> dict[str, Quantity]:
        """Small images: the prior, and beliefs of all kinds against every labelling."""
        strength = axis("strength", self.strengths)
        links = grid(*SMALL)
        near = np.zeros((8, 8))
        near[links[:, 0], links[:, 1]] = near[links[:, 1], links[:, 0]] = 1
        states = np.indices([self.labels] * (SMALL[0] * SMALL[1])).reshape(SMALL[0] * SMALL[1], -1)
        equal = states[links[:, 0]] == states[links[:, 1]]
        prior = []
        for J in self.strengths:
            p = np.exp(J * equal.sum(0))
            prior.append(float((equal @ (p / p.sum())).min()))
        J = self.strengths[len(self.strengths) // 2]
        V = labelling.potts_cost(self.labels, J)
        means = rng.integers(self.labels, size=(self.draws, *SMALL))
        u = self._evidence(means + self.noise * rng.standard_normal(means.shape))
        *_, cost = labelling.messages(u, V, ROUNDS, soft=True)
        beliefs = {
            "joint": _by_joint(u, J * equal.sum(0), states),
            "gibbs": labelling.gibbs(u, V, SMALL_SWEEPS, SMALL_SWEEPS // 10, rng),
            "messages": np.exp(-cost) / np.exp(-cost).sum(-3, keepdims=True),
            "mean field": labelling.mean_field(u, V, 10 * SWEEPS),
        }
        tables = np.exp(-np.array([V] * len(links)))
        nodes = np.exp(-np.moveaxis(u.reshape(*u.shape[:2], -1), 1, 2))
        right = np.moveaxis(exact(Field(nodes, links, tables)), 2, 1).reshape(u.shape)
        beliefs["exact"] = right
        field = np.einsum("kl,dlp,ep->dke", V, beliefs["mean field"].reshape(nodes.mT.shape), near)
        fixed = softmax(-u.reshape(field.shape) - field, axis=1)
        changes = _changes(labelling.modes(u, V), u, V, near)
        draw, label, pixel = axis("draw", self.draws), axis("label", self.labels), axis("pixel", 8)
        return {
            "prior_equal": strength.of(prior),
            "belief": over(
                [q.reshape(field.shape) for q in beliefs.values()],
                axis("small_method", list(beliefs)),
                *(draw, label, pixel),
            ),
            "link_cost": over(
                [labelling.potts_cost(self.labels, J) for J in self.strengths],
                *(strength, label, axis("other_label", self.labels)),
            ),
            "mean_field_again": over(fixed, draw, label, pixel),
            "mode_change": over(changes, draw, label, pixel),
            **self._row(u[0, :, :1], V),
        }

    def _row(self, u: Floats, V: Floats) -> dict[str, Quantity]:
        """Messages along a row, soft and hard, against all its labellings."""
        u = np.concatenate([u, u[..., ::-1]], axis=-1)[..., :ROW]
        every = np.indices([self.labels] * ROW).reshape(ROW, -1)
        cost = u[every, 0, np.arange(ROW)[:, None]].sum(0) + V[every[:-1], every[1:]].sum(0)
        own = every[:, None] == np.arange(self.labels)[:, None]  # (pixel, label, labelling)
        soft = -logsumexp(np.where(own, -cost, -np.inf), axis=-1).T
        found = [list(labelling.messages(u, V, ROUNDS, kind))[-1][:, 0] for kind in (True, False)]
        costs = np.array([found, [soft, np.where(own, cost, np.inf).min(-1).T]])
        axes = axis("way", ["messages", "all labellings"]), axis("form", ["soft", "best"])
        costs -= costs.min(-2, keepdims=True)
        return {"row_cost": over(costs, *axes, axis("label", self.labels), axis("place", ROW))}

    def _stereo(
        self, pairs: list[stereo.Pair], u: Floats, found: dict[tuple[str, str, float], Ints]
    ) -> dict[str, Quantity]:
        """Steps at the border of the rectangle, rounds of messages, patches and links."""
        edges, strength, draw = (
            axis("edges", self.edges),
            axis("strength", self.strengths),
            axis("draw", self.draws),
        )
        truth = np.array([pair.disparity for pair in pairs])
        last, middle = self.methods[-1], self.strengths[len(self.strengths) // 2]
        steps = [
            [
                [stereo.border_step(y, t) for y, t in zip(found[e, last, s], truth, strict=True)]
                for s in self.strengths
            ]
            for e in self.edges
        ]
        course = [
            [
                (cost.argmin(-3) != truth).mean((-1, -2))
                for cost in labelling.messages(u, self._links(e, middle), ROUNDS, soft=False)
            ]
            for e in self.edges
        ]
        patches = np.array([stereo.matched_patches(pair, self.labels) for pair in pairs]) == truth
        flat = np.array([pair.flat for pair in pairs])
        penalty, k = axis("penalty", PENALTIES), np.arange(self.labels)
        far = k[:, None] - k
        costs = np.array([far**2.0, np.minimum(far**2.0, DELTA**2), np.abs(far)])
        bend = costs[:, 0, 1:-1] - (costs[:, 0, :-2] + costs[:, 0, 2:]) / 2
        detour = costs[:, :, None, :] - (costs[:, :, :, None] + costs[:, None, :, :])
        return {
            "boundary_step": over(steps, edges, strength, draw),
            "true_step": draw.of([stereo.border_step(t, t) for t in truth]),
            "round_wrong": over(course, edges, axis("round", ROUNDS + 1), draw),
            "patch_right": over(
                [
                    [p[f == flag].mean() for p, f in zip(patches, flat, strict=True)]
                    for flag in (0, 1)
                ],
                axis("texture", ["textured", "flat"]),
                draw,
            ),
            "chord_excess": over(bend, penalty, axis("difference", k[1:-1])),
            "triangle_excess": penalty.of(detour.max((1, 2, 3))),
            "node_curvature": axis("inner_label", k[1:-1]).of(np.diff(u[0, :, 0, 0], 2)),
            "link_cost": over(
                [[self._links(e, s) for s in self.strengths] for e in self.edges],
                *(edges, strength, axis("label", k), axis("other_label", k)),
            ),
            **self._matches(pairs, u),
        }

    def _matches(self, pairs: list[stereo.Pair], u: Floats) -> dict[str, Quantity]:
        """Mean costs in rows of the plane alone, and patches of a row by their correlations."""
        plane = np.array([(pair.disparity == pair.disparity[0, 0]).all(1) for pair in pairs])
        flat = np.array([pair.flat[:, 0] for pair in pairs])
        mean = [
            [own[:, row].mean((1, 2)) for own, row in zip(u, plane & on, strict=True)]
            for on in (~flat, flat)
        ]
        row, half = self.rows // 8, WINDOW // 2
        inside = range(half, self.columns - half)
        left, right = pairs[0].left, pairs[0].right
        rows = slice(row - half, row + half + 1)
        best = [
            int(
                np.argmax(
                    [
                        np.corrcoef(
                            left[rows, j - half : j + half + 1].ravel(),
                            right[rows, j + y - half : j + y + half + 1].ravel(),
                        )[0, 1]
                        for y in range(self.labels)
                    ]
                )
            )
            for j in inside
        ]
        found = stereo.matched_patches(pairs[0], self.labels, WINDOW)[row, half:-half]
        label, column = axis("label", self.labels), axis("column", self.columns)
        led = [[right[row, j + y] for j in column.values] for y in label.values]
        return {
            "left_dot": column.of(left[row]),
            "right_dot": over(led, label, column),
            "node_cost": over(u[0, :, row], label, column),
            "plane_cost": over(
                np.swapaxes(mean, 1, 2),
                *(axis("texture", ["textured", "flat"]), axis("label", self.labels)),
                axis("draw", self.draws),
            ),
            "patch": over(
                [found, best], axis("way", ["filters", "patch by patch"]), axis("inside", inside)
            ),
        }


def _changes(y: Ints, u: Floats, V: Floats, near: Floats) -> Floats:
    """Cost of giving a pixel another label, (draw, label, pixel); zero for its own."""
    flat, own = u.reshape(*u.shape[:2], -1), y.reshape(len(y), -1)
    cost = flat + np.einsum("dkp,ep->dke", V[:, own].swapaxes(0, 1), near)
    return np.asarray(cost - np.take_along_axis(cost, own[:, None], 1))


def _by_joint(u: Floats, log_prior: Floats, states: Ints) -> Floats:
    """Marginals of p(y | x) from the joint (19.23): prior of every labelling times likelihoods."""
    flat = u.reshape(*u.shape[:2], -1)
    pixels = np.arange(len(states))[:, None]
    p = np.exp(log_prior - np.array([own[states, pixels].sum(0) for own in flat]))
    p /= p.sum(-1, keepdims=True)
    return np.stack([p @ (states == k).T for k in range(u.shape[1])], 1).reshape(u.shape)
