"""A result as its file states it: a command line so plain that it can be read without Hydra.

    bythebook run fcml/fig-1.15 fresh=true

Hydra takes longer to import and to compose than such a run takes to compute. All that is not as
plain as this is left to it, and what is gives the same job and the same settings.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Job
from experiments.configuration.schema import Data, Settings, Tracking

_SWITCH = re.compile(r"(fresh|figures)=(true|false)")
_TRACKING = re.compile(r"(tracking)=(local|off)")


@dataclass(frozen=True)
class Stated:
    """What to compute, and how to run it."""

    job: Job
    settings: Settings


def read(arguments: Sequence[str]) -> Stated | None:
    """One of our results, switches and a folder for outputs, each once; None for all else."""
    words, outputs = _without_outputs(arguments)
    found: dict[str, str] = {}
    for word in words:
        key, value = _read_word(word)
        if key is None or key in found:
            return None
        found[key] = value
    if "experiment" not in found:
        return None
    job = experiment_job(found["experiment"], os.environ.get("BOOK_DATA"))
    settings = Settings(
        tracking=Tracking(found.get("tracking", "local")),
        data=Data(job.data_dir),
        outputs=outputs,
        fresh=found.get("fresh") == "true",
        figures=found.get("figures") != "false",
        metric=catalogue.read(found["experiment"]).body.get("metric"),
    )
    return Stated(job, settings)


def _without_outputs(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """The words, and the folder of a single `--outputs DIR`."""
    words = list(arguments)
    if words.count("--outputs") != 1:
        return words, None
    place = words.index("--outputs")
    folder = words[place + 1] if place + 1 < len(words) else ""
    if not folder.strip() or folder.startswith("-") or not folder.isprintable():
        return words, None
    return [*words[:place], *words[place + 2 :]], folder


def _read_word(word: str) -> tuple[str | None, str]:
    name = word.removeprefix("experiment=")
    if name in catalogue.names():
        return "experiment", name
    plain = _SWITCH.fullmatch(word) or _TRACKING.fullmatch(word)
    return (plain[1], plain[2]) if plain else (None, "")
