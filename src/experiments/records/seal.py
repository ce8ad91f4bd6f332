"""run.json as text: a line a field, and a last one with the digest of all others.

A record that was edited, torn or made by something else is told by its seal, before anything in it
is believed; a sealed one is still looked at field by field, since anybody can seal.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from experiments.contract.exact_json import dumps, loads

FORMAT = 3
LARGEST = 64 * 2**20  # bytes: large arrays are beside it
_SEAL = re.compile(rb',\n"seal": "([0-9a-f]{64})"\n\}\n\Z')
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
_GIT = ("commit", "dirty")
_MOST = {"started": 1e11, "seconds": 1e9, "cpu_seconds": 1e9}
_LONGEST = 250  # characters of an experiment's name
_RUN = re.compile(r"[0-9a-f]{16}-[1-9]\d{0,8}")
_STUDY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_DATA = ("sha256", "grade", "origin")


class Broken(Exception):
    """What is wrong with a record, in a few words."""


def lines(content: Mapping[str, Any]) -> str:
    """JSON with a line for each field: whole indentation would take ten times as long."""
    return _opening(content) + "\n}\n"


def _opening(content: Mapping[str, Any], known: Mapping[str, str] | None = None) -> str:
    texts = ((name, (known or {}).get(name) or dumps(value)) for name, value in content.items())
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in texts)


def sealed(content: Mapping[str, Any], known: Mapping[str, str] | None = None) -> str:
    """The same, with its seal; of some fields the JSON may be known already."""
    body = _opening(content, known)
    return f'{body},\n"seal": "{hashlib.sha256(body.encode()).hexdigest()}"\n}}\n'


def opened(raw: bytes) -> dict[str, Any]:
    """The content of a record, if it is what was written and has what a record has."""
    stated = stated_format(raw)
    if stated is not None and stated != FORMAT:
        raise Broken(f"it has format {stated}, expected {FORMAT}")
    if len(raw) > LARGEST:
        raise Broken(f"it has {len(raw):,} bytes; allowed: {LARGEST:,}")
    seal = _SEAL.search(raw)
    if seal is None:
        raise Broken("it is not whole")
    if hashlib.sha256(raw[: seal.start()]).hexdigest().encode() != seal[1]:
        raise Broken("it is not what was written")
    try:
        content: Any = loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise Broken(f"it cannot be read: {error}") from error
    for line in _problems(content):
        raise Broken(line)
    del content["seal"]
    return dict(content)


def stated_format(raw: bytes) -> int | None:
    """The format that its first line states."""
    found = _FORMAT.match(raw[:60])
    return int(found[1]) if found else None


def _problems(content: Any) -> Iterator[str]:
    if not isinstance(content, dict):
        yield "it is no mapping"
        return
    yield from _unlike(content, _FIELDS, "")
    for name, fields in _PARTS.items():
        if content[name] is not None:
            yield from _unlike(content[name], fields, f"{name}.")
    if not all(isinstance(claim, dict) for claim in content["printed"]["claims"]):
        yield "printed.claims holds what is no claim"
    facts = content["provenance"]
    if not all(name in facts["git"] for name in _GIT):
        yield "provenance.git is not whole"
    for entry in facts["data"].values():
        whole = isinstance(entry, dict) and all(isinstance(entry.get(n), str) for n in _DATA)
        if not whole:
            yield "provenance.data is not whole"
    if not all(isinstance(digest, str) for digest in content["digests"].values()):
        yield "digests holds what is no digest"
    if not all(isinstance(version, str) for version in facts["packages"].values()):
        yield "provenance.packages holds what is no version"
    for name, most in _MOST.items():
        if not 0 <= facts[name] <= most:  # NaN is not
            yield f"provenance.{name} is no time"
    yield from _nameless(content)


def _nameless(content: Mapping[str, Any]) -> Iterator[str]:
    """Names that become places: of a run, a study and an experiment."""
    if not _RUN.fullmatch(content["id"]):
        yield f"'{content['id'][:40]}' is no run's id"
    if not _STUDY.fullmatch(content["science"]["study"]):
        yield f"'{content['science']['study'][:40]}' is no study's name"
    place = content["experiment"]
    if place is not None and (len(place) > _LONGEST or {"", ".", ".."} & {*place.split("/")}):
        yield f"'{place[:40]}' is no experiment's name"


def _unlike(
    content: Mapping[str, Any], fields: Mapping[str, tuple[type, ...]], prefix: str
) -> Iterator[str]:
    for name, kinds in fields.items():
        if name not in content:
            yield f"it has no {prefix}{name}"
        elif not isinstance(content[name], kinds):
            yield f"{prefix}{name} is not of its type"
