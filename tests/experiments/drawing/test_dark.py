"""Figures for dark pages: greys turn, colours and their maps do not, the drawing is untouched."""

import re
from io import StringIO

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from experiments.drawing.canvas import style
from experiments.drawing.dark import INK, ON_BRIGHT, ON_DARK, PAPER, follows_scheme

PAGE = {"paper": "#171614", "ink": "#e8e4dc"}


def drawn(image: str | None = None, **line: str) -> str:
    """A figure with a line and perhaps a picture, as SVG."""
    with style("screen"):
        figure = Figure()
        ax = figure.subplots()
        ax.plot([0, 1], [0, 1], **line)
        if image is not None:
            ax.imshow(np.arange(6.0).reshape(2, 3), cmap=image)
        stream = StringIO()
        figure.savefig(stream, format="svg")
    return stream.getvalue()


def sheet(svg: str) -> str:
    (found,) = re.findall(r"@media screen and \(prefers-color-scheme: dark\)\{(.*)\}</style>", svg)
    return str(found)


def test_black_is_ink_white_is_paper_and_greys_lie_between() -> None:
    rules = sheet(follows_scheme(drawn(color="0.5")))
    assert f'[style*="fill: #ffffff"]{{fill:{PAGE["paper"]}!important}}' in rules
    assert f'[style*="stroke: #000000"]{{stroke:{PAGE["ink"]}!important}}' in rules
    (grey,) = re.findall(r'stroke: #808080"\]\{stroke:(#\w{6})', rules)
    middle = [int(grey[i : i + 2], 16) for i in (1, 3, 5)]
    for value, ink, paper in zip(middle, INK, PAPER, strict=True):
        assert paper < value < ink
    assert rules.startswith(f"svg{{fill:{PAGE['ink']}}}")  # letters have no ink of their own


@pytest.mark.parametrize("colour", ["C0", "C1", "#123456", ON_BRIGHT, ON_DARK])
def test_colours_and_words_on_them_stay(colour: str) -> None:
    svg = drawn(color=colour)
    assert mpl.colors.to_hex(colour) not in sheet(follows_scheme(svg)) or colour.startswith("C")
    turned = set(re.findall(r": (#\w{6})\"\]", sheet(follows_scheme(svg))))
    assert all(c[1:3] == c[3:5] == c[5:7] for c in turned)
    assert colour not in turned


def test_only_grey_pictures_turn() -> None:
    assert 'class="grey"' in follows_scheme(drawn(image="Greys"))
    assert ".grey{filter:invert(.9)}" in sheet(follows_scheme(drawn(image="gray")))
    for name in ("cividis", "viridis"):
        svg = follows_scheme(drawn(image=name))
        assert "<image" in svg
        assert "grey" not in svg


def test_no_colour_of_our_maps_is_taken_for_a_grey() -> None:
    for name in ("cividis", "viridis"):
        steps = mpl.colormaps[name](np.arange(256))
        inks = "".join(f"fill: {mpl.colors.to_hex(colour)};" for colour in steps)
        svg = f'<svg><defs></defs><path style="{inks}"/></svg>'
        assert sheet(follows_scheme(svg)) == f"svg{{fill:{PAGE['ink']}}}"


def test_the_drawing_itself_is_the_same() -> None:
    before = drawn()
    after = follows_scheme(before)
    assert re.sub(r'<style type="text/css">@media.*?</style>\n ', "", after) == before
    assert follows_scheme(before) == after
