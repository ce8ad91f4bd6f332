"""Drawing: figures from recorded outcomes, in one of the styles, the same bytes every time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from experiments.errors import BadInput
from experiments.jobs import recorded_job
from experiments.records import Record

FORMATS = ("png", "pdf", "svg")
STYLES = ("screen", "print")
# Dates and versions in the files would make equal figures differ.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
}


def panels(rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure with its axes. Its size grows with the panels, in units of the style's figure."""
    width, height = mpl.rcParams["figure.figsize"]
    scale = 1.0 if columns == 1 else 0.75
    figure = Figure(figsize=(width * columns * scale, height * rows * (1 if rows == 1 else 0.8)))
    return figure, figure.subplots(rows, columns, **options)


@contextmanager
def style(name: str) -> Iterator[None]:
    """The settings of a style, whatever the user's own matplotlib configuration says."""
    with mpl.rc_context():
        mpl.rcdefaults()
        path = Path(__file__).parent / "styles" / f"{name}.mplstyle"
        mpl.rcParams.update(mpl.rc_params_from_file(str(path), use_default_template=False))
        yield


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
    paths = [folder / f"{name}.{suffix}" for suffix in formats]
    for path in paths:
        figure.savefig(path, metadata=_METADATA[path.suffix[1:]])
        figure.set_layout_engine("none")  # the layout is found; other formats need not search again
    return paths
