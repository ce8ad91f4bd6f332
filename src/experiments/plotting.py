"""Drawing: figures from recorded outcomes, in one of the styles, the same bytes every time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from experiments import fitting
from experiments.errors import BadInput
from experiments.jobs import recorded_job
from experiments.records import Record

FORMATS = ("png", "pdf", "svg")
STYLES = ("screen", "print")
PAGE = 2.1  # the text of a paper with two columns, in columns
# Dates and versions in the files would make equal figures differ.
_SAVING: dict[str, dict[str, Any]] = {
    "png": {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 3}},
    "pdf": {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}},
    "svg": {"metadata": {"Date": None, "Creator": None}},
}


def panels(rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure with its axes. Its size grows with the panels, up to the width of a page."""
    width, height = mpl.rcParams["figure.figsize"]
    scale = 1.0 if columns == 1 else min(0.75, PAGE / columns)
    figure = Figure(figsize=(width * columns * scale, height * rows * (1 if rows == 1 else 0.8)))
    return figure, figure.subplots(rows, columns, **options)


@contextmanager
def style(name: str) -> Iterator[None]:
    """The settings of a style, whatever the user's own matplotlib configuration says."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_settings(name))
        yield


@cache
def _settings(name: str) -> mpl.RcParams:
    path = Path(__file__).parent / "styles" / f"{name}.mplstyle"
    return mpl.rc_params_from_file(str(path), use_default_template=False)


def check(formats: Sequence[str], look: str) -> None:
    """Refuse formats and styles that do not exist."""
    if look not in STYLES:
        raise BadInput(f"style '{look}' is unknown; allowed: {', '.join(STYLES)}")
    for name in formats:
        if name not in FORMATS:
            raise BadInput(f"format '{name}' is unknown; allowed: {', '.join(FORMATS)}")


def draw(
    record: Record, folder: Path, formats: Sequence[str] = ("png",), look: str = "screen"
) -> list[Path]:
    """Draw every figure of a record into a folder; nothing is computed."""
    study = recorded_job(record.content).study
    with style(look):
        figures = study.draw(record.outcome)
        return [path for name, fig in figures.items() for path in save(fig, folder, name, formats)]


def save(figure: Figure, folder: Path, name: str, formats: Sequence[str]) -> list[Path]:
    """Write a figure in each format."""
    folder.mkdir(parents=True, exist_ok=True)
    fitting.fit(figure)
    paths = [folder / f"{name}.{suffix}" for suffix in formats]
    for path in paths:
        figure.savefig(path, **_SAVING[path.suffix[1:]])
        figure.set_layout_engine("none")  # the layout is found; other formats need not search again
    return paths
