"""Figures for dark pages: greys are replaced, colours and colour maps are not."""

import re
from io import StringIO

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from bythebook.experiments.plotting.canvas import style
from bythebook.experiments.plotting.dark_mode import (
    DARK_BACKGROUND,
    DARK_FOREGROUND,
    TEXT_ON_DARK,
    TEXT_ON_LIGHT,
    add_dark_mode,
)

PAGE = {"background": "#171614", "text": "#e8e4dc"}


def drawn(image: str | None = None, **line: str) -> str:
    """A figure with a line and possibly an image, as SVG."""
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


def test_black_white_and_greys_are_replaced() -> None:
    rules = sheet(add_dark_mode(drawn(color="0.5")))
    assert f'[style*="fill: #ffffff"]{{fill:{PAGE["background"]}!important}}' in rules
    assert f'[style*="stroke: #000000"]{{stroke:{PAGE["text"]}!important}}' in rules
    (grey,) = re.findall(r'stroke: #808080"\]\{stroke:(#\w{6})', rules)
    middle = [int(grey[i : i + 2], 16) for i in (1, 3, 5)]
    for value, text, background in zip(middle, DARK_FOREGROUND, DARK_BACKGROUND, strict=True):
        assert background < value < text
    assert rules.startswith(f"svg{{fill:{PAGE['text']}}}")  # letters have no colour attribute


@pytest.mark.parametrize("colour", ["C0", "C1", "#123456", TEXT_ON_LIGHT, TEXT_ON_DARK])
def test_colours_are_unchanged(colour: str) -> None:
    svg = drawn(color=colour)
    assert mpl.colors.to_hex(colour) not in sheet(add_dark_mode(svg)) or colour.startswith("C")
    replaced = set(re.findall(r": (#\w{6})\"\]", sheet(add_dark_mode(svg))))
    assert all(c[1:3] == c[3:5] == c[5:7] for c in replaced)
    assert colour not in replaced


def test_only_grey_images_are_inverted() -> None:
    assert 'class="grey"' in add_dark_mode(drawn(image="Greys"))
    assert ".grey{filter:invert(.9)}" in sheet(add_dark_mode(drawn(image="gray")))
    for name in ("cividis", "viridis"):
        svg = add_dark_mode(drawn(image=name))
        assert "<image" in svg
        assert "grey" not in svg


def test_no_colour_of_the_colour_maps_is_replaced() -> None:
    for name in ("cividis", "viridis"):
        steps = mpl.colormaps[name](np.arange(256))
        styles = "".join(f"fill: {mpl.colors.to_hex(colour)};" for colour in steps)
        svg = f'<svg><defs></defs><path style="{styles}"/></svg>'
        assert sheet(add_dark_mode(svg)) == f"svg{{fill:{PAGE['text']}}}"


def test_the_figure_is_otherwise_unchanged() -> None:
    before = drawn()
    after = add_dark_mode(before)
    assert re.sub(r'<style type="text/css">@media.*?</style>\n ', "", after) == before
    assert add_dark_mode(before) == after
