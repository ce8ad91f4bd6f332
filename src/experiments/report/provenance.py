"""Time, machine, versions and duration of recorded runs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from bythebook.experiments.report.result_pages import ResultPage
from bythebook.experiments.store.record import Record

N_SLOWEST = 10


def format_time(seconds: float) -> str:
    """A time in UTC, so that the report has the same bytes in every time zone."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def format_duration(seconds: float) -> str:
    """A duration with its unit: ms, s, min or h."""
    if seconds < 0.001:
        return "under 1 ms"
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def format_commit(git: dict[str, Any]) -> str:
    """The commit as text."""
    if not git["commit"]:
        return "not from a checkout"
    return str(git["commit"]) + (", with uncommitted changes" if git["dirty"] else "")


def summarise_provenance(results: Sequence[ResultPage]) -> dict[str, Any]:
    """The provenance of all runs; where they differ, every value with its number of runs."""
    records = [result.record for result in results if result.record is not None]
    if not records:
        return {}
    facts = [record["provenance"] for record in records]
    starts = [entry["started"] for entry in facts]
    ends = [entry["started"] + entry["seconds"] for entry in facts]
    return {
        "first": format_time(min(starts)),
        "last": format_time(max(ends)),
        "seconds": format_duration(sum(entry["seconds"] for entry in facts)),
        "cpu": format_duration(sum(entry["cpu_seconds"] for entry in facts)),
        "rows": {
            "commit": _values(format_commit(entry["git"]) for entry in facts),
            "machine": _values(_machine(entry) for entry in facts),
            "Python": _values(entry["python"] for entry in facts),
            "packages": _values(_packages(entry) for entry in facts),
        },
    }


def slowest(results: Sequence[ResultPage]) -> list[ResultPage]:
    """The results that took longest to compute."""
    finished = [result for result in results if result.record is not None]
    return sorted(finished, key=lambda result: -_seconds(result.record))[:N_SLOWEST]


def _seconds(record: Record | None) -> float:
    return float(record["provenance"]["seconds"]) if record is not None else 0.0


def _machine(entry: dict[str, Any]) -> str:
    return f"{entry['platform']}, {entry['cores']} cores"


def _packages(entry: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in entry["packages"].items())


def _values(texts: Iterable[str]) -> list[tuple[str, int]]:
    """Each distinct value with its number of runs, the most frequent first."""
    counts = Counter(texts)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
