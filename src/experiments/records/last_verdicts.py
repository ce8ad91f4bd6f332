"""How the newest run of each experiment came out, remembered so that a list need not judge again.

Verdicts are computed from records. A list of hundreds needs only their counts; they are kept beside
the runs with all that they depend on, and judged again where any of it has changed.
"""

import json
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from experiments.configuration import catalogue
from experiments.contract.verdicts import tallied
from experiments.contract.whole import mapping, replaced_text

FILE = ".verdicts.json"
_JUDGES = ("claims", "evidence", "expressions", "labelled", "verdicts", "vocabulary")


def last_verdicts(outputs: Path, names: Iterable[str]) -> dict[str, dict[str, int] | None]:
    """Verdict -> how many, for the newest finished run of each experiment; None where is none."""
    known = mapping(outputs / FILE)
    found: dict[str, dict[str, int] | None] = {}
    changed = False
    for name in names:
        folders = _runs(outputs / "runs" / name)
        if not folders:
            found[name] = None
            continue
        depends = [folders[0].name, _checksum(name)]
        entry: Any = known.get(name)
        if not _is_whole(entry) or entry["depends"] != depends:
            known[name] = entry = {"depends": depends, "counts": _judged(outputs, name)}
            changed = True
        found[name] = entry["counts"]
    if changed:
        _write(outputs, known)
    return found


def _is_whole(entry: Any) -> bool:
    """Is it what we write? Anybody may have changed it."""
    if not isinstance(entry, dict) or not {"depends", "counts"} <= entry.keys():
        return False
    counts = entry["counts"]
    plain = isinstance(counts, dict) and all(type(number) is int for number in counts.values())
    return counts is None or plain


def _runs(place: Path) -> list[Path]:
    """The run folders, newest first."""
    files = [(path.stat().st_mtime_ns, path.parent) for path in place.glob("[!.]*/run.json")]
    return [folder for _, folder in sorted(files, reverse=True)]


def _checksum(name: str) -> int:
    """Of the experiment's file, and of the code that judges."""
    return zlib.crc32((catalogue.ROOT / "experiment" / f"{name}.yaml").read_bytes(), _judges())


def _judges() -> int:
    folder = Path(__file__).parents[1] / "contract"
    return zlib.crc32(b"".join((folder / f"{name}.py").read_bytes() for name in _JUDGES))


def _judged(outputs: Path, name: str) -> dict[str, int] | None:
    from experiments.contract.errors import BadInput
    from experiments.records.store import RunStore

    record = RunStore(outputs).latest(name)
    if record is None:
        return None
    with suppress(BadInput):
        return dict(tallied(record.verdicts))
    return None


def _write(outputs: Path, known: dict[str, Any]) -> None:
    with suppress(OSError):  # a list of somebody else's folder is a list all the same
        replaced_text(outputs / FILE, json.dumps(known))
