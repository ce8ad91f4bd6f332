"""What a worker process does for a page: run a result with some knobs moved, draw and judge it."""

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

from experiments.configuration import catalogue
from experiments.configuration.build import Template
from experiments.configuration.jobs import Job
from experiments.contract import views
from experiments.contract.claims import judge
from experiments.contract.errors import BadInput, one_line
from experiments.contract.evidence import shown
from experiments.contract.outcome import Outcome
from experiments.drawing import canvas, registry
from experiments.drawing.dark import follows_scheme
from experiments.explore import values
from experiments.records.store import RunStore
from experiments.report.drawings import labels, size
from experiments.report.spelling import humanised
from experiments.running.limits import TimeLimit, limited
from experiments.running.work import compute, one_thread
from models import datasets

Answer = dict[str, Any]  # JSON
Keep = Callable[[Job], Answer]

LARGEST = 1_500_000  # bytes of a drawing; beyond, a picture of it is sent
NUMBERS = 100  # single values that a page shows
GRACE = 5.0  # seconds beyond the limit before a process that cannot listen is ended


@dataclass(frozen=True)
class Asked:
    """A result with some knobs moved, and what a run of it may use."""

    name: str
    texts: tuple[tuple[str, str], ...] = ()
    outputs: Path = Path("outputs")
    data_dir: str | None = None
    seconds: float | None = 30.0
    memory_gb: float | None = 2.0

    def job(self) -> Job:
        return values.job(template(self.name, self.data_dir), dict(self.texts))


@lru_cache(maxsize=32)
def template(name: str, data_dir: str | None) -> Template:
    """A result's own configuration, checked."""
    entry = catalogue.read(name)
    return Template(entry.study, entry.body, name, data_dir)


def begin() -> None:
    """What a worker does first: Ctrl-C is the server's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _bounded(seconds: float | None) -> Iterator[None]:
    """End a process that computes on in compiled code, where it hears of no limit."""
    signal.setitimer(signal.ITIMER_PROF, 0 if seconds is None else seconds + GRACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def trial(asked: Asked) -> Answer:
    """Run, draw and judge; what is wrong with it in one line each."""
    try:
        with _bounded(asked.seconds), one_thread(), limited(asked.seconds, asked.memory_gb):
            return _tried(asked)
    except BadInput as error:
        return {"problems": error.problems}
    except datasets.DataError as error:
        return {"problems": [one_line(str(error))]}
    except TimeLimit:
        return {"problems": [f"stopped after {asked.seconds:g} s (--seconds allows more)"]}
    except MemoryError as error:
        more = f"more than {asked.memory_gb:g} GB (--memory-gb allows more)"
        return {"problems": [one_line(f"it needs {more}: {error}".removesuffix(": "))]}
    except Exception as error:
        return {"problems": [one_line(f"the run failed: {type(error).__name__}: {error}")]}


def _tried(asked: Asked) -> Answer:
    job, book = asked.job(), template(asked.name, asked.data_dir).job()
    clock = time.perf_counter()
    record = RunStore(asked.outputs).done(job)
    outcome = record.outcome if record is not None else compute(job).outcome
    computed = time.perf_counter()
    figures, problem = _figures(job, outcome)
    stated, chosen = values.settings(book), values.settings(job)
    return {
        "recorded": record.id if record is not None else None,
        "seconds": computed - clock,
        "drawing": time.perf_counter() - computed,
        "figures": figures,
        "undrawn": problem,
        "claims": _claims(job, outcome),
        "numbers": _numbers(job, outcome),
        "differs": [name for name, value in chosen.items() if value != stated[name]],
        "command": values.command(job, book),
    }


def _figures(job: Job, outcome: Outcome) -> tuple[list[Answer], str]:
    """The figures; strange numbers that no figure can hold cost the figures and not the run."""
    try:
        with canvas.style("screen"):
            drawn = registry.figures(job.study, outcome)
            return [_figure(job, name, figure) for name, figure in drawn.items()], ""
    except (TimeLimit, MemoryError):
        raise
    except Exception as error:
        return [], one_line(f"the figures cannot be drawn: {type(error).__name__}: {error}")


def _figure(job: Job, name: str, figure: Any) -> Answer:
    text, kind = follows_scheme(canvas.svg(figure).decode()), "svg+xml"
    content = text.encode()
    width, height = size(text)
    if len(content) > LARGEST:
        content, kind = canvas.png(figure), "png"
    words = "; ".join(labels(text)[:12])
    said = f"{job.title} ({humanised(name)})" + (f", labelled {words}" if words else "")
    return {
        "name": name,
        "title": humanised(name),
        "alt": said,
        "src": f"data:image/{kind};base64,{base64.b64encode(content).decode()}",
        "width": width,
        "height": height,
    }


def _claims(job: Job, outcome: Outcome) -> list[Answer | None]:
    """Every claim held against the outcome; none where it speaks of what is not there."""
    originals = {name for name, data in job.data.items() if data["grade"] != datasets.STANDIN}
    found: list[Answer | None] = []
    for claim in job.claims:
        try:
            verdict = judge(claim, outcome, job.grade, originals)
        except BadInput:
            found.append(None)
            continue
        found.append(
            {
                "computed": verdict.evidence or verdict.computed,
                "standing": verdict.standing,
                "weak": verdict.weak,
            }
        )
    return found


def _numbers(job: Job, outcome: Outcome) -> list[tuple[str, str]]:
    found = views.scalars(outcome, job.study.headline)
    return [(name, shown(value)) for name, value in list(found.items())[:NUMBERS]]


def kept(asked: Asked, keep: Keep) -> Answer:
    """Record a run as `bythebook run` does."""
    try:
        with _bounded(None if asked.seconds is None else math.ceil(asked.seconds) + 600):
            return keep(asked.job())
    except BadInput as error:
        return {"problems": error.problems}
    except Exception as error:
        return {"problems": [one_line(f"it could not be kept: {type(error).__name__}: {error}")]}


def texts_of(given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The texts of controls as a page sends them, in one order."""
    for key, text in given.items():
        if not isinstance(text, str):
            raise BadInput(f"{key} is not a text")
    return tuple(sorted(given.items()))
