"""Figures and tables in a run's folder, written atomically from its record."""

import shutil
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bythebook.experiments.config.job import job_from_record
from bythebook.experiments.store.record import Record


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
    from bythebook.experiments.plotting import canvas, registry

    study = job_from_record(record.content).study
    with canvas.style(style):
        figures = registry.figures(study, record.outcome)
        return canvas.save_all(figures, folder, formats, thumbnail=thumbnail)


def ensure_figures(record: Record) -> None:
    """Write every figure as PNG and a thumbnail of the main one, for the MLflow page."""
    if record.finished and not (record.folder / "figures").exists():
        _write_dir_atomic(
            record.folder / "figures",
            lambda folder: draw(record, folder, thumbnail=True),
        )


def copy_figures(record: Record, drawn: Iterable[Path]) -> None:
    """Copy figures from files that were drawn already, of which other formats are ignored."""
    if not (record.folder / "figures").exists():
        images = [path for path in drawn if path.suffix in (".png", ".webp")]
        _write_dir_atomic(
            record.folder / "figures",
            lambda folder: [shutil.copyfile(path, folder / path.name) for path in images],
        )


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
