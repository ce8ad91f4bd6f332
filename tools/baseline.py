"""Write the quantities, verdicts and views of all results to a file, or compare with a file.

    python -m tools.baseline write tools/baseline.json.xz      # from recorded runs
    python -m tools.baseline compare tools/baseline.json.xz    # with the present recorded runs

The file has, for each result, a digest of each quantity and each verdict with its evaluated
sides, and the output of `list`, `show`, `runs` and results.json. A comparison reports every
quantity and verdict that changed, and counts the changed lines of the views.

The last bits of some results depend on the processor. The file in this folder was recorded with
OPENBLAS_CORETYPE=Haswell and OPENBLAS_NUM_THREADS=1; record with the same settings to compare.
"""

import argparse
import contextlib
import difflib
import hashlib
import io
import json
import lzma
import re
from pathlib import Path
from typing import Any

import numpy as np

from bythebook.experiments.cli.main import main as command
from bythebook.experiments.config import catalogue
from bythebook.experiments.config.paths import resolve_output_dir
from bythebook.experiments.core.outcome import Quantity
from bythebook.experiments.report.scoreboard import claim_records
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_store import RunStore

JUDGED = ("verdict", "value", "computed", "evidence", "printed", "expected", "weak", "standing")
CHANGES_WITH_EACH_RUN = re.compile(r"\b[0-9a-f]{16}-\d+\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("write", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--verbose", action="store_true", help="print the changed lines of views")
    options = parser.parse_args()
    now = collect()
    if options.action == "write":
        text = json.dumps(now, indent=0, sort_keys=True, ensure_ascii=False)
        options.file.write_bytes(lzma.compress(text.encode()))
        print(f"wrote {len(now['results'])} results to {options.file}")
        return
    before = json.loads(lzma.decompress(options.file.read_bytes()))
    changes = compare(before["results"], now["results"])
    print("\n".join(changes) or "no quantity and no verdict changed")
    for name, text in before["views"].items():
        lines = changed_lines(text, now["views"].get(renamed(name, now["views"]), ""))
        if lines:
            print(f"{name}: {len(lines)} changed lines")
            if options.verbose:
                print("\n".join(lines))
    raise SystemExit(bool(changes))


def collect() -> dict[str, Any]:
    """All results and views, from the latest recorded runs."""
    store = RunStore(resolve_output_dir())
    latest = {name: store.latest_run(name) for name in catalogue.experiment_names()}
    records = {name: record for name, record in latest.items() if record is not None}
    missing = sorted(latest.keys() - records.keys())
    if missing:
        raise SystemExit(f"{len(missing)} results have no run, {missing[0]} among them")
    views = {f"show {name}": printed("show", name) for name in records}
    views |= {
        "list": printed("list"),
        "runs": "\n".join(sorted(printed("runs", "--limit", "0").splitlines())),
    }
    views["results.json"] = json.dumps(claim_records(records), indent=0, default=str)
    return {"results": {name: summary(record) for name, record in records.items()}, "views": views}


def summary(record: Record) -> dict[str, Any]:
    """The digests of a record's quantities, and its verdicts by expression and place."""
    verdicts = {}
    for verdict in record.verdicts:
        claim = " | ".join(str(verdict[name] or "") for name in ("expression", "printed", "place"))
        verdicts[claim] = {name: verdict[name] for name in JUDGED}
    return {
        "quantities": {name: quantity_digest(q) for name, q in record.outcome.items()},
        "verdicts": verdicts,
    }


def quantity_digest(quantity: Quantity) -> str:
    """A digest of values, axes and coordinates, bit for bit."""
    digest = hashlib.sha256()
    arrays = [("", quantity.values), *((axis.name, axis.values) for axis in quantity.axes)]
    for name, array in arrays:
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def printed(*arguments: str) -> str:
    """The output of a command, without run ids and times."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = command(list(arguments))
    if code:
        raise SystemExit(f"`bythebook {' '.join(arguments)}` ended with {code}")
    lines = [" ".join(line.split()) for line in output.getvalue().splitlines()]
    return CHANGES_WITH_EACH_RUN.sub("-", "\n".join(lines))


def compare(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """One line for each quantity or verdict that is new, gone or different."""
    changes = []
    names = {name: renamed(name, now) for name in before}
    changes += [f"{name}: new result" for name in now.keys() - set(names.values())]
    for name, new_name in names.items():
        if new_name not in now:
            changes.append(f"{name}: result is gone")
            continue
        for part in ("quantities", "verdicts"):
            old, new = before[name][part], now[new_name][part]
            for key in sorted(old.keys() | new.keys()):
                if key not in new or key not in old:
                    changes.append(f"{name}: {'new' if key in new else 'gone'}: {key}")
                elif old[key] != new[key]:
                    changes.append(f"{name}: {key}: {difference(old[key], new[key])}")
    return changes


def difference(old: Any, new: Any) -> str:
    if not isinstance(old, dict):
        return f"{old} became {new}"
    parts = [f"{name} {old[name]} became {new[name]}" for name in old if old[name] != new[name]]
    return "; ".join(parts)


def renamed(name: str, among: dict[str, Any]) -> str:
    """The present name: words after the item were removed, and "table" was renamed to "tab"."""
    candidate = name if name in among else name.replace("/table-", "/tab-")
    while candidate not in among and "-" in candidate:
        candidate = candidate.rpartition("-")[0]
    return candidate


def changed_lines(old: str, new: str) -> list[str]:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


if __name__ == "__main__":
    main()
