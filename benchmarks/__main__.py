"""`make bench`: every case as ratios, into outputs/bench.json and docs/benchmarks.md.

`python -m benchmarks hmm ridge` runs the cases whose group or name has one of the words in it and
prints a table; `models`, `sweeps`, `growth`, `whole` and `first-use` are the parts of the page.
"""

import importlib.util
import sys
from typing import Any

from benchmarks import (
    first_use,
    hmm,
    mixtures,
    page,
    particle_filter,
    pipeline,
    regression,
    scale,
    state_space,
    timing,
    whole,
)
from benchmarks.case import Case
from experiments.configuration.paths import outputs_folder

MODELS = {
    "hmm": hmm.CASES,
    "mixtures": mixtures.CASES,
    "regression": regression.CASES,
    "state_space": state_space.CASES,
    "particle_filter": particle_filter.CASES,
}
PARTS = ("models", "first-use", "sweeps", "growth", "whole")


def main(words: list[str]) -> None:
    parts = [word for word in words if word in PARTS] if words else list(PARTS)
    chosen = _chosen([word for word in words if word not in PARTS])
    cases = [case for group in MODELS.values() for case in group]
    results: list[timing.Result] = []
    if "models" in parts:
        results += _run(cases)
        page.put("models", page.comparison(results))
        page.put("cost", page.growth(results))
        page.put("memory", page.memory(results))
    if "first-use" in parts:
        page.put("first use", first_use.table(cases))
    if "sweeps" in parts:
        measured = [*scale.results(), *pipeline.results()]
        page.put("sweeps", page.comparison(measured))
        results += measured
    if "growth" in parts:
        page.put("growth of sweeps", scale.growth())
    if "whole" in parts:
        page.put("whole", whole.report([]))
    results += _run(chosen)
    path = outputs_folder() / "bench.json"
    timing.save(results, path, lambda row: _exists(row, cases, swept="sweeps" in parts))
    print(page.comparison(results))
    print(f"\n{path}")


def _chosen(words: list[str]) -> list[Case]:
    named = [(f"{group} {c.name} {c.peer}", c) for group, cases in MODELS.items() for c in cases]
    for word in words:
        if not any(word in name for name, _ in named):
            known = ", ".join([*PARTS, *MODELS])
            raise SystemExit(f"no case has '{word}' in its name; there are {known}")
    return [case for name, case in named if any(word in name for word in words)]


def _exists(row: dict[str, Any], cases: list[Case], *, swept: bool) -> bool:
    """Is there still a case with the name of a saved row?

    The sweeps, whose answers have no tolerance to agree to, are known once they are measured.
    """
    if row.get("tolerance") is None:
        return not swept
    known = {(case.name, case.peer, f"{case.size:,} {case.unit}") for case in cases}
    return (row["case"], row["peer"], row["size"]) in known


def _run(cases: list[Case]) -> list[timing.Result]:
    results = []
    for case in cases:
        if importlib.util.find_spec(case.package) is None:
            print(f"no {case.package} here: pip install 'bythebook[bench]'", file=sys.stderr)
            continue
        print(f"{case.name}, {case.peer}", file=sys.stderr, flush=True)
        results.append(case.run())
    return results


if __name__ == "__main__":
    main(sys.argv[1:])
