"""A run as recorded: its content, what it computed, and how its claims come out."""

import hashlib
import io
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Printed, Source
from experiments.contract import views, whole
from experiments.contract.claims import Claim, Verdict, judge
from experiments.contract.errors import BadInput
from experiments.contract.exact_json import dumps
from experiments.contract.outcome import Outcome, Scalar
from experiments.contract.study import studies
from models import datasets
from models.types import AnyArray

FINISHED, FAILED = "finished", "failed"
LARGEST = 2**32  # bytes of a record's arrays
KEPT = "quantity "  # before a name in an archive, where `file` would mean something else


class Record:
    """A run as recorded: the plain content of run.json, arrays read when asked for."""

    def __init__(
        self, folder: Path, content: dict[str, Any], arrays: Sequence[bytes] | None = None
    ) -> None:
        self.folder = folder
        self.content = content
        self.arrays = arrays  # None where they are in a file of the folder

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
        if self.arrays is not None:
            large = self._unpacked(self.arrays)
        elif "arrays.npz" in self["digests"]:
            path = self.folder / "arrays.npz"
            try:
                content = whole.content(path, LARGEST)
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

    def _unpacked(self, arrays: Sequence[bytes]) -> dict[str, AnyArray]:
        """The arrays of a packed record, in the order of their digests."""
        names = [name for name in self["digests"] if name.startswith(KEPT)]
        found = {}
        for name, content in zip(names, arrays, strict=True):
            _same(self["digests"], name, content, self.folder)
            found[name.removeprefix(KEPT)] = _array(content, self.folder)
        return found

    @cached_property
    def metrics(self) -> dict[str, Scalar]:
        """Numbers, truth values and words by name: what a list of runs shows."""
        study = studies().get(self.study)
        return views.scalars(self.outcome, study.headline if study is not None else {})


def digest(content: bytes) -> str:
    """As records keep it of their parts."""
    return hashlib.sha256(content).hexdigest()


def _same(digests: dict[str, str], name: str, content: bytes, folder: Path) -> None:
    if digests.get(name) != digest(content):
        raise BadInput(f"the record {folder}: {name} is not what was written")


def _arrays(content: bytes, path: Path) -> dict[str, AnyArray]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            return {name.removeprefix(KEPT): stored[name] for name in stored.files}
    except (OSError, ValueError, AttributeError, TypeError, zipfile.BadZipFile, EOFError) as error:
        raise BadInput(f"the arrays {path} cannot be read: {error}") from error


def _array(content: bytes, folder: Path) -> AnyArray:
    try:
        found: AnyArray = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except (OSError, ValueError, TypeError, EOFError) as error:
        raise BadInput(f"the record {folder}: its arrays cannot be read: {error}") from error
    return found
