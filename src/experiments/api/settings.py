"""Arguments of the Python interface that say where runs are stored and logged."""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bythebook.experiments.config.paths import ensure_writable, resolve_output_dir
from bythebook.experiments.config.schema import TRACKING
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.store import tags
from bythebook.experiments.tracking.local import make_tracker
from bythebook.experiments.tracking.tracker import FaultTolerantTracker, Tracker


def output_dir(outputs: str | Path | None) -> Path:
    """The outputs folder, resolved as by every command."""
    if outputs is not None and not isinstance(outputs, str | Path):
        raise InputError(
            f"outputs={outputs!r} is not a folder; a knob of that name is 'study.outputs'"
        )
    return resolve_output_dir(str(outputs) if outputs else None)


def writable_output_dir(outputs: str | Path | None) -> Path:
    """The outputs folder; raises `InputError` if it cannot be written."""
    return ensure_writable(output_dir(outputs))


def tracker_for(tracking: str, tracking_uri: str | None, outputs: Path) -> Tracker | None:
    """The tracker of a call, with the words and the environment variables of the command line."""
    if tracking not in TRACKING:
        allowed = ", ".join(map(repr, TRACKING))
        raise InputError(f"tracking={tracking!r} is not allowed; allowed: {allowed}")
    address = tracking_uri or os.environ.get("MLFLOW_TRACKING_URI")
    tracker = make_tracker(tracking, address, outputs)
    return FaultTolerantTracker(tracker, warn_user) if tracker is not None else None


def warn_user(line: str) -> None:
    """Issue as a warning what the command line prints to standard error."""
    warnings.warn(line, RuntimeWarning, stacklevel=4)


def validated_tags(tag_values: Mapping[str, Any] | None) -> dict[str, str]:
    """Tags by name, checked like those of the command line."""
    return tags.parse_tags(f"{name}={value}" for name, value in (tag_values or {}).items())
