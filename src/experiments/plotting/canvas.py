"""Creates figures in a style and saves them; equal figures give equal bytes."""

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from bythebook.experiments.core.atomic_files import write_atomic
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.slugs import unique_file_names
from bythebook.experiments.plotting import text_wrap

FORMATS = ("png", "pdf", "svg")
STYLES = ("screen", "print")
MAX_PAGE_COLUMNS = 2.1  # width of a two-column page, in multiples of the figure width
THUMBNAIL_PX = 512  # longer side of a thumbnail
# Dates and versions in the files would make the bytes of equal figures differ.
_NO_METADATA: dict[str, dict[str, None]] = {
    ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    ".svg": {"Date": None, "Creator": None},
}


def subplots(rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure with its axes; its size grows with the panels, up to the width of a page."""
    width, height = mpl.rcParams["figure.figsize"]
    scale = 1.0 if columns == 1 else min(0.75, MAX_PAGE_COLUMNS / columns)
    figure = Figure(figsize=(width * columns * scale, height * rows * (1 if rows == 1 else 0.8)))
    return figure, figure.subplots(rows, columns, **options)


def shared_legend(figure: Figure, ax: Axes, columns: int) -> None:
    """A legend below all panels, with the entries of `ax`."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=columns)


def merged_legend(figure: Figure, axes: Iterable[Axes], columns: int) -> None:
    """A legend below all panels, with each entry of all axes once."""
    handles: dict[str, Any] = {}
    for ax in axes:
        handles |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    if handles:
        options: dict[str, Any] = {"loc": "outside lower center"}
        options["ncols"] = min(len(handles), columns)
        figure.legend(handles.values(), handles.keys(), **options)


@contextmanager
def style(name: str) -> Iterator[None]:
    """Context with the settings of a style, independent of the user's matplotlib configuration."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_settings(name))
        yield


@cache
def _settings(name: str) -> mpl.RcParams:
    path = Path(__file__).parent / "styles" / f"{name}.mplstyle"
    return mpl.rc_params_from_file(str(path), use_default_template=False)


def check_formats(formats: Sequence[str], style_name: str) -> None:
    """Refuse formats and styles that do not exist."""
    if style_name not in STYLES:
        raise InputError(f"style '{style_name}' is unknown; allowed: {', '.join(STYLES)}")
    for name in formats:
        if name not in FORMATS:
            raise InputError(f"format '{name}' is unknown; allowed: {', '.join(FORMATS)}")


def save_all(
    figures: Mapping[str, Figure], folder: Path, formats: Sequence[str], *, thumbnail: bool = False
) -> list[Path]:
    """Write figures in each format, and a small WebP copy of the first if `thumbnail` is set."""
    paths: list[Path] = []
    for name, figure in zip(unique_file_names(figures), figures.values(), strict=True):
        small = ["webp"] if thumbnail and not paths else []
        paths += save(figure, folder, name, [*formats, *small])
    return paths


def save(figure: Figure, folder: Path, name: str, formats: Sequence[str]) -> list[Path]:
    """Compute the layout of a figure once and write it in each format.

    The canvas classes are used directly because `Figure.savefig` draws every figure twice.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _finish_layout(figure)
    image = _image(figure) if {"png", "webp"} & set(formats) else None
    paths = [folder / f"{name}.{suffix}" for suffix in formats]
    return [write_atomic(path, partial(_write, figure, image)) for path in paths]


def _write(figure: Figure, image: Image.Image | None, path: Path) -> None:
    if path.suffix in _NO_METADATA:
        _write_vectors(figure, path, path.suffix)
    elif image is not None and path.suffix == ".png":
        image.save(path, compress_level=3)
    elif image is not None:
        from PIL import WebPImagePlugin  # noqa: F401  (else PIL imports all its plugins)

        image.reduce(math.ceil(max(image.size) / THUMBNAIL_PX)).save(path, method=2)


def svg(figure: Figure) -> bytes:
    """Compute the layout of a figure and return its SVG, without writing a file."""
    stream = io.BytesIO()
    _finish_layout(figure)
    _write_vectors(figure, stream, ".svg")
    return stream.getvalue()


def _finish_layout(figure: Figure) -> None:
    """Compute the layout once, so that drawing in several formats need not repeat it."""
    figure.dpi = mpl.rcParams["savefig.dpi"]
    FigureCanvasAgg(figure)  # its renderer caches the measured sizes of texts
    text_wrap.fit_text(figure)


def png(figure: Figure) -> bytes:
    """The PNG of a figure whose layout is computed; smaller than an SVG with many elements."""
    stream = io.BytesIO()
    _image(figure).save(stream, format="png", compress_level=3)
    return stream.getvalue()


def _image(figure: Figure) -> Image.Image:
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def _write_vectors(figure: Figure, target: Path | io.BytesIO, suffix: str) -> None:
    canvas, dpi = _vector_canvas(suffix)(figure), figure.dpi
    try:
        getattr(canvas, f"print_{suffix[1:]}")(target, metadata=_NO_METADATA[suffix])
    finally:
        figure.dpi = dpi  # the canvas sets its own resolution


def _vector_canvas(suffix: str) -> Any:
    """The canvas class, imported on demand because the PDF canvas imports a font library."""
    if suffix == ".pdf":
        from matplotlib.backends.backend_pdf import FigureCanvasPdf

        return FigureCanvasPdf
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    return FigureCanvasSVG
