"""Figures that follow the reader's colour scheme: one drawing, and other inks for a dark page.

matplotlib writes colours into style attributes, so a style sheet inside the SVG can exchange them.
A browser applies it in the dark, also where the file is an image on a page; other programs ignore
it, and a figure on paper stays as it was drawn.

Only inks that mean nothing are exchanged: white, black and the greys between, for those of the page
around. A colour that tells one thing from another is the same in both schemes, and so is a colour
map beside its bar. A grey picture turns as the greys around it do, its bar with it.
"""

import base64
import io
import re

from PIL import Image, ImageChops

PAPER, INK = (0x17, 0x16, 0x14), (0xE8, 0xE4, 0xDC)  # of a dark page: report/static/style.css
# For words on coloured cells, which must not turn: black and white to every eye, not to the sheet.
ON_BRIGHT, ON_DARK = "#010101", "#fefefe"
# The middle of the colour map cividis is grey; such a grey can be read on either page.
_KEPT = {ON_BRIGHT, ON_DARK, "#757575", "#767676", "#777777"}
_GREY = re.compile(r"\b(fill|stroke): (#([0-9a-f]{2})\3\3)\b")
_PICTURE = re.compile(r'<image (?=[^>]*?href="data:image/png;base64,\s*([^"]+)")')


def follows_scheme(svg: str) -> str:
    """The same figure with a style sheet for dark pages."""
    svg = _PICTURE.sub(_marked, svg)
    greys = sorted({(kind, grey) for kind, grey, _ in _GREY.findall(svg) if grey not in _KEPT})
    rules = [f"svg{{fill:{_shade(0)}}}"]  # what has no ink of its own is black
    for kind, grey in greys:
        shade = _shade(int(grey[1:3], 16) / 255)
        rules.append(f'[style*="{kind}: {grey}"]{{{kind}:{shade}!important}}')
    if '<image class="grey" ' in svg:
        rules.append(".grey{filter:invert(.9)}")
    sheet = f"@media screen and (prefers-color-scheme: dark){{{''.join(rules)}}}"
    return svg.replace("<defs>", f'<style type="text/css">{sheet}</style>\n <defs>', 1)


def _shade(level: float) -> str:
    """A grey between the dark page's ink, in place of black, and its paper, in place of white."""
    mixed = (round(ink + level * (paper - ink)) for ink, paper in zip(INK, PAPER, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _marked(found: re.Match[str]) -> str:
    """The opening of a picture, marked where all of it is grey."""
    with Image.open(io.BytesIO(base64.b64decode(found[1]))) as picture:
        red, green, blue, alpha = picture.convert("RGBA").split()
    for other in (green, blue):
        apart = ImageChops.multiply(ImageChops.difference(red, other), alpha)  # if seen at all
        if apart.getextrema()[1]:
            return found[0]
    return found[0] + 'class="grey" '
