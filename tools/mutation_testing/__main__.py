"""Plants faults one at a time, runs tests and results, and prints the table of detected faults.

`make mutation-test` writes docs/mutation_testing.md. `--faults 60 --seed 1` takes another sample,
`--module chains/hmm.py` the faults of a module, `--only <id>` a single fault (an id is
file:line:column:kind). A page is written only with `--page`. An interrupted campaign continues when
the same command is run again.
"""

import argparse
import sys
from pathlib import Path

from tools.mutation_testing import page
from tools.mutation_testing.campaign import STAGES, Campaign, Row
from tools.mutation_testing.faults import Fault
from tools.mutation_testing.sample import candidates, sample

ROOT = Path(__file__).resolve().parents[2]


def main(words: list[str]) -> int:
    options = _options(words)
    root = options.root.resolve()
    chosen = _select(candidates(root / "src" / "models"), options)
    known = page.equivalents()
    equivalent = [fault for fault in chosen if fault.words in known]
    faults = [fault for fault in chosen if fault.words not in known] or chosen
    campaign = Campaign(root, options.state_dir, options.jobs)
    for name in options.stages:
        todo = len([fault for fault in faults if fault.words not in campaign.rows(STAGES[name])])
        for count, (fault, row) in enumerate(campaign.run(STAGES[name], faults), 1):
            print(f"{name} {count}/{todo} {fault.id}: {_format_row(row)}", flush=True)
    tests, claims = (campaign.rows(STAGES[name]) for name in ("tests", "claims"))
    both = [fault for fault in faults if fault.words in tests and fault.words in claims]
    outcomes = [page.combine(fault, tests[fault.words], claims[fault.words]) for fault in both]
    text = page.page(outcomes, equivalent, options.seed)
    print(text.removeprefix(page.HEADER))
    if options.page is not None and len(outcomes) == len(faults):
        options.page.write_text(text)
    return 0


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.mutation_testing", description=__doc__)
    parser.add_argument("--faults", type=int, default=240, help="number of faults (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (%(default)s)")
    parser.add_argument("--module", help="only faults of this file below src/models")
    parser.add_argument("--only", action="append", help="only this fault; may be repeated")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes (%(default)s)")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument(
        "--root",
        type=Path,
        default=ROOT,
        help="checkout to copy; it must not change during the run",
    )
    parser.add_argument(
        "--state-dir", type=Path, default=ROOT / "outputs" / "mutants", help="folder of the results"
    )
    parser.add_argument("--page", type=Path, help="write the page here")
    return parser.parse_args(words)


def _select(faults: list[Fault], options: argparse.Namespace) -> list[Fault]:
    if options.only:
        chosen = [fault for fault in faults if fault.id in options.only]
        missing = set(options.only) - {fault.id for fault in chosen}
        if missing:
            raise SystemExit(f"there is no fault {', '.join(sorted(missing))}")
        return chosen
    if options.module:
        faults = [fault for fault in faults if fault.file == options.module]
        if not faults:
            raise SystemExit(f"there is no fault to plant in {options.module}")
    return sample(faults, options.faults, options.seed)


def _format_row(row: Row) -> str:
    """One row as text."""
    if "tests" in row:
        return str(*row["tests"]) if row["tests"] else "no test fails"
    if row["crashed"]:
        return f"crashes: {next(iter(row['raised'].values()))}"
    for kind in ("printed", "claims"):
        if row[kind]:
            return f"{kind}: {row[kind][0]}"
    raised = f", {len(row['raised'])} raise" if row["raised"] else ""
    return f"no verdict changes in {len(row['tried'])} results{raised}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
