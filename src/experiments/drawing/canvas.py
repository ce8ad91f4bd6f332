"""Drawing: figures from recorded outcomes, in one of the styles, the same bytes every time."""

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

from experiments.contract.errors import BadInput
from experiments.contract.slugs import file_names
from experiments.contract.whole import replaced
from experiments.drawing import layout

FORMATS = ("png", "pdf", "svg")
STYLES = ("screen", "print")
PAGE = 2.1  # the text of a paper with two columns, in columns
SMALL = 512  # pixels, the longer side of a thumbnail
# Dates and versions in the files would make equal figures differ.
_WITHOUT: dict[str, dict[str, None]] = {
    ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    ".svg": {"Date": None, "Creator": None},
}


def panels(rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure with its axes. Its size grows with the panels, up to the width of a page."""
    width, height = mpl.rcParams["figure.figsize"]
    scale = 1.0 if columns == 1 else min(0.75, PAGE / columns)
    figure = Figure(figsize=(width * columns * scale, height * rows * (1 if rows == 1 else 0.8)))
    return figure, figure.subplots(rows, columns, **options)


def legend_of(figure: Figure, ax: Axes, columns: int) -> None:
    """One legend under all panels, with the entries of one of them."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=columns)


def legend_once(figure: Figure, axes: Iterable[Axes], columns: int) -> None:
    """One legend under all panels, with the entries of all of them, each once."""
    found: dict[str, Any] = {}
    for ax in axes:
        found |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    if found:
        look: dict[str, Any] = {"loc": "outside lower center", "ncols": min(len(found), columns)}
        figure.legend(found.values(), found.keys(), **look)


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


def save_all(
    figures: Mapping[str, Figure], folder: Path, formats: Sequence[str], *, thumbnail: bool = False
) -> list[Path]:
    """Write figures in each format; a thumbnail is a small copy of the first, as WebP."""
    paths: list[Path] = []
    for name, figure in zip(file_names(figures), figures.values(), strict=True):
        small = ["webp"] if thumbnail and not paths else []
        paths += save(figure, folder, name, [*formats, *small])
    return paths


def save(figure: Figure, folder: Path, name: str, formats: Sequence[str]) -> list[Path]:
    """Lay a figure out once, and write it in each format.

    The canvases are used themselves: `savefig` draws everything twice, in case it has no layout.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _lay_out(figure)
    image = _image(figure) if {"png", "webp"} & set(formats) else None
    paths = [folder / f"{name}.{suffix}" for suffix in formats]
    return [replaced(path, partial(_write, figure, image)) for path in paths]


def _write(figure: Figure, image: Image.Image | None, path: Path) -> None:
    if path.suffix in _WITHOUT:
        _write_vectors(figure, path, path.suffix)
    elif image is not None and path.suffix == ".png":
        image.save(path, compress_level=3)
    elif image is not None:
        from PIL import WebPImagePlugin  # noqa: F401  (PIL would look through all that it has)

        image.reduce(math.ceil(max(image.size) / SMALL)).save(path, method=2)


def svg(figure: Figure) -> bytes:
    """Lay a figure out, and draw it for a page that shows it at once: no file is written."""
    stream = io.BytesIO()
    _lay_out(figure)
    _write_vectors(figure, stream, ".svg")
    return stream.getvalue()


def _lay_out(figure: Figure) -> None:
    """Find every place once: what the layout has measured, drawing need not."""
    figure.dpi = mpl.rcParams["savefig.dpi"]
    FigureCanvasAgg(figure)  # one renderer, which remembers the size of a word, for all questions
    layout.fit(figure)


def png(figure: Figure) -> bytes:
    """The picture of a figure that is laid out already, where its vectors would be too many."""
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
        getattr(canvas, f"print_{suffix[1:]}")(target, metadata=_WITHOUT[suffix])
    finally:
        figure.dpi = dpi  # they set their own


def _vector_canvas(suffix: str) -> Any:
    """Imported when somebody asks for it: the one of PDF brings a library of fonts along."""
    if suffix == ".pdf":
        from matplotlib.backends.backend_pdf import FigureCanvasPdf

        return FigureCanvasPdf
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    return FigureCanvasSVG
