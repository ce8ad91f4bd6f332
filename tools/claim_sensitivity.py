"""Lists recorded quantities that can change without changing the verdict of a claim.

`python -m tools.claim_sensitivity fcml/1 study:hmm_em --outputs outputs` changes the quantities of
recorded runs one at a time (10 % larger, negative, shifted, reversed along an axis) and judges the
claims again. It lists the quantities of a study that no claim of these results tests, and those
that only derived checks test. No study is run, so this takes seconds, and it shows which faults the
claims could miss; `tools.mutation_testing` measures that in hours.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bythebook.experiments.api import selections
from bythebook.experiments.config.job import Job
from bythebook.experiments.config.paths import resolve_output_dir
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.judging import judge
from bythebook.experiments.core.outcome import Outcome, Quantity
from bythebook.experiments.store.run_store import RunStore
from bythebook.models import datasets

LEVELS = ("no claim", "derived checks only", "a printed claim")


class Sensitivity(NamedTuple):
    """A quantity and the index in `LEVELS` of the strongest claim that tests it."""

    name: str
    level: int


def sensitivities(job: Job, outcome: Outcome) -> Iterator[Sensitivity]:
    """The sensitivity of the claims of a result to each of its quantities."""
    usual = _verdicts(job, outcome)
    for name in outcome:
        levels = []
        for changed in changes(outcome[name]):
            verdicts = _verdicts(job, Outcome(**{**dict(outcome.items()), name: changed}))
            pairs = zip(job.claims, usual, verdicts, strict=True)
            flipped = [claim for claim, before, after in pairs if before != after]
            printed = any(claim.origin == "printed" and claim.by is None for claim in flipped)
            levels.append(bool(flipped) + printed)
        if levels:
            yield Sensitivity(name, max(levels))


def changes(quantity: Quantity) -> Iterator[Quantity]:
    """Changed copies of a quantity: larger, negative, shifted, and reversed along each axis."""
    values, axes = quantity.values, quantity.axes
    if values.dtype.kind in "fi" and values.size:
        finite = np.abs(values[np.isfinite(values)])
        scale = float(finite.max()) if finite.size else 1.0
        for changed in (1.1 * values, -1.0 * values, values + 0.1 * max(scale, 1.0)):
            yield Quantity(changed, axes)
    for number, axis in enumerate(axes):
        if len(axis) > 1:
            reversed_values = np.flip(values, number)
            if not np.array_equal(reversed_values, values):
                yield Quantity(reversed_values.copy(), axes)


def _verdicts(job: Job, outcome: Any) -> list[str]:
    originals = {name for name, entry in job.data.items() if entry["grade"] != datasets.STANDIN}
    verdicts = []
    for claim in job.claims:
        try:
            verdicts.append(judge(claim, outcome, job.data_grade, originals).verdict)
        except InputError as error:
            verdicts.append(str(error))
    return verdicts


def by_study(names: list[str], store: RunStore) -> dict[tuple[str, str], tuple[int, str]]:
    """For each study and quantity, the highest level over its results, and the result with it."""
    best: dict[tuple[str, str], tuple[int, str]] = {}
    for name in names:
        record = store.latest_run(name)
        if record is None:
            continue
        job = load_job(name)
        for quantity, level in sensitivities(job, record.outcome):
            known = best.get((job.study.name, quantity), (-1, ""))
            best[job.study.name, quantity] = max(known, (level, name), key=lambda pair: pair[0])
    return best


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.claim_sensitivity", description=__doc__)
    parser.add_argument("selection", nargs="*", help="as for `bythebook list`; default: all")
    parser.add_argument(
        "--search", default=None, help="only results that contain all of these words"
    )
    parser.add_argument("--outputs", type=Path, help="folder of the recorded runs")
    options = parser.parse_args(words)
    outputs = resolve_output_dir(options.outputs)
    names = selections.select_results(options.selection, options.search, outputs)
    best = by_study(names, RunStore(outputs))
    for (study, quantity), (level, name) in sorted(best.items()):
        if LEVELS[level] != LEVELS[-1]:
            print(f"{study}: {quantity}: tested by {LEVELS[level]} (for example in {name})")
    counts = [sum(level == i for level, _ in best.values()) for i in range(len(LEVELS))]
    print(", ".join(f"{n} tested by {level}" for n, level in zip(counts, LEVELS, strict=True)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
