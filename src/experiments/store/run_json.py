"""The text format of run.json: one field per line, then a line with the checksum of the others.

A reader checks the checksum first, and so rejects edited, truncated and foreign files. It then
checks each field, because a checksum does not show who wrote the file.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bythebook.experiments.core.exact_json import dumps, loads

FORMAT_VERSION = 3
MAX_FILE_BYTES = 64 * 2**20  # large arrays are in a file of their own
_CHECKSUM_FIELD = re.compile(rb',\n"seal": "([0-9a-f]{64})"\n\}\n\Z')
_FORMAT = re.compile(rb'\{\s*"format": (\d+)')
_FIELDS: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "key": (str,),
    "status": (str,),
    "error": (dict, type(None)),
    "experiment": (str, type(None)),
    "canonical": (bool,),
    "grade": (str,),
    "science": (dict,),
    "printed": (dict,),
    "outcome": (dict,),
    "digests": (dict,),
    "provenance": (dict,),
}
_PARTS: dict[str, dict[str, tuple[type, ...]]] = {
    "science": {"study": (str,), "knobs": (dict,), "seed": (int,)},
    "printed": {"source": (dict,), "claims": (list,)},
    "provenance": {
        "started": (int, float),
        "seconds": (int, float),
        "cpu_seconds": (int, float),
        "code": (str,),
        "data": (dict,),
        "git": (dict,),
        "packages": (dict,),
        **dict.fromkeys(("python", "platform", "user", "command"), (str,)),
    },
    "error": {"type": (str,), "message": (str,)},
}
_EQUATION: dict[str, tuple[type, ...]] = {
    "gap": (int, float),
    "corrected_gap": (int, float, type(None)),
    "cases": (int,),
}
_GIT = ("commit", "dirty")
_MAX_SECONDS = {"started": 1e11, "seconds": 1e9, "cpu_seconds": 1e9}
_MAX_CHARS = 250  # of an experiment's name
_RUN = re.compile(r"[0-9a-f]{16}-[1-9]\d{0,8}")
_STUDY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_DATA = ("sha256", "grade", "origin")


class InvalidRecordError(Exception):
    """The text of a record is not valid; the message follows the path of the record."""


def to_json_lines(content: Mapping[str, Any]) -> str:
    """JSON with one line for each field; indenting all of it would take ten times as long."""
    return _field_lines(content) + "\n}\n"


def _field_lines(content: Mapping[str, Any], encoded: Mapping[str, str] | None = None) -> str:
    texts = ((name, (encoded or {}).get(name) or dumps(value)) for name, value in content.items())
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in texts)


def add_checksum(content: Mapping[str, Any], encoded: Mapping[str, str] | None = None) -> str:
    """The text of a record with its checksum; `encoded` has the JSON of some fields."""
    body = _field_lines(content, encoded)
    return f'{body},\n"seal": "{hashlib.sha256(body.encode()).hexdigest()}"\n}}\n'


def verify_and_parse(raw: bytes) -> dict[str, Any]:
    """The content of a record, after a check of its checksum and fields."""
    version = read_format_version(raw)
    if version is not None and version != FORMAT_VERSION:
        raise InvalidRecordError(f"it has format {version}; allowed: {FORMAT_VERSION}")
    if len(raw) > MAX_FILE_BYTES:
        raise InvalidRecordError(f"it has {len(raw):,} bytes; allowed: {MAX_FILE_BYTES:,}")
    checksum = _CHECKSUM_FIELD.search(raw)
    if checksum is None:
        raise InvalidRecordError("it is truncated")
    if hashlib.sha256(raw[: checksum.start()]).hexdigest().encode() != checksum[1]:
        raise InvalidRecordError("its checksum does not match")
    try:
        content: Any = loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise InvalidRecordError(f"it is not valid JSON: {error}") from error
    for line in _problems(content):
        raise InvalidRecordError(line)
    del content["seal"]
    return dict(content)


def read_format_version(raw: bytes) -> int | None:
    """The format version in the first lines of a record."""
    match = _FORMAT.match(raw[:60])
    return int(match[1]) if match else None


def _problems(content: Any) -> Iterator[str]:
    if not isinstance(content, dict):
        yield "it is not a mapping"
        return
    yield from _check_types(content, _FIELDS, "")
    for name, fields in _PARTS.items():
        if content[name] is not None:
            yield from _check_types(content[name], fields, f"{name}.")
    if not all(isinstance(claim, dict) for claim in content["printed"]["claims"]):
        yield "printed.claims has an invalid entry"
    equations = content.get("equations", {})  # of results whose claims name equations
    if not isinstance(equations, dict) or not all(
        isinstance(gaps, dict) for gaps in equations.values()
    ):
        yield "the field equations has the wrong type"
        return
    for name, gaps in equations.items():
        yield from _check_types(gaps, _EQUATION, f"equations.{name}.")
    provenance = content["provenance"]
    if not all(name in provenance["git"] for name in _GIT):
        yield "provenance.git is incomplete"
    for entry in provenance["data"].values():
        if not isinstance(entry, dict) or not all(isinstance(entry.get(n), str) for n in _DATA):
            yield "provenance.data is incomplete"
    if not all(isinstance(digest, str) for digest in content["digests"].values()):
        yield "digests has an invalid entry"
    if not all(isinstance(version, str) for version in provenance["packages"].values()):
        yield "provenance.packages has an invalid version"
    unconverged = provenance.get("not_converged", [])
    if not isinstance(unconverged, list) or not all(isinstance(s, str) for s in unconverged):
        yield "provenance.not_converged has an invalid entry"
    for name, maximum in _MAX_SECONDS.items():
        if not 0 <= provenance[name] <= maximum:  # also refuses NaN
            yield f"provenance.{name} is not a valid time"
    yield from _check_names(content)


def _check_names(content: Mapping[str, Any]) -> Iterator[str]:
    """Names that become parts of paths: of a run, a study and an experiment."""
    if not _RUN.fullmatch(content["id"]):
        yield f"'{content['id'][:40]}' is not a valid run id"
    if not _STUDY.fullmatch(content["science"]["study"]):
        yield f"'{content['science']['study'][:40]}' is not a valid name of a study"
    name = content["experiment"]
    if name is not None and (len(name) > _MAX_CHARS or {"", ".", ".."} & {*name.split("/")}):
        yield f"'{name[:40]}' is not a valid name of an experiment"


def _check_types(
    content: Mapping[str, Any], fields: Mapping[str, tuple[type, ...]], prefix: str
) -> Iterator[str]:
    for name, kinds in fields.items():
        if name not in content:
            yield f"the field {prefix}{name} is missing"
        elif not isinstance(content[name], kinds):
            yield f"the field {prefix}{name} has the wrong type"
