"""Where a call's runs are kept and logged."""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.configuration.paths import outputs_folder, writable
from experiments.configuration.schema import TRACKING
from experiments.contract.errors import BadInput
from experiments.records import tags
from experiments.tracking.local import open_tracker
from experiments.tracking.tracker import Forgiving, Tracker


def folder(outputs: str | Path | None) -> Path:
    """The outputs folder, as every command has it."""
    if outputs is not None and not isinstance(outputs, str | Path):
        raise BadInput(
            f"outputs={outputs!r} is not a folder; a knob of that name is 'study.outputs'"
        )
    return outputs_folder(str(outputs) if outputs else None)


def to_write(outputs: str | Path | None) -> Path:
    """The outputs folder, if it can be written."""
    return writable(folder(outputs))


def tracker(track: bool | str, outputs: Path) -> Tracker | None:
    """`True` is the folder's own store, `False` none; a text names a kind or a server's address."""
    if not isinstance(track, bool | str):
        raise BadInput(f"track={track!r} is not allowed; allowed: {_ALLOWED}")
    kind = track if isinstance(track, str) else "local" if track else "off"
    address = os.environ.get("MLFLOW_TRACKING_URI")
    if "://" in kind:
        kind, address = "server", kind
    if kind not in TRACKING:
        raise BadInput(f"track={kind!r} is not allowed; allowed: {_ALLOWED}")
    found = open_tracker(kind, address, outputs)
    return Forgiving(found, warn) if found is not None else None


_ALLOWED = f"True, False, {', '.join(TRACKING)} or a server's address"


def warn(line: str) -> None:
    """What the command line would tell beside the results."""
    warnings.warn(line, RuntimeWarning, stacklevel=4)


def checked_tags(given: Mapping[str, Any] | None) -> dict[str, str]:
    """Tags by name, checked like those of the command line."""
    return tags.parsed(f"{name}={value}" for name, value in (given or {}).items())
