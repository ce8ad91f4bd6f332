"""Evidence up- and downstream of a node or a link, from the joint table (Ghahramani 8.2).

The graph is directed and singly connected. A node's own observation counts as downstream.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from models.graphs.factors import Factor, condition, keep
from models.types import Floats

Setting = dict[str, int]
Arrow = tuple[str, str]


def side(links: Sequence[Arrow], start: str, cut: Sequence[Arrow]) -> set[str]:
    """Who can be reached from a node, either way along links, without some of them."""
    left = [link for link in links if link not in cut]
    reached, ahead = {start}, {start}
    while ahead:
        near = {b if a in ahead else a for a, b in left if (a in ahead) != (b in ahead)}
        ahead = near - reached
        reached |= ahead
    return reached


class Evidence(NamedTuple):
    """The joint table, and which evidence is up- and downstream of a node or of a link."""

    joint: Factor
    links: list[Arrow]
    given: Setting

    def above(self, x: str) -> Setting:
        """The evidence upstream of a node; its own counts as downstream."""
        here = side(self.links, x, [link for link in self.links if link[0] == x]) - {x}
        return {name: state for name, state in self.given.items() if name in here}

    def below(self, x: str) -> Setting:
        up = self.above(x)
        return {name: state for name, state in self.given.items() if name not in up}

    def before(self, x: str, y: str) -> Setting:
        """The evidence on the sender's side of a link."""
        here = side(self.links, x, [(x, y)])
        return {name: state for name, state in self.given.items() if name in here}

    def behind(self, x: str, y: str) -> Setting:
        here = side(self.links, y, [(x, y)])
        return {name: state for name, state in self.given.items() if name in here}

    def _with(self, x: str, given: Setting) -> Floats:
        """P(x, e) for all values of x, also where x is part of the evidence."""
        rest = {name: state for name, state in given.items() if name != x}
        table = keep(condition(self.joint, rest), [x]).table
        return table * (np.arange(len(table)) == given[x]) if x in given else table

    def posterior(self, x: str, given: Setting) -> Floats:
        return _shared(self._with(x, given))

    def likelihood(self, x: str, given: Setting) -> Floats:
        """P(e | x)."""
        return np.asarray(self._with(x, given) / self._with(x, {}))

    def product(self, x: str) -> Floats:
        """P(x | upstream) P(downstream | x), normalised (33)."""
        return _shared(self.posterior(x, self.above(x)) * self.likelihood(x, self.below(x)))

    def dependence(self, x: str) -> float:
        """Of what is up- and what is downstream, given x."""
        up, down = self.likelihood(x, self.above(x)), self.likelihood(x, self.below(x))
        return float(np.abs(self.likelihood(x, self.given) - up * down).max())

    def likelihood_gap(self, x: str, children: Sequence[str]) -> float:
        """From the product over the children, and the node's own observation (34)."""
        own = {x: self.given[x]} if x in self.given else {}
        parts = [
            self.likelihood(x, own),
            *(self.likelihood(x, self.behind(x, y)) for y in children),
        ]
        return float(np.abs(self.likelihood(x, self.below(x)) - np.prod(parts, axis=0)).max())


def _shared(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum())
