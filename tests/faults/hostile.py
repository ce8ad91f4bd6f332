"""Hostile input: files, overrides and names, each with a word of the line that refuses it."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np

SECRET = "a-secret-of-the-environment"  # in BOOK_SECRET wherever these are tried


class Touch:
    """Unpickled, it would leave a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return Path.touch, (self.path,)


def experiment_files(folder: Path, trap: Path) -> dict[str, str]:
    """Experiment files that would run a command or read the environment: name, and the answer."""
    target = f'{{_target_: subprocess.getoutput, cmd: "touch {trap}"}}'
    logger = f'{{"()": subprocess.getoutput, cmd: "touch {trap}"}}'
    bodies = {
        "target": ("_global_", f"study: {target}", "names something to import"),
        "nested": (
            "_global_",
            f"launch: {{options: {{x: {target}}}}}",
            "states science",
        ),
        "callback": ("_global_", f"hydra: {{callbacks: {{x: {target}}}}}", "states science"),
        "package": ("hydra", f"callbacks: {{x: {target}}}", "does not begin with"),
        "logging": (
            "_global_",
            f"hydra: {{job_logging: {{version: 1, handlers: {{x: {logger}}}}}}}",
            "states science",
        ),
        "tag": (
            "_global_",
            f'source: {{title: !!python/object/apply:os.system ["touch {trap}"]}}',
            "could not determine a constructor",
        ),
        "environment": ("_global_", 'source: {note: "${oc.env:BOOK_SECRET}"}', "calls a resolver"),
        "claim": (
            "_global_",
            'claims: [{holds: value, says: "${oc.env:BOOK_SECRET}"}]',
            "calls a resolver",
        ),
        "nul": ("_global_", 'source: {title: "a\\0b"}', "not text"),
        "broken": ("_global_", "source: {title: [", "while parsing"),
        "bytes": ("_global_", 'source: {title: "\udcff"}', "not text in UTF-8"),
    }
    place = folder / "experiment" / "hostile"
    place.mkdir(parents=True)
    for name, (package, body, _) in bodies.items():
        defaults = "" if package == "hydra" else "defaults:\n  - override /study: misbehaving\n"
        text = f"# @package {package}\n{defaults}{body}\n"
        (place / f"{name}.yaml").write_text(text, encoding="utf-8", errors="surrogateescape")
    return {name: answer for name, (_, _, answer) in bodies.items()}


RUN = ["run", "study=misbehaving"]
SWEEP = ["run", "-m", "study=misbehaving", "seed=1,2"]
COMMANDS: dict[str, tuple[list[str], str]] = {
    "target": ([*RUN, "study._target_=os.getcwd"], "there is no 'study._target_'"),
    "added target": ([*RUN, "+_target_=os.getcwd"], "names something to import"),
    "callback": ([*RUN, "+hydra.callbacks.x._target_=os.getcwd"], "Hydra only composes"),
    "callbacks": ([*RUN, "+hydra={callbacks:{x:{_target_:os.getcwd}}}"], "Hydra only composes"),
    "logging": ([*RUN, "hydra/job_logging=default"], "Hydra only composes"),
    "sweeper": (
        ["run", "-m", *RUN[1:], "hydra.sweeper._target_=os.getcwd", "seed=1,2"],
        "Hydra only composes",
    ),
    "launcher": (
        [*RUN, "-m", "hydra/sweeper=basic", "hydra.launcher._target_=os.getcwd", "seed=1,2"],
        "Hydra only composes",
    ),
    "pickled configuration": (["run", "--experimental-rerun", "x.pickle"], "reads a pickle"),
    "other configuration": (["run", "--config-path", "/tmp", "-cn", "x"], "not allowed"),
    "environment": ([*RUN, "source.title=${oc.env:BOOK_SECRET}"], "calls a resolver"),
    "environment by a knob": ([*RUN, "study.way=${oc.env:BOOK_SECRET}"], "calls a resolver"),
    "environment by a detour": (
        [*RUN, "source.title=${data.dir}", "data.dir=${oc.env:BOOK_SECRET}"],
        "calls a resolver",
    ),
    "environment by a whole section": ([*RUN, "source=${tracking}"], "calls a resolver"),
    "environment by the metric": ([*SWEEP, "metric=${oc.env:BOOK_SECRET}"], "calls a resolver"),
    "experiment by path": (["run", "experiment=../tracking/local"], "not a path"),
    "experiment far away": (["run", "experiment=../../../../etc/passwd"], "not a path"),
    "experiment from the root": (["run", "experiment=/etc/passwd"], "not a path"),
    "study by path": (["run", "study=../tracking/local"], "not a path"),
    "swept by path": (["run", "-m", "experiment=fcml/fig-1.15,../tracking/off"], "not a path"),
    "tracking by path": ([*RUN, "tracking=../launch/local"], "not a path"),
    "book by path": ([*RUN, "source.book=../../x"], "source.book"),
    "outputs in a file": ([*RUN, "outputs=/etc/passwd"], "cannot write"),
    "outputs nowhere": ([*RUN, "outputs=/proc/nowhere"], "cannot write"),
    "shown by path": (["show", "../../etc/passwd"], "there is no experiment"),
    "study shown by path": (["show", "study:../../etc/passwd"], "there is no study"),
    "figures by path": (["figures", "../../etc"], "selects nothing"),
    "tables by path": (["tables", "../../etc"], "selects nothing"),
    "reproduced by path": (["reproduce", "../../etc"], "selects nothing"),
    "verified by path": (["verify", "../../etc/passwd"], "is not a run id"),
    "nested": ([*RUN, "study.ways=" + "[" * 1000 + "]" * 1000], "nested too deeply"),
    "unfinished": ([*RUN, "study.ways=" + "[" * 20000], "cannot be read"),
    "ten megabytes": ([*RUN, "source.title=" + "x" * 10**7], "10,000,013 characters"),
    "not UTF-8": ([*RUN, "source.title=\udcff"], "not text in UTF-8"),
    "control characters": ([*RUN, "study.level=\x1b[31m"], "cannot be read"),
    "no limit": ([*RUN, "limit.seconds=-1"], "limit.seconds"),
    "unknown flag": (["run", "--wrong"], "is not understood"),
}

# Text that is right to keep, and must stay text wherever it is shown.
TITLE = "żółć \"double\" 'single' <script>alert(1)</script> | $x_{$ %s {a} \n second line [red]"


def as_override(key: str, text: str) -> str:
    """An override in Hydra's grammar with any text as its value."""
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"{key}='{quoted}'"


def damaged_arrays(path: Path, trap: Path) -> dict[str, Callable[[], object]]:
    """Ways to put something else in the place of a record's arrays."""
    return {
        "object array": lambda: np.savez(path, x=np.array([Touch(trap)], dtype=object)),
        "pickle": lambda: path.write_bytes(pickle.dumps(Touch(trap))),
        "single array": lambda: np.save(path.open("wb"), np.ones(3)),
        "text": lambda: path.write_text("not an archive"),
        "nothing": lambda: path.write_bytes(b""),
        "half": lambda: path.write_bytes(path.read_bytes()[:200]),
    }


def damaged_record(path: Path) -> dict[str, Callable[[], object]]:
    """Ways to damage a run.json."""
    content = json.loads(path.read_text())
    return {
        "list": lambda: path.write_text("[]"),
        "deep": lambda: path.write_text("[" * 100_000),
        "half": lambda: path.write_text(json.dumps(content)[:200]),
        "no outcome": lambda: path.write_text(
            json.dumps({k: v for k, v in content.items() if k != "outcome"})
        ),
        "bytes": lambda: path.write_bytes(b"\xff\xfe"),
    }
