"""A cache of the report's figures, drawn once for each run and sweep in the requested formats.

The pages show SVG, so this format is always drawn. Other formats are for download.

The cache is the folder outputs/report-cache/. Each of its folders has a name made of the run id,
which changes with the code of the study, and of digests of the shared plotting code, of the
figure's own code, and of the figures that the result's file names, so that a change of any of them
causes a new figure. The name of a sweep's folder contains a digest of its tables. Folders that no
present run needs are removed.
"""

import hashlib
import html
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matplotlib as mpl

from bythebook.experiments.core import atomic_files
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.slugs import unique_file_names
from bythebook.experiments.execution.process_pools import figure_pool, submit_safely
from bythebook.experiments.plotting import canvas
from bythebook.experiments.plotting.dark_mode import add_dark_mode
from bythebook.experiments.report.display_names import display_name
from bythebook.experiments.store import artifacts
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.sweeps import figures
from bythebook.experiments.sweeps.figures import ReferenceValue, read_cells
from bythebook.experiments.sweeps.run import load_sweep

PAGE_FORMAT = "svg"  # the format that the pages show
Formats = tuple[str, ...]
MAX_SERIAL_FIGURES = 3  # drawing so few is faster than starting other processes
MAX_UNUSED_AGE_S = 3600.0  # another report may still copy younger folders
NO_STUDY = "gone"
_FIGURE_ORDER_FILE = "order.json"  # names of the figures, in the order of the study


@dataclass(frozen=True)
class CachedFigures:
    """The figures of a run in the cache, or the problem that prevented them."""

    folder: Path
    names: tuple[str, ...] = ()
    problem: str = ""
    formats: Formats = (PAGE_FORMAT,)


@dataclass(frozen=True)
class FigureFile:
    """A figure on a page; `path` is the path of its files without the suffix."""

    name: str
    path: str
    alt: str
    width: int
    height: int
    formats: Formats


ReferenceValues = Sequence[ReferenceValue]
# The folder of a run or sweep, the folder for its figures, and printed values to draw as lines.
Task = tuple[Path, Path, ReferenceValues]
Draw = Callable[[Path, Path, ReferenceValues, Formats], Sequence[Path]]


def parse_formats(formats: str) -> Formats:
    """The formats of a comma-separated text, with `PAGE_FORMAT` first; others are refused."""
    named = tuple(dict.fromkeys(formats.split(",")))
    canvas.check_formats(named, "screen")
    return (PAGE_FORMAT, *(name for name in named if name != PAGE_FORMAT))


def run_figures(
    records: Mapping[str, Record], cache_dir: Path, formats: Formats = (PAGE_FORMAT,)
) -> dict[str, CachedFigures]:
    """The figures of every record, by run id; missing ones are drawn in parallel."""
    tasks: dict[str, Task] = {
        r.id: (r.folder, cache_dir / _cache_name(r), ()) for r in records.values()
    }
    return _cached(_draw_run, tasks, formats)


def sweep_figures(
    folders: Sequence[Path],
    cache_dir: Path,
    printed: Mapping[str, ReferenceValues],
    formats: Formats = (PAGE_FORMAT,),
) -> dict[str, CachedFigures]:
    """The figures of every sweep that has some, by the name of its folder, with printed values."""
    tasks: dict[str, Task] = {}
    for folder in folders:
        with suppress(FileNotFoundError):  # no run of the sweep has a number to draw
            digest = hashlib.sha256(Path(figures.__file__).read_bytes())
            for name in ("sweep.json", "cells.csv", "pivot.csv"):
                digest.update((folder / name).read_bytes())
            marks = tuple(printed.get(folder.name, ()))
            digest.update(repr(marks).encode())
            target = cache_dir / f"{folder.name}-{digest.hexdigest()[:12]}-{_style()}"
            tasks[folder.name] = (folder, target, marks)
    return _cached(_draw_sweep, tasks, formats)


def prune_cache(cache_dir: Path, present: Iterable[str], used: Iterable[CachedFigures]) -> None:
    """Remove figures that no present run needs, and the remains of interrupted writers.

    The modification time of a folder is that of its last use. Young folders stay, because another
    report that is written at the same time touches the folders that it is about to copy.
    """
    runs, codes = set(present), {f"{_style()}-{code}" for code in _figure_code_hashes().values()}
    copied = {entry.folder for entry in used}
    for folder in cache_dir.iterdir() if cache_dir.is_dir() else ():
        run, _, code = folder.name.rpartition(f"-{_style()}-")
        code = code.partition(".")[0]  # without the figures that the result's file names
        needed = folder in copied or (run in runs and f"{_style()}-{code}" in codes)
        with suppress(OSError):  # another process prunes as well, or it is a link
            if not needed and time.time() - folder.stat().st_mtime > MAX_UNUSED_AGE_S:
                shutil.rmtree(folder)


def _cached(draw: Draw, tasks: Mapping[str, Task], formats: Formats) -> dict[str, CachedFigures]:
    missing = []
    for source, target, marks in tasks.values():
        if _is_complete(target, formats):
            target.touch()  # marks it as used, see prune_cache
        else:
            missing.append((source, target, marks))
    targets = [target for _, target, _ in missing]
    problems = dict(zip(targets, _draw_all(draw, missing, formats), strict=True))
    cached = {}
    for name, (_, folder, _) in tasks.items():
        problem = problems.get(folder, "")
        names = () if problem else _figure_names(folder) or ()
        cached[name] = CachedFigures(folder, names, problem, formats)
    return cached


def _is_complete(folder: Path, formats: Formats) -> bool:
    """True if a folder contains all its figures in these formats."""
    names = _figure_names(folder)
    return names is not None and all(
        (folder / f"{name}.{suffix}").exists() for name in names for suffix in formats
    )


def _figure_names(folder: Path) -> tuple[str, ...] | None:
    """The names of the figures in a folder; None if the file of names is missing or invalid."""
    try:
        names = json.loads(atomic_files.read_limited(folder / _FIGURE_ORDER_FILE, 2**20))
    except (OSError, ValueError, RecursionError):
        return None
    plain = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return tuple(names) if plain and unique_file_names(names) == names else None


def _cache_name(record: Record) -> str:
    code = _figure_code_hashes().get(record.study)
    return f"{record.id}-{_style()}-{NO_STUDY if code is None else code + _named_digest(record)}"


def _named_digest(record: Record) -> str:
    """A digest of the figures that the result's file names, in their order, after a point."""
    named = {}
    with suppress(InputError):  # drawing reports the problem
        named = record.published.figures
    return f".{hashlib.sha256(json.dumps(named).encode()).hexdigest()[:8]}" if named else ""


@cache
def _style() -> str:
    """Digest of the shared plotting code, the style sheet and the version of matplotlib."""
    home = Path(canvas.__file__).parent
    digest = hashlib.sha256(mpl.__version__.encode())
    for path in (*sorted(home.glob("*.py")), home / "styles" / "screen.mplstyle"):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def _figure_code_hashes() -> dict[str, str]:
    """Digests of the figure modules by study, and `NO_STUDY` for a study that was removed."""
    home = Path(canvas.__file__).parents[1] / "figures"
    modules = {path.stem: path for path in home.glob("*/*.py")}
    codes = {name: hashlib.sha256(p.read_bytes()).hexdigest()[:8] for name, p in modules.items()}
    return {**codes, "": NO_STUDY}


def _draw_run(source: Path, folder: Path, marks: ReferenceValues, formats: Formats) -> list[Path]:
    record, pictures = read_run(source), "png" in formats
    paths = artifacts.draw(record, folder, formats, thumbnail=pictures)
    if pictures:
        artifacts.copy_figures(record, paths)  # for MLflow, so that they are not drawn twice
    return paths


def _draw_sweep(source: Path, folder: Path, marks: ReferenceValues, formats: Formats) -> list[Path]:
    plan, _, _ = load_sweep(source)
    return figures.redraw_sweep(plan, read_cells(source), folder, formats, marks=marks)


def _draw_all(draw: Draw, missing: list[Task], formats: Formats) -> Iterator[str]:
    """Draw all tasks; gives an error message, or the empty text, for each."""
    if len(missing) <= MAX_SERIAL_FIGURES:
        yield from (_draw_task(draw, *task, formats) for task in missing)
        return
    with figure_pool() as pool:
        for future in [submit_safely(pool, _draw_task, draw, *task, formats) for task in missing]:
            try:
                yield future.result()
            except BrokenProcessPool:
                yield "the drawing process was killed"


def _draw_task(
    draw: Draw, source: Path, target: Path, marks: ReferenceValues, formats: Formats
) -> str:
    """Draw into a temporary folder and rename it. A failure is returned as a message."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".drawing-", dir=target.parent))
    if target.exists() and _figure_names(target) is None:
        shutil.rmtree(target, ignore_errors=True)  # damaged
    try:
        paths = draw(source, temporary, marks, formats)
        for path in paths:
            if path.suffix == ".svg":
                path.write_text(add_dark_mode(path.read_text(encoding="utf-8")), encoding="utf-8")
        names = list(dict.fromkeys(path.stem for path in paths))
        (temporary / _FIGURE_ORDER_FILE).write_text(json.dumps(names), encoding="utf-8")
        if target.exists():  # in other formats, which another report may be copying
            for path in temporary.iterdir():
                path.replace(target / path.name)
        else:
            temporary.rename(target)
    except Exception as problem:
        if _is_complete(target, formats):  # another process drew the same figures
            return ""
        return f"{type(problem).__name__}: {problem}"
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return ""


def figure_files(figures: CachedFigures, folder: str, title: str) -> list[FigureFile]:
    """The figures for a page; `folder` is the folder of their files on the site."""
    return [_figure_file(name, figures, folder, title) for name in figures.names]


def _figure_file(name: str, figures: CachedFigures, folder: str, title: str) -> FigureFile:
    svg = (figures.folder / f"{name}.{PAGE_FORMAT}").read_text(encoding="utf-8")
    words = "; ".join(svg_labels(svg)[:12])
    alt = f"{title} ({display_name(name)})" + (
        f". The figure is labelled {words}." if words else ""
    )
    return FigureFile(name, f"{folder}/{name}", alt, *svg_size(svg), figures.formats)


def svg_size(svg: str) -> tuple[int, int]:
    """Width and height in CSS pixels, so that the page does not move when the figure is loaded."""
    box = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"', svg)
    width, height = (float(box[1]), float(box[2])) if box else (460.8, 288.0)
    return round(width * 4 / 3), round(height * 4 / 3)


def svg_labels(svg: str) -> list[str]:
    """The texts in a figure (axes, legends, titles) without tick labels, for alt texts."""
    texts = (html.unescape(text).strip() for text in re.findall(r"<text[^>]*>([^<]+)</text>", svg))
    return list(dict.fromkeys(text for text in texts if re.search(r"[^\W\d_]{2}", text)))
