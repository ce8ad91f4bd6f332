"""Interleaved timing of two ways to the same answer, and the record that comes of it."""

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path


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
) -> Result:
    """Time both by turns; `scale` is how many times smaller the peer's task was."""
    pairs = [(_seconds(ours), scale * _seconds(theirs)) for _ in range(rounds)]
    ratios = [theirs_s / ours_s for ours_s, theirs_s in pairs]
    ours_s, peer_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    spread = (min(ratios), max(ratios))
    return Result(case, peer, size, ours_s, peer_s, peer_s / ours_s, spread, goal)


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def save(results: list[Result], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")


def table(results: list[Result]) -> str:
    lines = [
        "| case | peer | size | ours | peer | ratio | range | goal |",
        "| --- | --- | --- | ---: | ---: | ---: | --- | --- |",
    ]
    for r in results:
        low, high = r.spread
        lines.append(
            f"| {r.case} | {r.peer} | {r.size} | {r.ours_s:.3g} s | {r.peer_s:.3g} s"
            f" | {r.ratio:.1f} | {low:.1f} to {high:.1f} | {r.goal} |"
        )
    return "\n".join(lines)
