"""The cache of verdict counts: used until a run, a file or the judging code changes."""

from collections import Counter
from pathlib import Path

import pytest

from bythebook.experiments.config.validation import load_job
from bythebook.experiments.execution.runner import run_jobs
from bythebook.experiments.store import verdict_cache
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.verdict_cache import FILE, cached_verdict_counts

NAME = "fcml/fig-1.15"


def test_counts_are_those_of_the_newest_run(outputs: Path, recorded: Record) -> None:
    counts = Counter(
        verdict["standing"] if verdict["origin"] == "printed" else "derived hold"
        for verdict in recorded.verdicts
    )
    assert counts["derived hold"] >= 1
    assert cached_verdict_counts(outputs, [NAME, "fcml/fig-1.5"]) == {
        NAME: counts,
        "fcml/fig-1.5": None,
    }


def test_cached_counts_are_not_computed_again(
    outputs: Path, recorded: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = cached_verdict_counts(outputs, [NAME])
    monkeypatch.setattr(verdict_cache, "_verdict_counts", lambda *_: pytest.fail("computed again"))
    assert cached_verdict_counts(outputs, [NAME]) == found


def changed_file(monkeypatch: pytest.MonkeyPatch, outputs: Path) -> None:
    monkeypatch.setattr(verdict_cache, "_checksum", lambda _: 0)


def changed_run(monkeypatch: pytest.MonkeyPatch, outputs: Path) -> None:
    assert list(run_jobs([load_job(NAME)], outputs, force=True))


def invalid_cache(monkeypatch: pytest.MonkeyPatch, outputs: Path) -> None:
    (outputs / FILE).write_text("{")


@pytest.mark.parametrize("change", [changed_file, changed_run, invalid_cache])
def test_a_changed_file_run_or_cache_is_computed_again(
    outputs: Path,
    recorded: Record,
    monkeypatch: pytest.MonkeyPatch,
    change: object,
) -> None:
    found = cached_verdict_counts(outputs, [NAME])
    change(monkeypatch, outputs)  # type: ignore[operator]
    computed: list[str] = []
    judge = verdict_cache._verdict_counts
    monkeypatch.setattr(
        verdict_cache,
        "_verdict_counts",
        lambda outputs, name: (computed.append(name), judge(outputs, name))[1],
    )
    assert cached_verdict_counts(outputs, [NAME]) == found
    assert computed == [NAME]


def test_the_checksum_depends_on_the_judging_code_and_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = verdict_cache._checksum(NAME)
    monkeypatch.setattr(verdict_cache, "_judging_code_checksum", lambda: 1)
    assert verdict_cache._checksum(NAME) != before
    monkeypatch.undo()
    file = tmp_path / "experiment" / f"{NAME}.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("another")
    monkeypatch.setattr(verdict_cache.catalogue, "CONF_DIR", tmp_path)
    assert verdict_cache._checksum(NAME) != before


def test_a_read_only_folder_is_listed(
    outputs: Path, recorded: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "write_text", refuse)
    assert cached_verdict_counts(outputs, [NAME])[NAME]
