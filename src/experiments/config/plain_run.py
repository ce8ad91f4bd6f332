"""Fast path for command lines that need no Hydra, such as

    bythebook run fcml/fig-1.15 force=true

Importing Hydra takes longer than such a run takes to compute. Every other command line is composed
by Hydra; both ways give the same job and the same settings.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.former_names import data_dir_from_environment
from bythebook.experiments.config.job import Job
from bythebook.experiments.config.schema import RunSettings
from bythebook.experiments.config.validation import load_job

_SWITCH = re.compile(r"(force|figures)=(true|false)")
_TRACKING = re.compile(r"(tracking)=(local|off)")


@dataclass(frozen=True)
class PlainRun:
    """A job and its settings."""

    job: Job
    settings: RunSettings
    verbose: bool = False


def read_plain_run(arguments: Sequence[str]) -> PlainRun | None:
    """The run of a result with at most force, figures, tracking and two options, else None.

    The options are --outputs and --verbose.
    """
    verbose = "--verbose" in arguments
    words, outputs = _split_outputs([word for word in arguments if word != "--verbose"])
    options: dict[str, str] = {}
    for word in words:
        key, value = _read_word(word)
        if key is None or key in options:
            return None
        options[key] = value
    if "experiment" not in options:
        return None
    job = load_job(options["experiment"], data_dir_from_environment())
    settings = RunSettings(
        tracking=options.get("tracking", "local"),
        data_dir=job.data_dir,
        outputs=outputs,
        force=options.get("force") == "true",
        figures=options.get("figures") != "false",
        metric=catalogue.load_experiment(options["experiment"]).body.get("metric"),
    )
    return PlainRun(job, settings, verbose)


def _split_outputs(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """The other arguments, and the folder of a single option --outputs."""
    words = list(arguments)
    if words.count("--outputs") != 1:
        return words, None
    index = words.index("--outputs")
    folder = words[index + 1] if index + 1 < len(words) else ""
    if not folder.strip() or folder.startswith("-") or not folder.isprintable():
        return words, None
    return [*words[:index], *words[index + 2 :]], folder


def _read_word(word: str) -> tuple[str | None, str]:
    name = word.removeprefix("experiment=")
    if name in catalogue.experiment_names():
        return "experiment", name
    option = _SWITCH.fullmatch(word) or _TRACKING.fullmatch(word)
    return (option[1], option[2]) if option else (None, "")
