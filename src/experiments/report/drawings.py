"""The report's figures: drawn once from each record, in every format, and kept.

The cache lies below outputs/report-cache/. Its folders are named after the run, whose id changes
with its study's code, and a digest of the style that all studies share. So a figure is drawn again
when what draws it has changed, and an old run keeps the figure that its own code drew.
"""

import hashlib
import html
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matplotlib as mpl

from experiments import plotting
from experiments.pools import process_pool
from experiments.records import Record, read

FORMATS = ("svg", "pdf", "png")
ALONE = 3  # so few are drawn before other processes would have started
_ORDER = "order.json"  # the figures in the study's order; the file system keeps none


@dataclass(frozen=True)
class Drawn:
    """The figures of a run in the cache, or why there are none."""

    folder: Path
    names: tuple[str, ...] = ()
    problem: str = ""


def drawn(records: Mapping[str, Record], place: Path) -> dict[str, Drawn]:
    """Every record's figures, by run id; those that are missing are drawn on all cores."""
    folders = {record.id: place / f"{record.id}-{_style()}" for record in records.values()}
    missing = [
        (record.folder, folders[record.id])
        for record in records.values()
        if not (folders[record.id] / _ORDER).exists()
    ]
    problems = dict(zip((target for _, target in missing), _draw_all(missing), strict=True))
    found = {}
    for run_id, folder in folders.items():
        problem = problems.get(folder, "")
        names = () if problem else tuple(json.loads((folder / _ORDER).read_text(encoding="utf-8")))
        found[run_id] = Drawn(folder, names, problem)
    return found


@cache
def _style() -> str:
    """Of all that is common to the drawings: our helpers, the style and matplotlib itself."""
    code = Path(plotting.__file__)
    digest = hashlib.sha256(code.read_bytes() + mpl.__version__.encode())
    digest.update((code.parent / "styles" / "screen.mplstyle").read_bytes())
    return digest.hexdigest()[:12]


def _draw_all(missing: list[tuple[Path, Path]]) -> Iterator[str]:
    """Draw; for each record what went wrong, or nothing."""
    if len(missing) <= ALONE:
        yield from (_draw(*task) for task in missing)
        return
    with process_pool() as pool:
        for future in [pool.submit(_draw, *task) for task in missing]:
            try:
                yield future.result()
            except BrokenProcessPool:
                yield "the process that drew it died"


def _draw(source: Path, target: Path) -> str:
    """Draw one record aside and rename. A figure that fails costs its place on the page only."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".drawing-", dir=target.parent))
    try:
        paths = plotting.draw(read(source), aside, FORMATS)
        names = list(dict.fromkeys(path.stem for path in paths))
        (aside / _ORDER).write_text(json.dumps(names), encoding="utf-8")
        aside.rename(target)
    except Exception as problem:
        if (target / _ORDER).exists():  # somebody else drew the same
            return ""
        return f"{type(problem).__name__}: {problem}"
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return ""


def size(svg: str) -> tuple[int, int]:
    """Width and height in CSS pixels, so that the page does not jump when the figure arrives."""
    box = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"', svg)
    width, height = (float(box[1]), float(box[2])) if box else (460.8, 288.0)
    return round(width * 4 / 3), round(height * 4 / 3)


def labels(svg: str) -> list[str]:
    """The words on a figure (axes, legends, titles) without the ticks: for alt texts."""
    texts = (html.unescape(text).strip() for text in re.findall(r"<text[^>]*>([^<]+)</text>", svg))
    return list(dict.fromkeys(text for text in texts if re.search(r"[^\W\d_]{2}", text)))
