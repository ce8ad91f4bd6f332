"""What is told of a run without its record: what lists, tables and MLflow show of a sweep's cell.

It is made where the run is made, kept beside its record in a pack, and made again from the record
where the code that evaluates is another than then. No verdict is among it: verdicts are never read
from a file.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from experiments.contract.exact_json import dumps, loads
from experiments.contract.expressions import evaluate
from experiments.contract.labelled import BadExpression
from experiments.contract.outcome import Outcome, Quantity, Scalar
from experiments.records.record import Record


@dataclass(frozen=True)
class Told:
    """A run at a glance."""

    id: str
    finished: bool
    error: dict[str, str] | None  # its type and message
    study: str
    knobs: dict[str, Any]
    seed: int
    experiment: str | None
    canonical: bool
    item: str
    grade: str
    started: float
    seconds: float
    claims: int  # that the run can be held to
    metrics: dict[str, Scalar] = field(default_factory=dict)
    asked: dict[str, Scalar] = field(default_factory=dict)  # an expression that a sweep is about
    problem: str = ""  # why it cannot be had

    @classmethod
    def of(cls, record: Record, metric: str | None = None) -> "Told":
        """From the record itself, with the value of an expression that somebody wants to see."""
        error, science, facts = record["error"], record["science"], record["provenance"]
        metrics = dict(record.metrics) if record.finished else {}
        asked: dict[str, Scalar] = {}
        problem = ""
        if metric and metric not in metrics and record.finished:
            try:
                asked = {metric: evaluated(metric, record.outcome)}
            except BadExpression as unfit:
                problem = str(unfit)
        return cls(
            id=record.id,
            finished=record.finished,
            error={name: error[name] for name in ("type", "message")} if error else None,
            study=science["study"],
            knobs=science["knobs"],
            seed=science["seed"],
            experiment=record["experiment"],
            canonical=record["canonical"],
            item=record.source.item,
            grade=record["grade"],
            started=facts["started"],
            seconds=facts["seconds"],
            claims=len(record.printed.claims),
            metrics=metrics,
            asked=asked,
            problem=problem,
        )

    def knows(self, metric: str | None) -> bool:
        """Does it say what an expression comes to?"""
        return not metric or not self.finished or metric in self.metrics or metric in self.asked


def evaluated(metric: str, outcome: Outcome) -> Scalar:
    """The one value that an expression comes to."""
    value = evaluate(metric, outcome)
    if isinstance(value, Quantity | tuple):
        raise BadExpression(f"{metric}: an array; mean(...), min(...) or a label makes one of it")
    found: Scalar = value
    return found


def packed(told: Sequence[Told]) -> bytes:
    """As a pack keeps it for a group of runs: what they all say is said once."""
    content = [vars(one) for one in told]
    common = {k: v for k, v in content[0].items() if all(one[k] == v for one in content)}
    rest = [{k: v for k, v in one.items() if k not in common} for one in content]
    return zlib.compress(dumps({"by": evaluators(), "all": common, "each": rest}).encode(), 1)


def unpacked(content: bytes) -> list[Told] | None:
    """The inverse; None where it is not to be believed any more."""
    found = fields(content)
    return None if found is None else [Told(**one) for one in found]


def fields(content: bytes) -> list[dict[str, Any]] | None:
    """The same as plain mappings, for those who look at very many."""
    try:
        found = loads(zlib.decompress(content).decode())
        if found["by"] != evaluators():
            return None
        common, each = found["all"], found["each"]
        own = each[0].keys()
        Told(**common, **each[0])  # a TypeError if it is not whole
        if any(one.keys() != own for one in each):
            return None
        common = {"metrics": {}, "asked": {}, "problem": "", **common}
        return [{**common, **one} for one in each]
    except (zlib.error, ValueError, TypeError, LookupError, AttributeError):
        return None


_EVALUATE = ("expressions", "labelled", "outcome", "views", "vocabulary")


@cache
def evaluators() -> int:
    """A checksum of the code that makes metrics of what was computed."""
    folder = Path(__file__).parents[1] / "contract"
    return zlib.crc32(b"".join((folder / f"{name}.py").read_bytes() for name in _EVALUATE))
