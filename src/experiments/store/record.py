"""A recorded run: its content, outcome, metrics and verdicts."""

import hashlib
import io
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.job import PublishedResult, Source
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core import atomic_files, summaries
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.exact_json import dumps
from bythebook.experiments.core.judging import Verdict, judge
from bythebook.experiments.core.outcome import Outcome, Scalar
from bythebook.experiments.core.study import studies
from bythebook.models import datasets
from bythebook.models.types import AnyArray

FINISHED, FAILED = "finished", "failed"
MAX_ARRAY_BYTES = 2**32  # of a record's file of arrays
ARRAY_PREFIX = "quantity "  # of names in an archive: NumPy reserves the name `file`


class Record:
    """A recorded run: the content of run.json, and arrays that are read on demand."""

    def __init__(
        self, folder: Path, content: dict[str, Any], arrays: Sequence[bytes] | None = None
    ) -> None:
        self.folder = folder
        self.content = content
        self.arrays = arrays  # None if they are in a file of the folder

    def __getitem__(self, name: str) -> Any:
        return self.content[name]

    @property
    def id(self) -> str:
        """The run id: the key and the number of the attempt."""
        return str(self.content["id"])

    @property
    def finished(self) -> bool:
        """Whether the run ended without an error."""
        return bool(self.content["status"] == FINISHED)

    @cached_property
    def published(self) -> PublishedResult:
        """Source and claims: those of the present experiment file, else the recorded ones."""
        if self["canonical"] and self["experiment"] in catalogue.experiment_names():
            with suppress(InputError):  # an invalid file is ignored
                return load_job(self["experiment"]).published
        try:
            return PublishedResult.from_record(self["printed"])
        except (TypeError, ValueError, LookupError) as error:
            raise InputError(
                f"record {self.folder}: its claims could not be read: {error}"
            ) from error

    @property
    def source(self) -> Source:
        return self.published.source

    @property
    def study(self) -> str:
        """The name of the study."""
        return str(self["science"]["study"])

    @cached_property
    def verdicts(self) -> list[dict[str, Any]]:
        """The verdicts on the claims.

        With other parameters than the published ones, claims about missing quantities are left out.
        """
        verdicts = []
        for claim in self.published.claims if self.finished else ():
            try:
                verdicts.append(self.judge_claim(claim).to_json())
            except InputError:
                if self["canonical"]:
                    raise
        return verdicts

    def judge_claim(self, claim: Claim) -> Verdict:
        """The verdict on a claim, given the data that the run used."""
        data = self["provenance"]["data"]
        originals = {name for name, entry in data.items() if entry["grade"] != datasets.STANDIN}
        return judge(claim, self.outcome, self["grade"], originals, self.equations)

    @property
    def equations(self) -> dict[str, dict[str, Any]]:
        """The gaps of the equations that the claims name; `core.equations.Evaluation.content`."""
        gaps: dict[str, dict[str, Any]] = self.content.get("equations", {})
        return gaps

    @property
    def grade(self) -> str:
        """The weakest grade of the data that decide a claim; without claims, that of the run."""
        grades = {verdict["grade"] for verdict in self.verdicts} or {self["grade"]}
        return str(max(grades, key=datasets.GRADES.index))

    @property
    def not_converged(self) -> list[str]:
        """Sentences about fits that stopped at their limit of iterations."""
        return list(self["provenance"].get("not_converged", ()))

    @property
    def unexpected_verdicts(self) -> list[dict[str, Any]]:
        """The verdicts that differ from the expected ones."""
        return [verdict for verdict in self.verdicts if not verdict["as_expected"]]

    @property
    def title(self) -> str:
        """The printed item, or the study's name."""
        return self.source.item or self.study

    @cached_property
    def outcome(self) -> Outcome:
        """The computed quantities, after a check of their digests."""
        encoded, large = self["outcome"], {}
        _check_digest(self["digests"], "outcome", dumps(encoded).encode(), self.folder)
        if self.arrays is not None:
            large = self._decode_arrays(self.arrays)
        elif "arrays.npz" in self["digests"]:
            path = self.folder / "arrays.npz"
            try:
                content = atomic_files.read_limited(path, MAX_ARRAY_BYTES)
            except OSError as error:
                raise InputError(f"the file {path} could not be read: {error}") from error
            _check_digest(self["digests"], "arrays.npz", content, self.folder)
            large = _read_archive(content, path)
        try:
            return Outcome.from_json(encoded, large)
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(
                f"record {self.folder}: its outcome could not be read: {error}"
            ) from error

    def _decode_arrays(self, arrays: Sequence[bytes]) -> dict[str, AnyArray]:
        """The arrays of a packed record, in the order of their digests."""
        names = [name for name in self["digests"] if name.startswith(ARRAY_PREFIX)]
        decoded = {}
        for name, content in zip(names, arrays, strict=True):
            _check_digest(self["digests"], name, content, self.folder)
            decoded[name.removeprefix(ARRAY_PREFIX)] = _read_array(content, self.folder)
        return decoded

    @cached_property
    def metrics(self) -> dict[str, Scalar]:
        """Numbers, booleans and text by name, as lists of runs show them."""
        study = studies().get(self.study)
        return summaries.scalar_metrics(self.outcome, study.headline if study is not None else {})


def sha256_hex(content: bytes) -> str:
    """The SHA-256 digest of some content, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def _check_digest(digests: dict[str, str], name: str, content: bytes, folder: Path) -> None:
    if digests.get(name) != sha256_hex(content):
        raise InputError(f"record {folder}: the checksum of {name} does not match")


def _read_archive(content: bytes, path: Path) -> dict[str, AnyArray]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            return {name.removeprefix(ARRAY_PREFIX): stored[name] for name in stored.files}
    except (OSError, ValueError, AttributeError, TypeError, zipfile.BadZipFile, EOFError) as error:
        raise InputError(f"the file {path} could not be read: {error}") from error


def _read_array(content: bytes, folder: Path) -> AnyArray:
    try:
        array: AnyArray = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except (OSError, ValueError, TypeError, EOFError) as error:
        raise InputError(f"record {folder}: its arrays could not be read: {error}") from error
    return array
