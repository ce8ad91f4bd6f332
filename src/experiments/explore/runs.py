"""The work of a worker process: run a result with changed parameters, draw it, judge its claims."""

import base64
import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.job import Job
from bythebook.experiments.config.validation import JobFactory
from bythebook.experiments.core import summaries
from bythebook.experiments.core.claim_blocks import claim_row
from bythebook.experiments.core.errors import InputError, single_line
from bythebook.experiments.core.evidence import format_side
from bythebook.experiments.core.judging import judge
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.execution.resource_limits import TimeLimitExceeded, resource_limits
from bythebook.experiments.execution.worker import compute, single_threaded
from bythebook.experiments.explore import values
from bythebook.experiments.plotting import canvas, registry
from bythebook.experiments.plotting.dark_mode import add_dark_mode
from bythebook.experiments.report.display_names import display_name
from bythebook.experiments.report.figure_cache import svg_labels, svg_size
from bythebook.experiments.store.run_store import RunStore
from bythebook.models import datasets

RunResponse = dict[str, Any]  # JSON
SaveCallback = Callable[[Job], RunResponse]

MAX_SVG_BYTES = 1_500_000  # larger figures are sent as PNG
MAX_NUMBERS = 100  # scalar metrics that a page shows
KILL_DELAY_S = 5.0  # beyond the time limit, before the process is ended


@dataclass(frozen=True)
class RunRequest:
    """A result with changed parameters, and the limits of its run."""

    name: str
    texts: tuple[tuple[str, str], ...] = ()
    outputs: Path = Path("outputs")
    data_dir: str | None = None
    timeout: float | None = 30.0
    memory_gb: float | None = 2.0

    def job(self) -> Job:
        return values.job(job_factory(self.name, self.data_dir), dict(self.texts))


@lru_cache(maxsize=32)
def job_factory(name: str, data_dir: str | None) -> JobFactory:
    """The checked configuration of a result, which makes jobs with changed parameters."""
    entry = catalogue.load_experiment(name)
    return JobFactory(entry.study, entry.body, name, data_dir)


def init_worker() -> None:
    """Ignore Ctrl-C in a worker: the server handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _cpu_limit(seconds: float | None) -> Iterator[None]:
    """End the process if it stays in compiled code, which does not check the time limit."""
    signal.setitimer(signal.ITIMER_PROF, 0 if seconds is None else seconds + KILL_DELAY_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def run_request(request: RunRequest) -> RunResponse:
    """Run, draw and judge; a failure gives `problems`, one line each."""
    try:
        job_factory(request.name, request.data_dir)  # imports libraries outside the limits
        with (
            _cpu_limit(request.timeout),
            single_threaded(),
            resource_limits(request.timeout, request.memory_gb),
        ):
            return _run(request)
    except InputError as error:
        return {"problems": error.problems}
    except datasets.DataError as error:
        return {"problems": [single_line(str(error))]}
    except TimeLimitExceeded:
        return {"problems": [f"stopped after {request.timeout:g} s (set --timeout to allow more)"]}
    except MemoryError as error:
        limit = f"memory limit of {request.memory_gb:g} GB exceeded (set --memory-gb to raise it)"
        return {"problems": [single_line(f"{limit}: {error}".removesuffix(": "))]}
    except Exception as error:
        return {"problems": [single_line(f"the run failed: {type(error).__name__}: {error}")]}


def _run(request: RunRequest) -> RunResponse:
    job, book = request.job(), job_factory(request.name, request.data_dir).job()
    clock = time.perf_counter()
    record = RunStore(request.outputs).find_completed(job)
    outcome = record.outcome if record is not None else compute(job).outcome
    computed = time.perf_counter()
    figures, problem = _figures(job, outcome)
    published, chosen = values.current_values(book), values.current_values(job)
    return {
        "recorded": record.id if record is not None else None,
        "seconds": computed - clock,
        "drawing": time.perf_counter() - computed,
        "figures": figures,
        "undrawn": problem,
        "claims": _claims(job, outcome),
        "numbers": _numbers(job, outcome),
        "differs": [name for name, value in chosen.items() if value != published[name]],
        "command": values.command_line(job, book),
    }


def _figures(job: Job, outcome: Outcome) -> tuple[list[RunResponse], str]:
    """The figures, or none and a message: a figure that fails does not fail the run."""
    try:
        with canvas.style("screen"):
            drawn = registry.figures(job.study, outcome, job.published.figures)
            return [_figure(job, name, figure) for name, figure in drawn.items()], ""
    except (TimeLimitExceeded, MemoryError):
        raise
    except Exception as error:
        return [], single_line(f"could not draw the figures: {type(error).__name__}: {error}")


def _figure(job: Job, name: str, figure: Any) -> RunResponse:
    text, kind = add_dark_mode(canvas.svg(figure).decode()), "svg+xml"
    content = text.encode()
    width, height = svg_size(text)
    if len(content) > MAX_SVG_BYTES:
        content, kind = canvas.png(figure), "png"
    words = "; ".join(svg_labels(text)[:12])
    alt = f"{job.title} ({display_name(name)})" + (f", labelled {words}" if words else "")
    return {
        "name": name,
        "title": display_name(name),
        "alt": alt,
        "src": f"data:image/{kind};base64,{base64.b64encode(content).decode()}",
        "width": width,
        "height": height,
    }


def _claims(job: Job, outcome: Outcome) -> list[RunResponse | None]:
    """The verdict of each claim; None if the outcome lacks a quantity that it needs."""
    originals = {name for name, data in job.data.items() if data["grade"] != datasets.STANDIN}
    verdicts: list[RunResponse | None] = []
    for claim in job.claims:
        try:
            verdict = judge(claim, outcome, job.data_grade, originals)
        except InputError:
            verdicts.append(None)
            continue
        row = claim_row(verdict.to_json())
        verdicts.append(
            {
                "computed": row.computed,
                "evidence": verdict.evidence,
                "verdict": row.verdict_text,
                "category": row.category,
            }
        )
    return verdicts


def _numbers(job: Job, outcome: Outcome) -> list[tuple[str, str]]:
    metrics = summaries.scalar_metrics(outcome, job.study.headline)
    return [(name, format_side(value)) for name, value in list(metrics.items())[:MAX_NUMBERS]]


def save_run(request: RunRequest, save: SaveCallback) -> RunResponse:
    """Record a run as `bythebook run` does."""
    try:
        with _cpu_limit(None if request.timeout is None else math.ceil(request.timeout) + 600):
            return save(request.job())
    except InputError as error:
        return {"problems": error.problems}
    except Exception as error:
        line = single_line(f"could not save the run: {type(error).__name__}: {error}")
        return {"problems": [line]}


def validated_values(texts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The values that a page sends, as sorted pairs of name and text."""
    for key, text in texts.items():
        if not isinstance(text, str):
            raise InputError(f"{key}: the value must be a string")
    return tuple(sorted(texts.items()))
