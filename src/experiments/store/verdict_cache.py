"""Cache of the verdict counts of the latest run of each experiment.

Verdicts are computed from records. Lists need only their counts, which are cached in the outputs
folder with the run id and a checksum of the claims and the judging code. They are computed again if
any of these has changed.
"""

import json
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from bythebook.experiments.config import catalogue
from bythebook.experiments.core.atomic_files import read_json_or_empty, write_text_atomic
from bythebook.experiments.core.verdicts import count_separately

FILE = ".verdicts.json"
_JUDGING_MODULES = (
    *("alignment", "claims", "equations", "evidence", "expressions", "functions", "judging"),
    *("let", "operations", "printed_draws", "printed_numbers", "quantifiers", "verdicts"),
)


def cached_verdict_counts(outputs: Path, names: Iterable[str]) -> dict[str, dict[str, int] | None]:
    """The verdict counts of the latest run of each experiment; None without a run."""
    cache = read_json_or_empty(outputs / FILE)
    counts: dict[str, dict[str, int] | None] = {}
    changed = False
    for name in names:
        folders = _runs(outputs / "runs" / name)
        if not folders:
            counts[name] = None
            continue
        depends = [folders[0].name, _checksum(name)]
        entry: Any = cache.get(name)
        if not _is_valid_entry(entry) or entry["depends"] != depends:
            cache[name] = entry = {"depends": depends, "counts": _verdict_counts(outputs, name)}
            changed = True
        counts[name] = entry["counts"]
    if changed:
        _write(outputs, cache)
    return counts


def _is_valid_entry(entry: Any) -> bool:
    """Whether an entry has the form that this module writes."""
    if not isinstance(entry, dict) or not {"depends", "counts"} <= entry.keys():
        return False
    counts = entry["counts"]
    if counts is None:
        return True
    return isinstance(counts, dict) and all(type(number) is int for number in counts.values())


def _runs(folder: Path) -> list[Path]:
    """The run folders of an experiment, newest first."""
    files = [(path.stat().st_mtime_ns, path.parent) for path in folder.glob("[!.]*/run.json")]
    return [run for _, run in sorted(files, reverse=True)]


def _checksum(name: str) -> int:
    """A checksum of the experiment's file and of the judging code."""
    return zlib.crc32(
        (catalogue.CONF_DIR / "experiment" / f"{name}.yaml").read_bytes(), _judging_code_checksum()
    )


def _judging_code_checksum() -> int:
    folder = Path(__file__).parents[1] / "core"
    return zlib.crc32(b"".join((folder / f"{name}.py").read_bytes() for name in _JUDGING_MODULES))


def _verdict_counts(outputs: Path, name: str) -> dict[str, int] | None:
    from bythebook.experiments.core.errors import InputError
    from bythebook.experiments.store.run_store import RunStore

    record = RunStore(outputs).latest_run(name)
    if record is None:
        return None
    with suppress(InputError):
        return dict(count_separately(record.verdicts))
    return None


def _write(outputs: Path, cache: dict[str, Any]) -> None:
    with suppress(OSError):  # the folder may be read-only
        write_text_atomic(outputs / FILE, json.dumps(cache))
