"""Where, when and with what the runs were made, and how long they took."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from experiments.records.record import Record
from experiments.report.content import Result

SLOWEST = 10


def when(seconds: float) -> str:
    """A moment, the same text wherever the report is written."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def duration(seconds: float) -> str:
    """A length of time to the digits that matter."""
    if seconds < 0.001:
        return "under 1 ms"
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def commit(git: dict[str, Any]) -> str:
    """The commit in words."""
    if not git["commit"]:
        return "not from a checkout"
    return str(git["commit"]) + (", with uncommitted changes" if git["dirty"] else "")


def summary(results: Sequence[Result]) -> dict[str, Any]:
    """One entry a fact; where the runs disagree, every value with the number of its runs."""
    records = [result.record for result in results if result.record is not None]
    if not records:
        return {}
    facts = [record["provenance"] for record in records]
    starts = [entry["started"] for entry in facts]
    ends = [entry["started"] + entry["seconds"] for entry in facts]
    return {
        "first": when(min(starts)),
        "last": when(max(ends)),
        "seconds": duration(sum(entry["seconds"] for entry in facts)),
        "cpu": duration(sum(entry["cpu_seconds"] for entry in facts)),
        "rows": {
            "commit": _values(commit(entry["git"]) for entry in facts),
            "machine": _values(_machine(entry) for entry in facts),
            "Python": _values(entry["python"] for entry in facts),
            "packages": _values(_packages(entry) for entry in facts),
        },
    }


def slowest(results: Sequence[Result]) -> list[Result]:
    """The results that took longest to compute."""
    ran = [result for result in results if result.record is not None]
    return sorted(ran, key=lambda result: -_seconds(result.record))[:SLOWEST]


def _seconds(record: Record | None) -> float:
    return float(record["provenance"]["seconds"]) if record is not None else 0.0


def _machine(entry: dict[str, Any]) -> str:
    return f"{entry['platform']}, {entry['cores']} cores"


def _packages(entry: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in entry["packages"].items())


def _values(found: Iterable[str]) -> list[tuple[str, int]]:
    """Each distinct value and how many runs have it, the commonest first."""
    counted = Counter(found)
    return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
