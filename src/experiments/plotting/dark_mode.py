"""Adds a style sheet for dark pages to SVG figures.

matplotlib writes colours into style attributes, so a style sheet inside the SVG can replace them. A
browser applies it in dark mode, also if the file is an image on a page. Other programs ignore it,
and a printed figure is unchanged.

Only white, black and greys are replaced, by shades between the background and the text colour of a
dark page. Other colours distinguish data and are the same in both schemes, as are colour maps. An
image in which all pixels are grey is inverted together with its colour bar.
"""

import base64
import io
import re

from PIL import Image, ImageChops

# The colours --background and --text of a dark page in report/static/style.css.
DARK_BACKGROUND, DARK_FOREGROUND = (0x17, 0x16, 0x14), (0xE8, 0xE4, 0xDC)
# Almost black and white, so that the style sheet does not replace them: for text on coloured cells.
TEXT_ON_LIGHT, TEXT_ON_DARK = "#010101", "#fefefe"
# Greys in the middle of the colour map cividis, legible on light and dark pages.
_UNCHANGED_COLOURS = {TEXT_ON_LIGHT, TEXT_ON_DARK, "#757575", "#767676", "#777777"}
_GREY = re.compile(r"\b(fill|stroke): (#([0-9a-f]{2})\3\3)\b")
_IMAGE = re.compile(r'<image (?=[^>]*?href="data:image/png;base64,\s*([^"]+)")')


def add_dark_mode(svg: str) -> str:
    """The figure with a style sheet for dark pages."""
    svg = _IMAGE.sub(_mark_grey_images, svg)
    greys = sorted(
        {(kind, grey) for kind, grey, _ in _GREY.findall(svg) if grey not in _UNCHANGED_COLOURS}
    )
    rules = [f"svg{{fill:{_dark_grey(0)}}}"]  # elements without a colour are black
    for kind, grey in greys:
        shade = _dark_grey(int(grey[1:3], 16) / 255)
        rules.append(f'[style*="{kind}: {grey}"]{{{kind}:{shade}!important}}')
    if '<image class="grey" ' in svg:
        rules.append(".grey{filter:invert(.9)}")
    sheet = f"@media screen and (prefers-color-scheme: dark){{{''.join(rules)}}}"
    return svg.replace("<defs>", f'<style type="text/css">{sheet}</style>\n <defs>', 1)


def _dark_grey(level: float) -> str:
    """The shade for a grey level: 0 (black) gives the text colour, 1 (white) the background."""
    mixed = (
        round(text + level * (background - text))
        for text, background in zip(DARK_FOREGROUND, DARK_BACKGROUND, strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _mark_grey_images(match: re.Match[str]) -> str:
    """The opening tag of an image, with a class if all visible pixels are grey."""
    with Image.open(io.BytesIO(base64.b64decode(match[1]))) as image:
        red, green, blue, alpha = image.convert("RGBA").split()
    for other in (green, blue):
        difference = ImageChops.multiply(ImageChops.difference(red, other), alpha)  # visible only
        if difference.getextrema()[1]:
            return match[0]
    return match[0] + 'class="grey" '
