"""Where things are written: where the user says, else the project's own outputs folder."""

import os
from pathlib import Path

from experiments.contract.errors import BadInput

VARIABLE = "BYTHEBOOK_OUTPUTS"


def outputs_folder(stated: str | None = None) -> Path:
    """The outputs folder: stated, else `BYTHEBOOK_OUTPUTS`, else the project's, else ./outputs."""
    chosen = stated or os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    return (_project() or Path.cwd()) / "outputs"


def _project() -> Path | None:
    """The checkout we stand in, or the one this package is installed from in place."""
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).parents[3]):
        if (folder / "pyproject.toml").is_file() and (folder / "conf" / "config.yaml").is_file():
            return folder
    return None


def writable(folder: Path) -> Path:
    """Make the folder, or say in one line why it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BadInput(
            f"cannot write to the outputs folder {folder}: {reason};"
            f" choose another with outputs=<folder> or {VARIABLE}"
        ) from error
    return folder
