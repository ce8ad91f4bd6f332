"""Provenance of a process: versions, machine, user, commit and command line."""

import getpass
import os
import platform
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bythebook.experiments.config.credentials import redact_credentials

PACKAGES = ("bythebook", "numpy", "scipy", "numba", "pandas", "matplotlib", "hydra-core", "mlflow")


@cache
def collect_environment() -> dict[str, Any]:
    """The fields that are equal for all runs of a process."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "user": _user(),
        "packages": {name: number for name in PACKAGES if (number := _version(name))},
        "git": _git(),
        "command": redact_credentials(_command()),
    }


def _command() -> str:
    """The command line; for a script or notebook, only its name."""
    program = Path(sys.argv[0] if sys.argv else "").name
    if program.startswith("ipykernel"):
        return "a notebook"
    if program in ("", "-c", "bythebook", "__main__.py"):
        return " ".join(["bythebook", *sys.argv[1:]])
    return f"python {program}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git() -> dict[str, Any]:
    """Commit and dirty flag of the checkout of this package; None for an installed wheel."""
    root = Path(__file__).parents[3]
    if not (root / "conf" / "config.yaml").is_file():
        return {"commit": None, "dirty": None}
    status = _output("git", "-C", str(root), "status", "--porcelain=v2", "--branch")
    if status is None:
        return {"commit": None, "dirty": None}
    commit = re.search(r"^# branch\.oid ([0-9a-f]+)$", status, re.MULTILINE)
    dirty = any(not line.startswith("# ") for line in status.splitlines())
    return {"commit": commit[1] if commit else None, "dirty": dirty}


def _output(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
