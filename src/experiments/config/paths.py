"""The outputs folder, and checks that files are written inside it."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bythebook.experiments.core.errors import InputError

OUTPUTS_ENV = "BYTHEBOOK_OUTPUTS"


def resolve_output_dir(configured: str | None = None) -> Path:
    """The outputs folder: the configured one, else BYTHEBOOK_OUTPUTS, else that of the project.

    Outside a checkout it is `outputs` in the current folder.
    """
    folder = configured or os.environ.get(OUTPUTS_ENV)
    if folder:
        return Path(folder).expanduser().absolute()
    return (_find_checkout() or Path.cwd()) / "outputs"


def _find_checkout() -> Path | None:
    """The checkout that contains the current folder, or an editable installation's."""
    current = Path.cwd()
    for folder in (current, *current.parents, Path(__file__).parents[3]):
        if (folder / "pyproject.toml").is_file() and (folder / "conf" / "config.yaml").is_file():
            return folder
    return None


def ensure_writable(outputs: Path, *below: str) -> Path:
    """Create the outputs folder and a folder `below` it; refuse if it is not writable.

    The outputs folder may be anywhere. Its content may come from another user: a link that points
    outside is refused, so that no file is written elsewhere.
    """
    folder = outputs.joinpath(*below)
    try:
        outputs.mkdir(parents=True, exist_ok=True)
        _reject_escaping_symlinks(outputs, outputs.iterdir())
        check_inside(outputs, folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"cannot write to the outputs folder {folder}: {reason};"
            f" choose another with outputs=<folder> or {OUTPUTS_ENV}"
        ) from error
    return folder


def check_inside(outputs: Path, folder: Path) -> Path:
    """The folder, if no part of its path is a link that points outside the outputs folder."""
    parts = [folder, *folder.parents]
    _reject_escaping_symlinks(outputs, parts[: parts.index(outputs)])
    return folder


def _reject_escaping_symlinks(outputs: Path, paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_symlink() and not path.resolve().is_relative_to(outputs.resolve()):
            raise InputError(
                f"{path} is a symbolic link that points outside the outputs folder;"
                " allowed: links within the outputs folder"
            )
