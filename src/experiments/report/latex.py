"""Formulas of the equations as MathML, from their LaTeX, when the site is written."""

import re
from functools import cache

from markupsafe import Markup, escape

_OPENING = re.compile(r"<math [^>]*>")


@cache
def latex_to_mathml(latex: str) -> Markup:
    """The formula as a block; the LaTeX is stored in the attribute alttext, which search reads."""
    from latex2mathml.converter import convert

    drawn = _OPENING.sub("", convert(latex, display="block"), count=1)
    drawn = drawn.replace("&#x029F5;", "&#x0005C;")  # few fonts have the sign of a set difference
    return Markup(f'<math display="block" alttext="{escape(latex)}">{drawn}')  # noqa: S704
