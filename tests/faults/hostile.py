"""Hostile input: files, overrides and names, each with a part of the error message."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np

SECRET = "a-secret-of-the-environment"  # the value of the variable BOOK_SECRET in the tests


class Touch:
    """An object that creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return Path.touch, (self.path,)


def experiment_files(folder: Path, trap: Path) -> dict[str, str]:
    """Write files that try to run a command or read the environment; messages by file name."""
    target = f'{{_target_: subprocess.getoutput, cmd: "touch {trap}"}}'
    logger = f'{{"()": subprocess.getoutput, cmd: "touch {trap}"}}'
    bodies = {
        "target": ("_global_", f"study: {target}", "study._target_ is not allowed"),
        "nested": (
            "_global_",
            f"launcher: {{options: {{x: {target}}}}}",
            "there is no 'launcher'",
        ),
        "callback": ("_global_", f"hydra: {{callbacks: {{x: {target}}}}}", "there is no 'hydra'"),
        "package": ("hydra", f"callbacks: {{x: {target}}}", "does not begin with"),
        "logging": (
            "_global_",
            f"hydra: {{job_logging: {{version: 1, handlers: {{x: {logger}}}}}}}",
            "there is no 'hydra'",
        ),
        "tag": (
            "_global_",
            f'source: {{title: !!python/object/apply:os.system ["touch {trap}"]}}',
            "could not determine a constructor",
        ),
        "environment": (
            "_global_",
            'source: {note: "${oc.env:BOOK_SECRET}"}',
            "interpolation (${...}) is not allowed",
        ),
        "claim": (
            "_global_",
            'claims: [{holds: value, says: "${oc.env:BOOK_SECRET}"}]',
            "interpolation (${...}) is not allowed",
        ),
        "nul": ("_global_", 'source: {title: "a\\0b"}', "invalid characters"),
        "broken": ("_global_", "source: {title: [", "while parsing"),
        "bytes": ("_global_", 'source: {title: "\udcff"}', "not text in UTF-8"),
    }
    target_folder = folder / "experiment" / "hostile"
    target_folder.mkdir(parents=True)
    for name, (package, body, _) in bodies.items():
        defaults = "" if package == "hydra" else "defaults:\n  - override /study: misbehaving\n"
        text = f"# @package {package}\n{defaults}{body}\n"
        (target_folder / f"{name}.yaml").write_text(
            text, encoding="utf-8", errors="surrogateescape"
        )
    return {name: message for name, (_, _, message) in bodies.items()}


RUN = ["run", "study=misbehaving"]
SWEEP = ["run", "-m", "study=misbehaving", "seed=1,2"]
COMMANDS: dict[str, tuple[list[str], str]] = {
    "target": ([*RUN, "study._target_=os.getcwd"], "there is no 'study._target_'"),
    "added target": ([*RUN, "+_target_=os.getcwd"], "_target_ is not allowed"),
    "callback": (
        [*RUN, "+hydra.callbacks.x._target_=os.getcwd"],
        "hydra.* settings are not allowed",
    ),
    "callbacks": (
        [*RUN, "+hydra={callbacks:{x:{_target_:os.getcwd}}}"],
        "hydra.* settings are not allowed",
    ),
    "logging": ([*RUN, "hydra/job_logging=default"], "hydra.* settings are not allowed"),
    "sweeper": (
        ["run", "-m", *RUN[1:], "hydra.sweeper._target_=os.getcwd", "seed=1,2"],
        "hydra.* settings are not allowed",
    ),
    "launcher": (
        [*RUN, "-m", "hydra/sweeper=basic", "hydra.launcher._target_=os.getcwd", "seed=1,2"],
        "hydra.* settings are not allowed",
    ),
    "pickled configuration": (["run", "--experimental-rerun", "x.pickle"], "reads a pickle"),
    "other configuration": (["run", "--config-path", "/tmp", "-cn", "x"], "not allowed"),
    "environment": (
        [*RUN, "source.title=${oc.env:BOOK_SECRET}"],
        "interpolation (${...}) is not allowed",
    ),
    "environment by a knob": (
        [*RUN, "study.way=${oc.env:BOOK_SECRET}"],
        "interpolation (${...}) is not allowed",
    ),
    "environment by a detour": (
        [*RUN, "source.title=${data_dir}", "data_dir=${oc.env:BOOK_SECRET}"],
        "interpolation (${...}) is not allowed",
    ),
    "environment by a section": (
        [*RUN, "source=${tracking}"],
        "interpolation (${...}) is not allowed",
    ),
    "environment by the metric": (
        [*SWEEP, "metric=${oc.env:BOOK_SECRET}"],
        "interpolation (${...}) is not allowed",
    ),
    "experiment by path": (["run", "experiment=../tracking/local"], "not a path"),
    "experiment far away": (["run", "experiment=../../../../etc/passwd"], "not a path"),
    "experiment from the root": (["run", "experiment=/etc/passwd"], "not a path"),
    "study by path": (["run", "study=../tracking/local"], "not a path"),
    "swept by path": (["run", "-m", "experiment=fcml/fig-1.15,../tracking/off"], "not a path"),
    "tracking by path": ([*RUN, "tracking=../launch/local"], "is not allowed; allowed: str"),
    "book by path": ([*RUN, "source.book=../../x"], "source.book"),
    "outputs in a file": ([*RUN, "outputs=/etc/passwd"], "write"),
    "outputs nowhere": ([*RUN, "outputs=/proc/nowhere"], "write"),
    "shown by path": (["show", "../../etc/passwd"], "there is no result"),
    "study shown by path": (["show", "study:../../etc/passwd"], "there is no study"),
    "figures by path": (["figures", "../../etc"], "matches no result"),
    "tables by path": (["tables", "../../etc"], "matches no result"),
    "reproduced by path": (["reproduce", "../../etc"], "matches no result"),
    "verified by path": (["verify", "../../etc/passwd"], "is not a run id"),
    "nested": ([*RUN, "study.ways=" + "[" * 1000 + "]" * 1000], "nested too deeply"),
    "unfinished": ([*RUN, "study.ways=" + "[" * 20000], "is not a valid setting"),
    "ten megabytes": ([*RUN, "source.title=" + "x" * 10**7], "10,000,013 characters"),
    "not UTF-8": ([*RUN, "source.title=\udcff"], "not text in UTF-8"),
    "control characters": ([*RUN, "study.level=\x1b[31m"], "is not a valid setting"),
    "no limit": ([*RUN, "limits.timeout=-1"], "limits.timeout"),
    "unknown flag": (["run", "--wrong"], "unknown argument '--wrong'"),
}

# Text that is allowed, and that every output must escape.
TITLE = "żółć \"double\" 'single' <script>alert(1)</script> | $x_{$ %s {a} \n second line [red]"


def as_override(key: str, text: str) -> str:
    """An override in Hydra's grammar with any text as its value."""
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"{key}='{quoted}'"


def corrupt_arrays(path: Path, trap: Path) -> dict[str, Callable[[], object]]:
    """Functions that replace the arrays of a record by something invalid."""
    return {
        "object array": lambda: np.savez(path, x=np.array([Touch(trap)], dtype=object)),
        "pickle": lambda: path.write_bytes(pickle.dumps(Touch(trap))),
        "single array": lambda: np.save(path.open("wb"), np.ones(3)),
        "text": lambda: path.write_text("not an archive"),
        "nothing": lambda: path.write_bytes(b""),
        "half": lambda: path.write_bytes(path.read_bytes()[:200]),
    }


def corrupt_record(path: Path) -> dict[str, Callable[[], object]]:
    """Functions that corrupt a `run.json`."""
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
