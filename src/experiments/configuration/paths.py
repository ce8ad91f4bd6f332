"""Where things are written: where the user says, else the project's own outputs folder."""

import os
import tempfile
from collections.abc import Iterable
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


def writable(outputs: Path, *below: str) -> Path:
    """Make the outputs folder and one below it, or say in one line why it cannot be written.

    The folder may be anywhere. What is in it may have come from somebody else: a link that leads
    out of it is refused, so that nothing is written elsewhere.
    """
    folder = outputs.joinpath(*below)
    try:
        outputs.mkdir(parents=True, exist_ok=True)
        _refuse_links_out(outputs, outputs.iterdir())
        stays_in(outputs, folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BadInput(
            f"cannot write to the outputs folder {folder}: {reason};"
            f" choose another with outputs=<folder> or {VARIABLE}"
        ) from error
    return folder


def stays_in(outputs: Path, folder: Path) -> Path:
    """The folder itself, if no link on the way down to it leads out of the outputs folder."""
    steps = [folder, *folder.parents]
    _refuse_links_out(outputs, steps[: steps.index(outputs)])
    return folder


def _refuse_links_out(outputs: Path, paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_symlink() and not path.resolve().is_relative_to(outputs.resolve()):
            raise BadInput(
                f"{path} is a link that leads out of the outputs folder: nothing is written there;"
                " the outputs folder itself may be anywhere, what is in it stays in it"
            )
