"""The report's figures: drawn once from each run and sweep, in the formats asked for, and kept.

A page shows SVG, so these are always there; others, to download, are drawn when somebody wants
them.

The cache lies below outputs/report-cache/. Its folders are named after the run, whose id changes
with its study's code, and digests of the style that all studies share and of the figure's own
code: a figure is drawn again when what draws it has changed. A sweep's folder is named after its
cells and what they came to. What no present run needs is removed.
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

from experiments.contract import whole
from experiments.contract.slugs import file_names
from experiments.drawing import canvas
from experiments.drawing.dark import follows_scheme
from experiments.records import run_files
from experiments.records.reading import read
from experiments.records.record import Record
from experiments.report.spelling import humanised
from experiments.running.pools import attempted, drawing_pool
from experiments.sweeping import figure
from experiments.sweeping.figure import Mark, read_cells
from experiments.sweeping.run import read_sweep

SHOWN = "svg"  # by the pages
Formats = tuple[str, ...]
ALONE = 3  # so few are drawn before other processes would have started
UNUSED = 3600.0  # seconds; another report may be about to copy what is younger
GONE = "gone"
_ORDER = "order.json"  # the figures in the study's order; the file system keeps none


@dataclass(frozen=True)
class Drawn:
    """The figures of a run in the cache, or why there are none."""

    folder: Path
    names: tuple[str, ...] = ()
    problem: str = ""
    formats: Formats = (SHOWN,)


@dataclass(frozen=True)
class Drawing:
    """A figure on a page: the path of its files without the suffix."""

    name: str
    path: str
    alt: str
    width: int
    height: int
    formats: Formats  # of its files


Marks = Sequence[Mark]
Task = tuple[
    Path, Path, Marks
]  # of a run or sweep: its folder, its figures' place, what is printed
Draw = Callable[[Path, Path, Marks, Formats], Sequence[Path]]


def wanted(formats: str) -> Formats:
    """The formats that a comma apart names, and the one that pages show; others are refused."""
    named = tuple(dict.fromkeys(formats.split(",")))
    canvas.check(named, "screen")
    return (SHOWN, *(name for name in named if name != SHOWN))


def drawn(
    records: Mapping[str, Record], place: Path, formats: Formats = (SHOWN,)
) -> dict[str, Drawn]:
    """Every record's figures, by run id; those that are missing are drawn on all cores."""
    tasks: dict[str, Task] = {r.id: (r.folder, place / _kept_as(r), ()) for r in records.values()}
    return _cached(_draw_run, tasks, formats)


def drawn_sweeps(
    folders: Sequence[Path],
    place: Path,
    printed: Mapping[str, Marks],
    formats: Formats = (SHOWN,),
) -> dict[str, Drawn]:
    """The figures of every sweep that has any, by the name of its folder, over printed values."""
    tasks: dict[str, Task] = {}
    for folder in folders:
        with suppress(FileNotFoundError):  # no cell has a number to draw
            digest = hashlib.sha256(Path(figure.__file__).read_bytes())
            for name in ("sweep.json", "cells.csv", "pivot.csv"):
                digest.update((folder / name).read_bytes())
            marks = tuple(printed.get(folder.name, ()))
            digest.update(repr(marks).encode())
            target = place / f"{folder.name}-{digest.hexdigest()[:12]}-{_style()}"
            tasks[folder.name] = (folder, target, marks)
    return _cached(_draw_sweep, tasks, formats)


def prune(place: Path, present: Iterable[str], used: Iterable[Drawn]) -> None:
    """Remove the figures that no present run needs, and what interrupted writers left.

    A folder's time is that of its last use: a report that is made at the same moment, perhaps of
    other runs or by other code, has just touched what it is about to copy.
    """
    runs, ways = set(present), {f"{_style()}-{code}" for code in _codes().values()}
    copied = {entry.folder for entry in used}
    for folder in place.iterdir() if place.is_dir() else ():
        run, _, way = folder.name.rpartition(f"-{_style()}-")
        needed = folder in copied or (run in runs and f"{_style()}-{way}" in ways)
        with suppress(OSError):  # somebody else prunes as well, or it is a link
            if not needed and time.time() - folder.stat().st_mtime > UNUSED:
                shutil.rmtree(folder)


def _cached(draw: Draw, tasks: Mapping[str, Task], formats: Formats) -> dict[str, Drawn]:
    missing = []
    for source, target, marks in tasks.values():
        if _has(target, formats):
            target.touch()  # in use: see prune
        else:
            missing.append((source, target, marks))
    targets = [target for _, target, _ in missing]
    problems = dict(zip(targets, _draw_all(draw, missing, formats), strict=True))
    found = {}
    for name, (_, folder, _) in tasks.items():
        problem = problems.get(folder, "")
        names = () if problem else _order(folder) or ()
        found[name] = Drawn(folder, names, problem, formats)
    return found


def _has(folder: Path, formats: Formats) -> bool:
    """Is every figure of a folder there in these formats?"""
    names = _order(folder)
    return names is not None and all(
        (folder / f"{name}.{suffix}").exists() for name in names for suffix in formats
    )


def _order(folder: Path) -> tuple[str, ...] | None:
    """The names of the figures that a folder has; None where these are not what we wrote."""
    try:
        names = json.loads(whole.content(folder / _ORDER, 2**20))
    except (OSError, ValueError, RecursionError):
        return None
    plain = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return tuple(names) if plain and file_names(names) == names else None


def _kept_as(record: Record) -> str:
    return f"{record.id}-{_style()}-{_codes().get(record.study, GONE)}"


@cache
def _style() -> str:
    """Of all that is common to the drawings: our helpers, the style and matplotlib itself."""
    home = Path(canvas.__file__).parent
    digest = hashlib.sha256(mpl.__version__.encode())
    for path in (*sorted(home.glob("*.py")), home / "styles" / "screen.mplstyle"):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def _codes() -> dict[str, str]:
    """Of the module that draws each study; and of none, for a study that is gone."""
    home = Path(canvas.__file__).parents[1] / "figures"
    modules = {path.stem: path for path in home.glob("*/*.py")}
    codes = {name: hashlib.sha256(p.read_bytes()).hexdigest()[:8] for name, p in modules.items()}
    return {**codes, "": GONE}


def _draw_run(source: Path, folder: Path, marks: Marks, formats: Formats) -> list[Path]:
    record, pictures = read(source), "png" in formats
    paths = run_files.draw(record, folder, formats, thumbnail=pictures)
    if pictures:
        run_files.keep_figures(record, paths)  # for MLflow: nobody need draw them again
    return paths


def _draw_sweep(source: Path, folder: Path, marks: Marks, formats: Formats) -> list[Path]:
    plan, _, _ = read_sweep(source)
    return figure.redraw(plan, read_cells(source), folder, formats, marks=marks)


def _draw_all(draw: Draw, missing: list[Task], formats: Formats) -> Iterator[str]:
    """Draw; for each task what went wrong, or nothing."""
    if len(missing) <= ALONE:
        yield from (_draw(draw, *task, formats) for task in missing)
        return
    with drawing_pool() as pool:
        for future in [attempted(pool, _draw, draw, *task, formats) for task in missing]:
            try:
                yield future.result()
            except BrokenProcessPool:
                yield "the process that drew it died"


def _draw(draw: Draw, source: Path, target: Path, marks: Marks, formats: Formats) -> str:
    """Draw aside and rename. A figure that fails costs its place on the page only."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".drawing-", dir=target.parent))
    if target.exists() and _order(target) is None:
        shutil.rmtree(target, ignore_errors=True)  # damaged
    try:
        paths = draw(source, aside, marks, formats)
        for path in paths:
            if path.suffix == ".svg":
                path.write_text(follows_scheme(path.read_text(encoding="utf-8")), encoding="utf-8")
        names = list(dict.fromkeys(path.stem for path in paths))
        (aside / _ORDER).write_text(json.dumps(names), encoding="utf-8")
        if target.exists():  # in other formats: another report may be about to copy these
            for path in aside.iterdir():
                path.replace(target / path.name)
        else:
            aside.rename(target)
    except Exception as problem:
        if _has(target, formats):  # somebody else drew the same
            return ""
        return f"{type(problem).__name__}: {problem}"
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return ""


def shown(figures: Drawn, place: str, title: str) -> list[Drawing]:
    """The figures as a page shows them; `place` is where their files go on the site."""
    return [_shown(name, figures, place, title) for name in figures.names]


def _shown(name: str, figures: Drawn, place: str, title: str) -> Drawing:
    svg = (figures.folder / f"{name}.{SHOWN}").read_text(encoding="utf-8")
    words = "; ".join(labels(svg)[:12])
    alt = f"{title} ({humanised(name)})" + (f". The figure is labelled {words}." if words else "")
    return Drawing(name, f"{place}/{name}", alt, *size(svg), figures.formats)


def size(svg: str) -> tuple[int, int]:
    """Width and height in CSS pixels, so that the page does not jump when the figure arrives."""
    box = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"', svg)
    width, height = (float(box[1]), float(box[2])) if box else (460.8, 288.0)
    return round(width * 4 / 3), round(height * 4 / 3)


def labels(svg: str) -> list[str]:
    """The words on a figure (axes, legends, titles) without the ticks: for alt texts."""
    texts = (html.unescape(text).strip() for text in re.findall(r"<text[^>]*>([^<]+)</text>", svg))
    return list(dict.fromkeys(text for text in texts if re.search(r"[^\W\d_]{2}", text)))
