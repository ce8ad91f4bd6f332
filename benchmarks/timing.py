"""Alternating timing of two functions with the same answer, and the record of the result."""

import json
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Growth:
    """Growth of our cost: seconds at each size, the fitted exponent and the theoretical one."""

    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    exponent: float
    theory: float


@dataclass(frozen=True)
class Floor:
    """A lower bound of the time: the necessary part of a task, timed in the rounds of a case."""

    what: str  # "the rows read once from memory"
    action: Callable[[], object]
    repeats: int = 0  # calls per round; 0 means as many as the clock needs


@dataclass(frozen=True)
class Limit:
    """The measured floor."""

    what: str
    seconds: float


@dataclass(frozen=True)
class Result:
    """One case: medians, their ratio (peer over ours), its spread over the rounds, and the goal."""

    case: str
    peer: str
    size: str
    ours_s: float
    peer_s: float
    ratio: float
    spread: tuple[float, float]
    goal: str
    tolerance: float | None = None  # relative tolerance of the answers
    growth: Growth | None = None
    memory: tuple[int, int] | None = None  # peak bytes above the data: ours, peer
    floor: Limit | None = None
    note: str = ""

    def with_more(self, **more: Any) -> "Result":
        return replace(self, **more)


def compare(
    case: str,
    peer: str,
    size: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    goal: str,
    rounds: int = 5,
    scale: float = 1.0,
    repeats: tuple[int, int] = (1, 1),
    clock: Callable[[Callable[[], object], int], float] | None = None,
    floor: Floor | None = None,
) -> Result:
    """Time both alternately, and the floor.

    The task of the peer is `scale` times smaller. `clock` measures the time of the peer if that
    takes more than one call.
    """
    read = clock or seconds
    bare = floor or Floor("", lambda: None, repeats=1)
    bare_repeats = bare.repeats or enough(bare.action)
    times = [
        (
            seconds(ours, repeats[0]),
            scale * read(theirs, repeats[1]),
            seconds(bare.action, bare_repeats),
        )
        for _ in range(rounds)
    ]
    ratios = [theirs_s / ours_s for ours_s, theirs_s, _ in times]
    ours_s, peer_s, floor_s = (statistics.median(column) for column in zip(*times, strict=True))
    spread = (min(ratios), max(ratios))
    limit = Limit(floor.what, floor_s) if floor else None
    return Result(case, peer, size, ours_s, peer_s, peer_s / ours_s, spread, goal, floor=limit)


def seconds(action: Callable[[], object], repeats: int = 1) -> float:
    """Mean time of a call over the repeats."""
    start = time.perf_counter()
    for _ in range(repeats):
        action()
    return (time.perf_counter() - start) / repeats


def enough(action: Callable[[], object], at_least: float = 0.02) -> int:
    """Number of repeats that the clock needs."""
    return max(1, math.ceil(at_least / max(seconds(action), 1e-7)))


def save(part: str, results: list[Result], path: Path, **about: str) -> None:
    """Replace the records of a part of the file, and keep the other parts."""
    saved = json.loads(path.read_text()) if path.exists() else {}
    parts = saved if isinstance(saved, dict) else {}  # files of an old format contain a list
    parts[part] = {**about, "results": [asdict(result) for result in results]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(parts, indent=1) + "\n")


def number(value: float) -> str:
    """A ratio with two digits, or with all digits before the point."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
