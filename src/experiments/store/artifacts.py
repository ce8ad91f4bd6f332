"""Figures and tables in a run's folder, written atomically from its record."""

import json
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bythebook.experiments.config.job import job_from_record
from bythebook.experiments.store.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMED_FILE = "named.json"  # the figures that the result's file named when they were drawn


def ensure_artifacts(record: Record) -> None:
    """Write missing figures and tables; several processes may do so at the same time."""
    ensure_figures(record)
    ensure_tables(record)


def draw(
    record: Record,
    folder: Path,
    formats: Sequence[str] = ("png",),
    style: str = "screen",
    *,
    thumbnail: bool = False,
) -> list[Path]:
    """Draw every figure of a record into a folder, without running the study."""
    from bythebook.experiments.plotting import canvas

    with canvas.style(style):
        return canvas.save_all(make_figures(record), folder, formats, thumbnail=thumbnail)


def make_figures(record: Record) -> "Mapping[str, Figure]":
    """The figures of a record by name, those that the result's file names if it names some."""
    from bythebook.experiments.plotting import registry

    study = job_from_record(record.content).study
    source = f"experiment/{record['experiment']}.yaml" if record["canonical"] else ""
    return registry.figures(study, record.outcome, record.published.figures, source=source)


def ensure_figures(record: Record) -> None:
    """Write every figure as PNG and a thumbnail of the main one, for the MLflow page.

    Figures are drawn again if the result's file names others than when they were drawn.
    """
    if not record.finished or _is_drawn(record):
        return
    shutil.rmtree(record.folder / "figures", ignore_errors=True)

    def write(folder: Path) -> None:
        draw(record, folder, thumbnail=True)
        _note_named(record, folder)

    _write_dir_atomic(record.folder / "figures", write)


def _is_drawn(record: Record) -> bool:
    folder = record.folder / "figures"
    try:
        named = json.loads((folder / _NAMED_FILE).read_bytes())
    except (OSError, ValueError):
        named = {}
    return folder.exists() and bool(named == record.published.figures)


def _note_named(record: Record, folder: Path) -> None:
    if record.published.figures:
        (folder / _NAMED_FILE).write_text(json.dumps(record.published.figures), encoding="utf-8")


def copy_figures(record: Record, drawn: Iterable[Path]) -> None:
    """Copy figures from files that were drawn already, of which other formats are ignored."""
    if (record.folder / "figures").exists():
        return

    def write(folder: Path) -> None:
        for path in drawn:
            if path.suffix in (".png", ".webp"):
                shutil.copyfile(path, folder / path.name)
        _note_named(record, folder)

    _write_dir_atomic(record.folder / "figures", write)


def ensure_tables(record: Record) -> None:
    """Write the tables as CSV."""
    from bythebook.experiments.store.tables import write_tables

    if record.finished and not (record.folder / "tables").exists():
        _write_dir_atomic(
            record.folder / "tables", lambda folder: write_tables(record, folder, ["csv"])
        )


def _write_dir_atomic(target: Path, write: Callable[[Path], object]) -> None:
    temporary = target.with_name(f".drawing-{uuid.uuid4().hex}")
    temporary.mkdir(parents=True)  # a packed run may have no folder
    try:
        write(temporary)
        temporary.rename(target)
    except OSError:
        if not target.is_dir():  # otherwise another process wrote the same files
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
