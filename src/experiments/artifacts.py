"""A run's figures and tables, beside its record: made once, from it alone, whole or not at all."""

import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

from experiments.records import Record

THUMBNAIL = 512  # pixels


def ensure(record: Record) -> None:
    """Draw and write what is not there yet. Any process may do this at any time."""
    if not record.finished:
        return
    if not (record.folder / "figures").exists():
        _fill(record.folder / "figures", lambda folder: _draw(record, folder))
    if not (record.folder / "tables").exists():
        from experiments.tables import write_tables

        _fill(record.folder / "tables", lambda folder: write_tables(record, folder, ["csv"]))


def _draw(record: Record, folder: Path) -> None:
    """Every figure as PNG, and the headline small as well, the way the MLflow UI shows images."""
    from experiments import plotting

    paths = plotting.draw(record, folder, ["png"])
    if paths:
        thumbnail(paths[0])


def thumbnail(path: Path) -> Path:
    """A small copy of an image beside it."""
    from PIL import Image

    small = path.with_suffix(".webp")
    with Image.open(path) as image:
        image.thumbnail((THUMBNAIL, THUMBNAIL))
        image.convert("RGB").save(small)
    return small


def _fill(target: Path, write: Callable[[Path], object]) -> None:
    aside = target.with_name(f".drawing-{uuid.uuid4().hex}")
    aside.mkdir()
    try:
        write(aside)
        aside.rename(target)
    except OSError:
        if not target.is_dir():  # else somebody else drew the same
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
