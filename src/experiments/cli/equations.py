"""`bythebook equations`: the printed equations with their gaps, evaluated now."""

import argparse
import json
from collections import Counter

from rich.markup import escape

from bythebook.experiments.api.equations import Equations
from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK, UNEXPECTED
from bythebook.experiments.core.equations import CASES, describe_gap
from bythebook.experiments.core.exact_json import dumps

COLUMNS = ("name", "number", "equation", "verdict", "gap", "results")


def main(options: argparse.Namespace) -> int:
    """Return 1 if an equation has another verdict than its decorator declares."""
    rows = Equations(tuple(options.selection), errata=options.errata).rows
    unexpected = [row for row in rows if row["verdict"] != row["expected"]]
    if options.json:
        print(json.dumps(json.loads(dumps(rows)), indent=1, ensure_ascii=False))
    else:
        console.table(
            COLUMNS,
            [
                [
                    *(row["name"], escape(row["number"]), escape(row["says"])),
                    console.colour_verdict(row["verdict"]),
                    describe_gap(row["gap"]),
                    ", ".join(row["results"]) or "-",
                ]
                for row in rows
            ],
        )
        counts = Counter(row["verdict"] for row in rows)
        counted = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
        console.out.print(
            f"\n{len(rows)} equations: {counted}; evaluated now in {CASES} random cases each"
        )
    for row in unexpected:
        reason = f": {row['reason']}" if row["reason"] else ""
        console.notify(f"{row['name']}: {row['verdict']}, expected {row['expected']}{reason}")
    return UNEXPECTED if unexpected else OK
