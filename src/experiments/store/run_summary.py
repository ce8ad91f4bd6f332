"""Summary of a run: the fields that lists, tables and MLflow show without reading the record.

The process that computes a run writes the summary next to the record in the pack. If the code that
evaluates expressions has changed since, the summary is rebuilt from the record. It contains no
verdict, because verdicts are always computed from records.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from bythebook.experiments.core.alignment import ExpressionError, single_value
from bythebook.experiments.core.exact_json import dumps, loads
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.outcome import Outcome, Quantity, Scalar
from bythebook.experiments.store.record import Record


@dataclass(frozen=True)
class RunSummary:
    """The summary of one run."""

    id: str
    finished: bool
    error: dict[str, str] | None  # with the keys `type` and `message`
    study: str
    knobs: dict[str, Any]
    seed: int
    experiment: str | None
    canonical: bool
    item: str
    grade: str
    started: float
    seconds: float
    claims: int  # number of claims of its result
    metrics: dict[str, Scalar] = field(default_factory=dict)
    extra_metrics: dict[str, Scalar] = field(default_factory=dict)  # the metric of a sweep
    problem: str = ""  # the reason why the metric has no value

    @classmethod
    def from_record(cls, record: Record, metric: str | None = None) -> "RunSummary":
        """The summary of a record, with the value of an expression `metric`."""
        error, config, provenance = record["error"], record["science"], record["provenance"]
        metrics = dict(record.metrics) if record.finished else {}
        extra_metrics: dict[str, Scalar] = {}
        problem = ""
        if metric and metric not in metrics and record.finished:
            try:
                extra_metrics = {metric: evaluate_metric(metric, record.outcome)}
            except ExpressionError as invalid:
                problem = str(invalid)
        return cls(
            id=record.id,
            finished=record.finished,
            error={name: error[name] for name in ("type", "message")} if error else None,
            study=config["study"],
            knobs=config["knobs"],
            seed=config["seed"],
            experiment=record["experiment"],
            canonical=record["canonical"],
            item=record.source.item,
            grade=record["grade"],
            started=provenance["started"],
            seconds=provenance["seconds"],
            claims=len(record.published.claims),
            metrics=metrics,
            extra_metrics=extra_metrics,
            problem=problem,
        )

    def has_metric(self, metric: str | None) -> bool:
        """Whether the summary has the value of an expression, or the run has none."""
        return (
            not metric
            or not self.finished
            or metric in self.metrics
            or metric in self.extra_metrics
        )


def evaluate_metric(metric: str, outcome: Outcome) -> Scalar:
    """The value of an expression, which must be a scalar."""
    value = single_value(evaluate(metric, outcome))
    if isinstance(value, Quantity | tuple):
        raise ExpressionError(
            f"{metric}: the value must be a scalar, not an array; allowed: such as mean({metric})"
        )
    scalar: Scalar = value
    return scalar


def compress_summaries(summaries: Sequence[RunSummary]) -> bytes:
    """The summaries of a group of runs as a pack stores them; equal fields are stored once."""
    fields = [vars(summary) for summary in summaries]
    common = {k: v for k, v in fields[0].items() if all(own[k] == v for own in fields)}
    rest = [{k: v for k, v in own.items() if k not in common} for own in fields]
    return zlib.compress(
        dumps({"by": evaluation_checksum(), "all": common, "each": rest}).encode(), 1
    )


def decompress_summaries(content: bytes) -> list[RunSummary] | None:
    """The inverse of `compress_summaries`; None if the content is not valid or outdated."""
    summaries = decompress_fields(content)
    return None if summaries is None else [RunSummary(**fields) for fields in summaries]


def decompress_fields(content: bytes) -> list[dict[str, Any]] | None:
    """The fields of the summaries as mappings, which are faster to make."""
    try:
        group = loads(zlib.decompress(content).decode())
        if group["by"] != evaluation_checksum():
            return None
        common, each = group["all"], group["each"]
        names = each[0].keys()
        RunSummary(**common, **each[0])  # raises TypeError if a field is missing
        if any(own.keys() != names for own in each):
            return None
        common = {"metrics": {}, "extra_metrics": {}, "problem": "", **common}
        return [{**common, **own} for own in each]
    except (zlib.error, ValueError, TypeError, LookupError, AttributeError):
        return None


_EVALUATING_MODULES = ("alignment", "expressions", "functions", "outcome", "summaries")


@cache
def evaluation_checksum() -> int:
    """A checksum of the code that computes metrics from outcomes."""
    folder = Path(__file__).parents[1] / "core"
    return zlib.crc32(
        b"".join((folder / f"{name}.py").read_bytes() for name in _EVALUATING_MODULES)
    )
