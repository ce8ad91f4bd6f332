"""`make mutants`: plant faults one at a time, try tests and results, write docs/mutants.md.

`python -m tools.mutants --faults 60 --seed 1` takes another sample, `--module chains/hmm.py` one of
a module, `--only <id>` a single fault (an id is file:line:column:kind); these print the table and
leave the page alone unless `--page` names one. An interrupted campaign, issued again, goes on.
"""

import argparse
import sys
from pathlib import Path

from tools.mutants import page
from tools.mutants.campaign import STAGES, Campaign, Row
from tools.mutants.faults import Fault
from tools.mutants.sample import candidates, sample

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "mutants.md"


def main(words: list[str]) -> int:
    options = _options(words)
    root = options.root.resolve()
    chosen = _chosen(candidates(root / "src" / "models"), options)
    same = page.equivalents()
    equal = [fault for fault in chosen if fault.words in same]
    faults = [fault for fault in chosen if fault.words not in same] or chosen
    campaign = Campaign(root, options.kept, options.jobs)
    for name in options.stages:
        todo = len([fault for fault in faults if fault.words not in campaign.rows(STAGES[name])])
        for count, (fault, row) in enumerate(campaign.run(STAGES[name], faults), 1):
            print(f"{name} {count}/{todo} {fault.id}: {_told(row)}", flush=True)
    tests, claims = (campaign.rows(STAGES[name]) for name in ("tests", "claims"))
    both = [fault for fault in faults if fault.words in tests and fault.words in claims]
    found = [page.tried(fault, tests[fault.words], claims[fault.words]) for fault in both]
    text = page.page(found, equal, options.seed)
    print(text.removeprefix(page.HEADER))
    if options.page is not None and len(found) == len(faults):
        options.page.write_text(text)
    return 0


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("--faults", type=int, default=240, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (%(default)s)")
    parser.add_argument("--module", help="only of this file below src/models")
    parser.add_argument("--only", action="append", help="this fault; may be given again")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes (%(default)s)")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--root", type=Path, default=ROOT, help="a tree that holds still")
    parser.add_argument("--kept", type=Path, default=ROOT / "outputs" / "mutants")
    parser.add_argument("--page", type=Path, help="write the page here")
    return parser.parse_args(words)


def _chosen(found: list[Fault], options: argparse.Namespace) -> list[Fault]:
    if options.only:
        chosen = [fault for fault in found if fault.id in options.only]
        missing = set(options.only) - {fault.id for fault in chosen}
        if missing:
            raise SystemExit(f"there is no fault {', '.join(sorted(missing))}")
        return chosen
    if options.module:
        found = [fault for fault in found if fault.file == options.module]
        if not found:
            raise SystemExit(f"there is no fault to plant in {options.module}")
    return sample(found, options.faults, options.seed)


def _told(row: Row) -> str:
    """One row in a few words."""
    if "tests" in row:
        return str(*row["tests"]) if row["tests"] else "no test notices"
    if row["crashed"]:
        return f"crashes: {next(iter(row['raised'].values()))}"
    for kind in ("printed", "claims"):
        if row[kind]:
            return f"{kind}: {row[kind][0]}"
    raised = f", {len(row['raised'])} raise" if row["raised"] else ""
    return f"no claim notices in {len(row['tried'])} results{raised}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
