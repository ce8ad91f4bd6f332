"""PageRank of a web: solved, by the power method, and by surfers (MLAPP 17.2.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import page_rank as ranks
from bythebook.models.chains.markov_chain import null_dimension
from bythebook.models.chains.page_rank import Web
from bythebook.models.datasets import load
from bythebook.models.types import Floats, Ints

SMALL = 30  # pages: every link that is missing is tried
STEPS = 31  # of the power method that are recorded for a small web
FOLLOW = 0.85  # in random webs


@dataclass
class PageRank(Study):
    """PageRank of the pages of one web, and properties of the matrices of random webs."""

    headline = {"top_rank": "max(rank)"}
    quantities = {
        "rank": quantity("PageRank of a page", "follow page"),
        "in_links": quantity("links to a page", "page"),
        "power_change": quantity("largest change of an entry in a step", "follow iteration"),
        "power_error": quantity("sum of the absolute errors of the iterate", "follow iteration"),
        "delta_share": quantity("share of the entries of M that equal delta"),
        "iterate": quantity("rank of a page after some steps", "step of_page"),
        "influence_agrees": quantity(
            "whether a link from the page of higher rank raises a third page's rank more", "pair"
        ),
        "same_out_links": quantity("whether both pages have as many links", "pair"),
        "surfer_error": quantity("sum of the absolute errors of the shares", "surfer visits"),
        "top_share": quantity("share of the visits to the page of highest rank", "surfer visits"),
        "solutions": quantity("dimension of the solutions of v = M v in a random web", "p web"),
    }
    axes = {
        "follow": axis_of("probability p of following a link"),
        "page": axis_of("page"),
        "iteration": axis_of("iteration of the power method"),
        "step": axis_of("step of the power method"),
        "of_page": axis_of("page"),
        "pair": axis_of("pair of pages that do not link to a third one"),
        "surfer": axis_of("surfer"),
        "visits": axis_of("pages visited"),
        "web": axis_of("random web"),
        "p": axis_of("probability of following a link in a random web"),
    }

    data: str | None = knob(None, "the web", dataset="graph")
    links: list[str] = knob(
        [], "or its links, from and to: '1 2', pages from 1 on", may_be_empty=True, distinct=True
    )
    follows: list[float] = knob(
        [0.85], "p: chances of following a link", above=0, below=1, distinct=True
    )
    iterations: int = knob(100, "steps of the power method", at_least=1, at_most=10_000)
    surfers: int = knob(0, "surfers, with the first p; 0: none", at_least=0, at_most=1000)
    surf_steps: list[int] = knob([1000], "visits after which they count", at_least=1, distinct=True)
    webs: int = knob(0, "random webs; 0: none", at_least=0, at_most=10_000)

    def problems(self) -> Iterator[str]:
        if (self.data is None) == (not self.links):
            yield "study.data and study.links: one of the two is needed, and only one"
        for text in self.links:
            ends = text.split()
            if len(ends) != 2 or not all(e.isdigit() and int(e) >= 1 for e in ends):
                yield f"study.links: '{text}'; allowed: '1 2', from one page to another"

    def _web(self) -> tuple[Web, list[str]]:
        if self.data is not None:
            graph = load(self.data).graph
            return Web(graph.links, len(graph.nodes)), list(graph.nodes)
        pairs = np.array([[int(end) - 1 for end in text.split()] for text in self.links])
        pages = int(pairs.max()) + 1
        return Web(pairs, pages), [str(k + 1) for k in range(pages)]

    def run(self, rng: Generator) -> Outcome:
        web, names = self._web()
        rank = np.array([ranks.solve(web, p) for p in self.follows])
        courses = [
            ranks.powers(web, p, self.iterations, truth)
            for p, truth in zip(self.follows, rank, strict=True)
        ]
        coords: dict[str, Any] = {
            "follow": self.follows,
            "page": names,
            "iteration": np.arange(1, self.iterations + 1),
        }
        found: dict[str, Any] = {}
        if web.pages <= SMALL:
            coords |= {"step": STEPS, "of_page": np.arange(1, web.pages + 1)}
            missing = ranks.influence(web, self.follows[0])
            coords["pair"] = len(missing.agrees)
            course = ranks.iterates(web, self.follows[0])
            found["iterate"] = "step of_page", [next(course) for _ in range(STEPS)]
            found["influence_agrees"] = "pair", missing.agrees
            found["same_out_links"] = "pair", missing.same_out_links
        if self.surfers:
            coords |= {"surfer": self.surfers, "visits": sorted(self.surf_steps)}
            error, top = self._surf(web, rank[0], rng)
            found["surfer_error"] = "surfer visits", error
            found["top_share"] = "surfer visits", top
        if self.webs:
            coords |= {"p": [FOLLOW, 1.0], "web": self.webs}
            found["solutions"] = "p web", self._solutions(rng)
        # Of M's entries those without a link from a page that leads on are delta.
        delta_share = ((web.out_links > 0) * (web.pages - web.out_links)).sum() / web.pages**2
        return outcome(
            coords,
            rank=("follow page", rank),
            in_links=("page", web.in_links),
            power_change=("follow iteration", [course.change for course in courses]),
            power_error=("follow iteration", [course.error for course in courses]),
            delta_share=delta_share,
            **found,
        )

    def _surf(self, web: Web, rank: Floats, rng: Generator) -> Floats:
        """Errors of the shares of each surfer, and shares of the page of highest rank."""
        visits, best = sorted(self.surf_steps), int(rank.argmax())
        found = np.empty((2, self.surfers, len(visits)))
        for s in range(self.surfers):
            seen = ranks.surf(web, self.follows[0], max(visits), rng)
            for k, steps in enumerate(visits):
                shares = np.bincount(seen[:steps], minlength=web.pages) / steps
                found[:, s, k] = np.abs(shares - rank).sum(), shares[best]
        return found

    def _solutions(self, rng: Generator) -> Ints:
        """The number of independent stationary distributions of random webs, without jumps too."""
        webs = [ranks.draw_web(int(rng.integers(5, 16)), rng) for _ in range(self.webs)]
        return np.array([[null_dimension(web.matrix(p).T) for web in webs] for p in (FOLLOW, 1.0)])
