"""A run's figures and tables, beside its record: made once, from it alone, whole or not at all."""

import shutil
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from experiments.configuration.jobs import recorded_job
from experiments.records.record import Record


def ensure(record: Record) -> None:
    """Draw and write what is not there yet. Any process may do this at any time."""
    ensure_figures(record)
    ensure_tables(record)


def draw(
    record: Record,
    folder: Path,
    formats: Sequence[str] = ("png",),
    look: str = "screen",
    *,
    thumbnail: bool = False,
) -> list[Path]:
    """Draw every figure of a record into a folder; nothing is computed."""
    from experiments.drawing import canvas, registry

    study = recorded_job(record.content).study
    with canvas.style(look):
        drawn = registry.figures(study, record.outcome)
        return canvas.save_all(drawn, folder, formats, thumbnail=thumbnail)


def ensure_figures(record: Record) -> None:
    """Every figure as PNG, and the headline small as well, the way the MLflow UI shows images."""
    if record.finished and not (record.folder / "figures").exists():
        _fill(
            record.folder / "figures",
            lambda folder: draw(record, folder, thumbnail=True),
        )


def keep_figures(record: Record, drawn: Iterable[Path]) -> None:
    """The same figures, if somebody drew them already, in these files and perhaps others."""
    if not (record.folder / "figures").exists():
        wanted = [path for path in drawn if path.suffix in (".png", ".webp")]
        _fill(
            record.folder / "figures",
            lambda folder: [shutil.copyfile(path, folder / path.name) for path in wanted],
        )


def ensure_tables(record: Record) -> None:
    """The tables as CSV."""
    from experiments.records.tables import write_tables

    if record.finished and not (record.folder / "tables").exists():
        _fill(record.folder / "tables", lambda folder: write_tables(record, folder, ["csv"]))


def _fill(target: Path, write: Callable[[Path], object]) -> None:
    aside = target.with_name(f".drawing-{uuid.uuid4().hex}")
    aside.mkdir(parents=True)  # a packed run has no folder yet
    try:
        write(aside)
        aside.rename(target)
    except OSError:
        if not target.is_dir():  # else somebody else drew the same
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
