"""Which recorded quantities could be others without a claim coming out otherwise?

`python -m tools.held fcml/1 study:hmm_em --outputs outputs` changes the quantities of recorded runs
one at a time (a tenth more, a sign, a shift, the order along an axis), judges the claims again and
lists the quantities of a study that no claim of these results holds, or none that a text makes.
Nothing is computed: it takes seconds where planting faults takes hours, and tells what a fault
could change unnoticed.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.commands import selecting
from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Job
from experiments.configuration.paths import outputs_folder
from experiments.contract.claims import judge
from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome, Quantity
from experiments.records.store import RunStore
from models import datasets

KINDS = ("nothing", "derived claims only", "a printed claim")


class Held(NamedTuple):
    """A quantity, and what holds it best, as a place in KINDS."""

    name: str
    by: int


def held(job: Job, outcome: Outcome) -> Iterator[Held]:
    """Each quantity of a result that can be changed, with what its claims make of that."""
    usual = _verdicts(job, outcome)
    for name in outcome:
        best = []
        for other in changes(outcome[name]):
            found = _verdicts(job, Outcome(**{**dict(outcome.items()), name: other}))
            pairs = zip(job.claims, usual, found, strict=True)
            flipped = [claim for claim, before, after in pairs if before != after]
            printed = any(claim.origin == "printed" and claim.by is None for claim in flipped)
            best.append(bool(flipped) + printed)
        if best:
            yield Held(name, max(best))


def changes(quantity: Quantity) -> Iterator[Quantity]:
    """A quantity with other values: larger, negative, shifted, in another order along each axis."""
    values, axes = quantity.values, quantity.axes
    if values.dtype.kind in "fi" and values.size:
        finite = np.abs(values[np.isfinite(values)])
        scale = float(finite.max()) if finite.size else 1.0
        for other in (1.1 * values, -1.0 * values, values + 0.1 * max(scale, 1.0)):
            yield Quantity(other, axes)
    for number, axis in enumerate(axes):
        if len(axis) > 1:
            turned = np.flip(values, number)
            if not np.array_equal(turned, values):
                yield Quantity(turned.copy(), axes)


def _verdicts(job: Job, outcome: Any) -> list[str]:
    originals = {name for name, entry in job.data.items() if entry["grade"] != datasets.STANDIN}
    found = []
    for claim in job.claims:
        try:
            found.append(judge(claim, outcome, job.grade, originals).verdict)
        except BadInput as error:
            found.append(str(error))
    return found


def by_study(names: list[str], store: RunStore) -> dict[tuple[str, str], tuple[int, str]]:
    """Study and quantity: what holds it best, as a place in KINDS, and the result in which."""
    found: dict[tuple[str, str], tuple[int, str]] = {}
    for name in names:
        record = store.latest(name)
        if record is None:
            continue
        job = experiment_job(name)
        for one in held(job, record.outcome):
            known = found.get((job.study.name, one.name), (-1, ""))
            found[job.study.name, one.name] = max(known, (one.by, name), key=lambda by: by[0])
    return found


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.held", description=__doc__)
    parser.add_argument("selection", nargs="*", help="as for `bythebook list`; default: all")
    parser.add_argument("--search", default=None, help="only results that speak of all of these")
    parser.add_argument("--outputs", type=Path, help="where runs are kept")
    options = parser.parse_args(words)
    outputs = outputs_folder(options.outputs)
    found = by_study(selecting.results(options, outputs), RunStore(outputs))
    for (study, quantity), (by, name) in sorted(found.items()):
        if KINDS[by] != KINDS[-1]:
            print(f"{study}: {quantity}: {KINDS[by]} (as in {name})")
    counts = [sum(by == kind for by, _ in found.values()) for kind in range(len(KINDS))]
    print(", ".join(f"{n} held by {kind}" for n, kind in zip(counts, KINDS, strict=True)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
