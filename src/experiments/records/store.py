"""Run folders: whole or not at all, never overwritten.

A run's folder is named after its key and an attempt: `3f2a9c...-1`. Equal keys mean equal bits, so
a process that finds the folder already there lost a harmless race and adopts what it finds. Whether
something is done is a look at the file system; there is no index that could disagree with it.
"""

import hashlib
import io
import shutil
import time
import uuid
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Job, Printed, Source
from experiments.contract import views
from experiments.contract.claims import Claim, Verdict, judge
from experiments.contract.errors import BadInput
from experiments.contract.exact_json import dumps
from experiments.contract.outcome import Outcome, Scalar
from experiments.contract.study import studies
from experiments.records import seal
from models import datasets
from models.types import AnyArray

FINISHED, FAILED = "finished", "failed"
_KEPT = "quantity "  # before a name in the archive, where `file` would mean something else


class Record:
    """A run as recorded: the plain content of run.json, arrays read when asked for."""

    def __init__(self, folder: Path, content: dict[str, Any]) -> None:
        self.folder = folder
        self.content = content

    def __getitem__(self, name: str) -> Any:
        return self.content[name]

    @property
    def id(self) -> str:
        return str(self.content["id"])

    @property
    def finished(self) -> bool:
        return bool(self.content["status"] == FINISHED)

    @cached_property
    def printed(self) -> Printed:
        """What the book says of it: the experiment's file today, else what was recorded."""
        if self["canonical"] and self["experiment"] in catalogue.names():
            with suppress(BadInput):  # a file that does not hold together today says nothing
                return experiment_job(self["experiment"]).printed
        try:
            return Printed.recorded(self["printed"])
        except (TypeError, ValueError, LookupError) as error:
            raise BadInput(
                f"the record {self.folder}: its claims cannot be read: {error}"
            ) from error

    @property
    def source(self) -> Source:
        return self.printed.source

    @property
    def study(self) -> str:
        return str(self["science"]["study"])

    @cached_property
    def verdicts(self) -> list[dict[str, Any]]:
        """Every claim held against the outcome; with knobs other than the book's, what can be."""
        found = []
        for claim in self.printed.claims if self.finished else ():
            try:
                found.append(self.judged(claim).to_json())
            except BadInput:
                if self["canonical"]:
                    raise
        return found

    def judged(self, claim: Claim) -> Verdict:
        """A claim held against the outcome, with the data that the run had."""
        data = self["provenance"]["data"]
        originals = {name for name, entry in data.items() if entry["grade"] != datasets.STANDIN}
        return judge(claim, self.outcome, self["grade"], originals)

    @property
    def surprises(self) -> list[dict[str, Any]]:
        """The claims that came out otherwise than the file expects."""
        return [verdict for verdict in self.verdicts if not verdict["as_expected"]]

    @property
    def title(self) -> str:
        return self.source.item or self.study

    @cached_property
    def outcome(self) -> Outcome:
        """What was computed, if it is what was written."""
        stated, large = self["outcome"], {}
        _same(self["digests"], "outcome", dumps(stated).encode(), self.folder)
        if "arrays.npz" in self["digests"]:
            path = self.folder / "arrays.npz"
            try:
                content = path.read_bytes()
            except OSError as error:
                raise BadInput(f"the arrays {path} cannot be read: {error}") from error
            _same(self["digests"], "arrays.npz", content, self.folder)
            large = _arrays(content, path)
        try:
            return Outcome.from_json(stated, large)
        except (LookupError, TypeError, ValueError) as error:
            raise BadInput(
                f"the record {self.folder}: its outcome cannot be read: {error}"
            ) from error

    @cached_property
    def metrics(self) -> dict[str, Scalar]:
        """Numbers, truth values and words by name: what a list of runs shows."""
        study = studies().get(self.study)
        return views.scalars(self.outcome, study.headline if study is not None else {})


class RunStore:
    """The runs below an outputs folder."""

    def __init__(self, outputs: Path) -> None:
        self.outputs = outputs
        self.runs = outputs / "runs"

    def place(self, job: Job) -> Path:
        """The folder of a job's attempts: the book's result, or the study for anything else."""
        if job.canonical and job.experiment:
            return self.runs / job.experiment
        return self.runs / "study" / job.study.name

    def done(self, job: Job) -> Record | None:
        """The newest finished attempt with the job's key."""
        return _first_finished(reversed(self._attempts(job)))

    def _attempts(self, job: Job) -> list[Path]:
        """The attempts at a key, oldest first: a few look-ups, however many runs there are."""
        place = self.place(job)
        found: list[Path] = []
        while (path := place / f"{job.key}-{len(found) + 1}").exists():
            found.append(path)
        return found

    def write(
        self,
        job: Job,
        provenance: dict[str, Any],
        *,
        outcome: Outcome | None = None,
        error: dict[str, str] | None = None,
        adopt: bool = True,
    ) -> Record:
        """Record a run: write aside, then rename. Adopt an equal run that was there first.

        The new name is the one after all attempts that were looked at, and nobody can take it
        unnoticed: so no finished run slips in between the look and the rename.
        """
        place = self.place(job)
        place.mkdir(parents=True, exist_ok=True)
        aside = place / f".writing-{uuid.uuid4().hex}"  # as open to others as their umask says
        aside.mkdir()
        stated, large = (Outcome() if outcome is None else outcome).to_json()
        digests = {"outcome": _digest(dumps(stated).encode())}
        try:
            if large:
                stream = io.BytesIO()
                named = {f"{_KEPT}{name}": array for name, array in large.items()}
                np.savez(stream, allow_pickle=False, **named)
                (aside / "arrays.npz").write_bytes(stream.getvalue())
                digests["arrays.npz"] = _digest(stream.getvalue())
            while True:
                attempts = self._attempts(job)
                if adopt and not error and (there := _first_finished(reversed(attempts))):
                    return there
                run_id = f"{job.key}-{len(attempts) + 1}"
                content = {
                    "format": seal.FORMAT,
                    "id": run_id,
                    "key": job.key,
                    "status": FAILED if error else FINISHED,
                    "error": error,
                    "experiment": job.experiment,
                    "canonical": job.canonical,
                    "grade": job.grade,
                    "science": job.science,
                    "printed": job.printed.content,
                    "outcome": stated,
                    "digests": digests,
                    "provenance": {**provenance, "code": job.code, "data": job.data},
                }
                (aside / "run.json").write_text(seal.sealed(content), encoding="utf-8")
                target = place / run_id
                try:
                    aside.rename(target)
                    return Record(target, content)
                except OSError:  # someone else took the name: look again
                    if not target.is_dir():
                        raise
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def latest(self, experiment: str) -> Record | None:
        """The newest finished run of an experiment as its file stated it at the time."""
        folders = [p for p in (self.runs / experiment).glob("[!.]*") if (p / "run.json").exists()]
        newest_first = sorted(folders, key=lambda p: (p / "run.json").stat().st_mtime_ns)[::-1]
        return _first_finished(newest_first)

    def folders(self) -> Iterator[Path]:
        """Every run folder there is."""
        for path in sorted(self.runs.glob("*/*/[!.]*/run.json")):
            yield path.parent

    def older(self, pattern: str) -> int:
        """How many runs of these experiments were recorded in an older format."""
        return sum(is_older(path.parent) for path in self.runs.glob(f"{pattern}/[!.]*/run.json"))

    def find(self, run_id: str) -> Record:
        """A run by its id or the beginning of it."""
        if not run_id or not all(c in "0123456789abcdef-" for c in run_id):
            raise BadInput(
                f"'{run_id}' is not a run id; allowed: hexadecimal digits and an attempt"
            )
        found = [path for path in self.folders() if path.name.startswith(run_id)]
        exact = [path for path in found if path.name == run_id]
        if len(exact or found) == 1:
            return read((exact or found)[0])
        if found:
            raise BadInput(f"'{run_id}' fits {len(found)} runs: {_some(found)}")
        raise BadInput(f"there is no run '{run_id}' below {self.runs}")

    def sweep_leftovers(self) -> None:
        """Remove what interrupted writes left aside, an hour after they stopped."""
        newest = time.time() - 3600
        for path in self.runs.glob("*/*/.writing-*"):
            with suppress(OSError):  # it is gone already, or not ours to remove
                if path.stat().st_mtime < newest:
                    shutil.rmtree(path)


def is_older(folder: Path) -> bool:
    """Was a run recorded in a format that came before this one? Its first line says so."""
    try:
        with (folder / "run.json").open("rb") as stream:
            stated = seal.stated_format(stream.read(60))
    except OSError:
        return False
    return stated is not None and stated < seal.FORMAT


def read(folder: Path) -> Record:
    """A record from its folder, if it is what was written there."""
    path = folder / "run.json"
    try:
        content = seal.opened(path.read_bytes())
    except OSError as error:
        raise BadInput(f"the record {path} cannot be read: {error}") from error
    except seal.Broken as error:
        raise BadInput(f"the record {path} is passed over: {error}") from error
    if content["id"] != folder.name:
        raise BadInput(f"the record {path} is passed over: it is that of run {content['id']}")
    return Record(folder, content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _same(digests: dict[str, str], name: str, content: bytes, folder: Path) -> None:
    if digests.get(name) != _digest(content):
        raise BadInput(f"the record {folder}: {name} is not what was written")


def _arrays(content: bytes, path: Path) -> dict[str, AnyArray]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            return {name.removeprefix(_KEPT): stored[name] for name in stored.files}
    except (OSError, ValueError, AttributeError, TypeError, zipfile.BadZipFile, EOFError) as error:
        raise BadInput(f"the arrays {path} cannot be read: {error}") from error


def _first_finished(folders: Iterable[Path]) -> Record | None:
    for folder in folders:
        try:
            record = read(folder)
        except BadInput:  # torn by a power cut: the run is made again, under the next number
            continue
        if record.finished:
            return record
    return None


def _some(paths: list[Path]) -> str:
    shown = ", ".join(path.name for path in paths[:4])
    return shown + (", ..." if len(paths) > 4 else "")
