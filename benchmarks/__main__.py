"""Runs the benchmarks and writes outputs/bench.json and docs/benchmarks.md: `make bench`.

`make bench PART=hmm`, or `python -m benchmarks hmm commands`, measures single parts, in minutes;
`models` means all parts that compare model code. Any other word selects the cases with it in their
name and only prints their results.
"""

import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from benchmarks import (
    chains,
    evidence,
    first_use,
    graphs,
    growth,
    hmm,
    lattices,
    machine,
    mixtures,
    page,
    page_rank,
    particle_filter,
    pipeline,
    regression,
    scale,
    state_space,
    text,
    timing,
    whole,
)
from benchmarks.case import Case
from bythebook.experiments.config.paths import resolve_output_dir

MODELS = {
    "hmm": hmm.CASES,
    "mixtures": mixtures.CASES,
    "regression": regression.CASES,
    "evidence": evidence.CASES,
    "state-space": state_space.CASES,
    "particle-filter": particle_filter.CASES,
    "chains": chains.CASES,
    "graphs": graphs.CASES,
    "lattices": lattices.CASES,
    "page-rank": page_rank.CASES,
    "text": text.CASES,
}


class Measured(NamedTuple):
    """The results of a part: its records and the text of its section on the page."""

    results: list[timing.Result]
    text: str
    packages: tuple[str, ...] = ()  # the packages whose versions the page shows


def _models(group: str) -> Measured:
    results = _run(MODELS[group])
    tables = [page.comparison(results), page.growth(results), page.memory(results)]
    packages = tuple(case.package for case in MODELS[group])
    return Measured(results, "\n\n".join(filter(None, tables)), packages)


def _compared(measure: Callable[[], list[timing.Result]], *packages: str) -> Measured:
    results = measure()
    return Measured(results, page.comparison(results), packages)


def _every_case() -> list[Case]:
    return [case for group in MODELS.values() for case in group]


PARTS: dict[str, Callable[[], Measured]] = {
    **{group: partial(_models, group) for group in MODELS},
    "first-use": lambda: Measured([], first_use.table(_every_case())),
    "commands": lambda: _compared(pipeline.results),
    "sweeps": lambda: _compared(scale.results, "benchopt"),
    "growth": lambda: Measured([], growth.table()),
    "whole": lambda: Measured([], whole.report([])),
}
SEVERAL = {"models": tuple(MODELS)}  # words that select several parts


def main(words: list[str]) -> None:
    named = [name for word in words for name in SEVERAL.get(word, (word,))] or list(PARTS)
    chosen = _chosen([name for name in named if name not in PARTS])
    for part in PARTS:
        if part in named:
            _measure(part)
    if chosen:
        print(page.comparison(_run(chosen)))


def _measure(part: str) -> None:
    found: list[Measured] = []
    took = timing.seconds(lambda: found.append(PARTS[part]()))
    results, text, packages = found[0]
    stamp = machine.stamp(took, list(packages))
    page.put(part, f"{text}\n\n{stamp}")
    path = resolve_output_dir() / "bench.json"
    timing.save(part, results, path, measured=stamp)
    print(f"{text}\n\n{stamp}\n{path}\n", flush=True)


def _chosen(words: list[str]) -> list[Case]:
    named = [(f"{c.name} {c.peer}", c) for c in _every_case()]
    for word in words:
        if not any(word in name for name, _ in named):
            known = ", ".join([*PARTS, *SEVERAL])
            raise SystemExit(f"no part is '{word}' and no case has it in its name; parts: {known}")
    return [case for name, case in named if any(word in name for word in words)]


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
