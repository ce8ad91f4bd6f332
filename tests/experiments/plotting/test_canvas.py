"""Figure files: sizes, formats, legends and distinguishable colours."""

from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib import rcParams
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from bythebook.experiments.plotting import canvas

pytestmark = pytest.mark.usefixtures("print_style")


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_no_figure_is_wider_than_a_page(columns: int) -> None:
    figure, _ = canvas.subplots(1, columns)
    assert figure.get_figwidth() <= 7.1


def test_print_colours_differ_in_greyscale_and_lines_in_dashes() -> None:
    cycle = list(rcParams["axes.prop_cycle"])[:4]
    greys = sorted(
        0.299 * r + 0.587 * g + 0.114 * b for r, g, b in (to_rgb(c["color"]) for c in cycle)
    )
    assert min(b - a for a, b in pairwise(greys)) > 0.1
    assert len({c["linestyle"] for c in cycle}) == 4


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_a_figure_is_laid_out_and_drawn_once(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure, ax = canvas.subplots()
    ax.set(xlabel="time (s)", ylabel="length (m)")
    drawn: list[str] = []
    original = Figure.draw
    monkeypatch.setattr(
        Figure, "draw", lambda self, renderer: (drawn.append(suffix), original(self, renderer))
    )
    (path,) = canvas.save(figure, tmp_path, "figure", [suffix])
    assert drawn == [suffix]
    assert path.stat().st_size > 1000


def test_all_formats_have_the_size_of_the_figure(tmp_path: Path) -> None:
    figure, _ = canvas.subplots()
    width, height = figure.get_size_inches()
    paths = canvas.save(figure, tmp_path, "figure", ["pdf", "svg", "png", "webp"])
    pdf, svg, png, small = paths
    assert f"/MediaBox [ 0 0 {72 * width:g} {72 * height:g} ]".encode() in pdf.read_bytes()
    assert f'viewBox="0 0 {72 * width:g} {72 * height:g}"' in svg.read_text()
    with Image.open(png) as image, Image.open(small) as thumbnail:
        assert image.size == (round(600 * width), round(600 * height))
        assert max(thumbnail.size) <= canvas.THUMBNAIL_PX
        ratio = image.size[0] / image.size[1]
        assert thumbnail.size[0] / thumbnail.size[1] == pytest.approx(ratio, rel=0.01)


def test_the_merged_legend_has_each_entry_once() -> None:
    figure, axes = canvas.subplots(1, 2)
    axes[0].plot([0], label="data")
    axes[0].plot([1], label="fit")
    axes[1].plot([0], label="data")
    axes[1].plot([1], label="truth")
    canvas.shared_legend(figure, axes[0], 2)
    canvas.merged_legend(figure, axes, 3)
    first, all_of_them = (
        [text.get_text() for text in legend.get_texts()] for legend in figure.legends
    )
    assert first == ["data", "fit"]
    assert all_of_them == ["data", "fit", "truth"]


def test_svg_without_a_file_is_the_same(tmp_path: Path) -> None:
    figure, ax = canvas.subplots()
    ax.plot([1, 2], [3, 4], label="a line")
    drawn, picture = canvas.svg(figure), canvas.png(figure)
    again, ax = canvas.subplots()
    ax.plot([1, 2], [3, 4], label="a line")
    vectors, pixels = canvas.save(again, tmp_path, "figure", ["svg", "png"])
    assert drawn == vectors.read_bytes()
    assert picture == pixels.read_bytes()
