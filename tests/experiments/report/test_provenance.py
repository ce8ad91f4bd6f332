"""Provenance: formats of times, durations and commits, and the summary of all runs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.report import provenance
from bythebook.experiments.report.result_pages import ResultPage
from bythebook.experiments.store.record import Record


def test_slowest_first(made: Any) -> None:
    text = made.text("index.html").partition("The slowest results")[2]
    positions = [text.index(f"experiments/{name}.html") for name in reversed(made.claims)]
    assert positions == sorted(positions)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0004, "under 1 ms"),
        (0.25, "250 ms"),
        (59.94, "59.9 s"),
        (61, "1 min 01 s"),
        (7260, "2 h 01 min"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert provenance.format_duration(seconds) == words


def _seconds(words: str) -> float:
    """The duration that a text gives, in seconds."""
    parts = words.split()
    unit = {"ms": 0.001, "s": 1, "min": 60, "h": 3600}
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return sum(float(number) * unit[name] for number, name in pairs)


@given(st.floats(0.001, 60) | st.floats(60, 3599) | st.floats(3599, 1e6))
def test_a_duration_is_correct_to_half_of_its_last_digit(seconds: float) -> None:
    half = 0.0005 if seconds < 1 else 0.05 if seconds < 60 else 0.5 if seconds < 3599.5 else 60
    assert abs(_seconds(provenance.format_duration(seconds)) - seconds) <= half * (1 + 1e-9)


@given(st.integers(0, 4 * 10**9))
def test_a_time_is_in_utc(seconds: int) -> None:
    expected = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    assert provenance.format_time(seconds) == f"{expected:%Y-%m-%d %H:%M:%S} UTC"


def page(started: float, python: str, commit: str | None = None) -> ResultPage:
    facts = {"started": started, "seconds": 2.0, "cpu_seconds": 1.0, "python": python}
    facts |= {"git": {"commit": commit, "dirty": True}, "platform": "p", "cores": 2}
    return ResultPage(
        "a/b", "", {}, Record(None, {"provenance": {**facts, "packages": {"numpy": "2"}}})
    )  # type: ignore[arg-type]


def test_values_that_differ_between_runs_are_listed_with_their_counts() -> None:
    summary = provenance.summarise_provenance(
        [page(60, "3.12"), page(0, "3.11", "feed"), page(30, "3.11")]
    )
    assert (summary["first"], summary["last"]) == (
        "1970-01-01 00:00:00 UTC",
        "1970-01-01 00:01:02 UTC",
    )
    assert (summary["seconds"], summary["cpu"]) == ("6.0 s", "3.0 s")
    assert summary["rows"]["Python"] == [("3.11", 2), ("3.12", 1)]
    assert summary["rows"]["commit"][0] == ("not from a checkout", 2)
    assert summary["rows"]["commit"][1] == ("feed, with uncommitted changes", 1)
    assert provenance.summarise_provenance([ResultPage("a/b", "", {}, None)]) == {}
