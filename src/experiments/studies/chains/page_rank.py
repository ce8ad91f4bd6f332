"""PageRank of a web: solved, by the power method, and by surfers (MLAPP 17.2.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import page_rank as ranks
from bythebook.models.chains.markov_chain import null_dimension
from bythebook.models.chains.page_rank import Web
from bythebook.models.datasets import load
from bythebook.models.types import Floats

SMALL = 30  # pages: every link that is missing is tried
SHOWN = 31  # steps of the power method that are kept for a small web


@dataclass
class PageRank(Study):
    """PageRank of the pages of one web, and properties of the matrices of random webs."""

    headline = {"top_rank": "max(rank)"}
    more_quantities = True
    quantities = {
        "rank": quantity("PageRank of a page", "follow page"),
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
        follow, page = axis("follow", self.follows), axis("page", names)
        iteration = axis("iteration", range(1, self.iterations + 1))
        rank = np.array([ranks.solve(web, p) for p in self.follows])
        courses = [
            ranks.powers(web, p, self.iterations, truth)
            for p, truth in zip(self.follows, rank, strict=True)
        ]
        # Of M's entries those without a link from a page that leads on are delta.
        delta_share = ((web.out_links > 0) * (web.pages - web.out_links)).sum() / web.pages**2
        return Outcome(
            rank=over(rank, follow, page),
            in_links=page.of(web.in_links),
            out_links=page.of(web.out_links),
            power_change=over([course.change for course in courses], follow, iteration),
            power_error=over([course.error for course in courses], follow, iteration),
            delta_share=delta_share,
            **(self._small(web) if web.pages <= SMALL else {}),
            **(self._surf(web, rank[0], rng) if self.surfers else {}),
            **(self._webs(rng) if self.webs else {}),
        )

    def _small(self, web: Web) -> dict[str, Quantity]:
        """The power method step by step from a uniform start, and every link that is missing."""
        found = ranks.influence(web, self.follows[0])
        pair, shown = axis("pair", len(found.agrees)), axis("shown_step", SHOWN)
        course = ranks.iterates(web, self.follows[0])
        steps = [next(course) for _ in shown.values]
        return {
            "iterate": over(steps, shown, axis("of_page", range(1, web.pages + 1))),
            "influence_agrees": pair.of(found.agrees),
            "same_out_links": pair.of(found.same_out_links),
        }

    def _surf(self, web: Web, rank: Floats, rng: Generator) -> dict[str, Quantity]:
        surfer, visits = axis("surfer", self.surfers), axis("visits", sorted(self.surf_steps))
        error, top = np.empty((2, len(surfer), len(visits)))
        best = int(rank.argmax())
        shares = np.zeros(web.pages)
        for s in range(self.surfers):
            seen = ranks.surf(web, self.follows[0], max(self.surf_steps), rng)
            for k, steps in enumerate(visits.values):
                shares = np.bincount(seen[:steps], minlength=web.pages) / steps
                error[s, k], top[s, k] = np.abs(shares - rank).sum(), shares[best]
        return {
            "surfer_error": over(error, surfer, visits),
            "top_share": over(top, surfer, visits),
            "last_share": axis("drawn_page", web.pages).of(shares),  # of the last surfer
        }

    def _webs(self, rng: Generator) -> dict[str, Quantity]:
        p, number = 0.85, axis("web", self.webs)
        found = np.empty((6, self.webs))
        for k in range(self.webs):
            web = ranks.draw_web(int(rng.integers(5, 16)), rng)
            M = web.matrix(p)
            compact = p * web.GD.toarray() + np.ones((web.pages, 1)) * web.z(p)  # 17.37
            course = ranks.powers(web, p, self.iterations, ranks.solve(web, p))
            found[:, k] = (
                null_dimension(M.T),
                M.min(),
                np.abs(M.sum(0) - 1).max(),
                np.abs(M - compact).max(),
                course.error[-1],
                len(web.links) / web.pages**2,
            )
        gaps = "null_dimension", "least_entry", "column_gap", "compact_gap", "power_error"
        names = *gaps, "link_share"
        return {f"web_{name}": number.of(row) for name, row in zip(names, found, strict=True)}
