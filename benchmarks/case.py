"""A case: our code and another package on the same data, with the same answer.

    Case("ridge path with exact LOO", "scikit-learn RidgeCV", goal=5, make=ridge, size=1000,
         unit="penalties", package="sklearn", sizes=(125, 250, 500, 1000), theory=1.0)

`make(size)` prepares the data before the timing and returns both functions as a Contest. Each
function returns its answer, named arrays, and the answers are compared before the timing.
"""

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.timing import Floor, Growth, Result, compare, enough, seconds

Answer = Mapping[str, Any]  # named arrays or numbers


class Disagree(Exception):
    """The two functions do not give the same answer."""


@dataclass(frozen=True)
class Contest:
    """Two functions that compute the same answer."""

    ours: Callable[[], Answer]
    peer: Callable[[], Answer]
    tolerance: float = 1e-8  # relative; wider only where the algorithm's own tolerance is, with why
    why: str = ""
    floor: Floor | None = None  # a lower bound of the time on this machine


@dataclass(frozen=True)
class Case:
    """A comparison: its functions, sizes, goal, and the expected growth of our cost."""

    name: str
    peer: str
    goal: float  # time of the peer divided by our time
    make: Callable[[int], Contest]
    size: int  # the size to which the goal applies
    unit: str  # what size counts: "sequences of 300"
    package: str  # the import name of the peer
    sizes: tuple[int, ...] = ()  # at least four, for the growth of our cost
    theory: float = 1.0  # the exponent that an operation count gives
    rounds: int = 5
    note: str = ""
    peer_size: int = (
        0  # smaller than size if the peer would take minutes; its time is scaled linearly
    )
    memory: Callable[[int], tuple[int, int]] | None = None  # peak bytes: ours, peer

    def run(self) -> Result:
        """Compare the answers, time both, and fit the growth of our cost."""
        contest = self.make(self.size)
        small = self.make(self.peer_size) if self.peer_size else contest
        agree(small.ours(), small.peer(), small.tolerance)
        result = compare(
            self.name,
            self.peer,
            f"{self.size:,} {self.unit}",
            contest.ours,
            small.peer,
            goal=f"{self.goal:g}",
            rounds=self.rounds,
            scale=self.size / self.peer_size if self.peer_size else 1.0,
            repeats=(enough(contest.ours), enough(small.peer)),
            floor=contest.floor,
        )
        return result.with_more(
            growth=self.grown() if self.sizes else None,
            memory=self.memory(self.size) if self.memory else None,
            tolerance=small.tolerance,
            note=" ".join(filter(None, [self.note, small.why])),
        )

    def grown(self) -> Growth:
        """Our time over the sizes, and the exponent that fits them best."""
        times = [_best(self.make(size).ours) for size in self.sizes]
        logs = [[math.log(value) for value in column] for column in (self.sizes, times)]
        exponent = statistics.linear_regression(*logs).slope
        return Growth(self.sizes, tuple(times), exponent, self.theory)


def agree(ours: Answer, peer: Answer, tolerance: float) -> None:
    """Raise `Disagree` unless all arrays agree, relative to their largest number."""
    if ours.keys() != peer.keys():
        raise Disagree(f"ours gives {sorted(ours)}, the peer {sorted(peer)}")
    for name, expected in peer.items():
        mine, theirs = np.asarray(ours[name]), np.asarray(expected)
        if mine.shape != theirs.shape:
            raise Disagree(f"{name}: shape {mine.shape} against {theirs.shape}")
        scale = np.abs(theirs).max(initial=0.0)
        gap = np.abs(mine - theirs).max(initial=0.0)
        if not gap <= tolerance * (scale or 1.0):
            raise Disagree(f"{name}: they differ by {gap:.3g} where the scale is {scale:.3g}")


def _best(action: Callable[[], object], rounds: int = 3) -> float:
    """The shortest time of several rounds, each long enough for the clock."""
    action()
    repeats = enough(action)
    return min(seconds(action, repeats) for _ in range(rounds))
