"""Effect of link farms on PageRank, and iterations after links change (MLAPP 17.2.4)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.chains import page_rank as ranks
from bythebook.models.chains.page_rank import Web
from bythebook.models.data_sets.generated import grown_links
from bythebook.models.types import Floats


@dataclass
class WebChanges(Study):
    """Effect of link farms on PageRank, and iterations needed after links change (MLAPP 17.2.4).

    Webs grow by preferential attachment. A farm promotes one page from the lower half of the ranks.
    No page links to the farm, and its pages link to that page alone. Places are counted without
    the pages of the farm.
    """

    headline = {"place_with_farm": "median(last(target_place, over='farm'))"}
    quantities = {
        "target_place": quantity("place of the promoted page by PageRank", "web farm"),
        "counted_place": quantity("place of the promoted page by number of links", "web farm"),
        "farm_rank": quantity("highest PageRank of a page of the farm", "web farm"),
        "median_rank": quantity("median PageRank of the web's own pages", "web farm"),
        "restart_iterations": quantity("iterations from the old ranks", "web"),
        "fresh_iterations": quantity("iterations from uniform ranks", "web"),
    }
    axes = {"web": axis_of("web"), "farm": axis_of("pages of the farm")}

    webs: int = knob(40, "webs", at_least=1, at_most=1000)
    pages: int = knob(200, "pages of a web", at_least=4, at_most=1000)
    follow: float = knob(0.85, "p: chance of following a link", above=0, below=1)
    farms: list[int] = knob([0, 10, 100, 1000], "pages of a farm", at_least=0, distinct=True)
    changed_links: int = knob(5, "links that are redrawn", at_least=1)
    tolerance: float = knob(1e-8, "change of an entry at which the iteration ends", above=0)

    def run(self, rng: Generator) -> Outcome:
        farms = sorted(self.farms)
        place, counted, farm_rank, middle = np.empty((4, self.webs, len(farms)))
        restart = np.empty((2, self.webs), dtype=np.int64)
        for w in range(self.webs):
            own = Web(grown_links(self.pages, rng), self.pages)
            old = ranks.solve(own, self.follow)
            lower = np.flatnonzero(old < np.median(old))
            target = int(rng.choice(lower))
            for f, size in enumerate(farms):
                grown = ranks.with_farm(own, target, size)
                rank, _ = ranks.settle(grown, self.follow, 1e-12)
                place[w, f] = ranks.place(rank[: self.pages], target)
                counted[w, f] = ranks.place(grown.in_links[: self.pages], target)
                middle[w, f] = np.median(rank[: self.pages])
                farm_rank[w, f] = rank[self.pages :].max() if size else 0.0
            restart[:, w] = self._restart(own, old, rng)
        return outcome(
            {"web": self.webs, "farm": farms},
            target_place=("web farm", place.astype(int)),
            counted_place=("web farm", counted.astype(int)),
            farm_rank=("web farm", farm_rank),
            median_rank=("web farm", middle),
            restart_iterations=("web", restart[0]),
            fresh_iterations=("web", restart[1]),
        )

    def _restart(self, own: Web, old: Floats, rng: Generator) -> tuple[int, int]:
        """Iterations from the old ranks and from uniform ones after some links have changed."""
        links = own.links.copy()
        which = rng.choice(len(links), min(self.changed_links, len(links)), replace=False)
        links[which, 1] = rng.integers(self.pages, size=len(which))
        new = Web(np.unique(links, axis=0), self.pages)
        restart, fresh = (
            ranks.settle(new, self.follow, self.tolerance, start)[1] for start in (old, None)
        )
        return restart, fresh
