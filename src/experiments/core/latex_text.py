"""Formulas as plain text with Unicode symbols, from their LaTeX."""

import re
from functools import cache
from typing import Any

_SPACES = re.compile(r"\\[ ,;:!]|\\q?quad\b")
_SIZES = re.compile(r"\\(?:left|right)(?:\s*\\?\.)?(?![a-z])")
_ALONE = re.compile(r"(^|[=→∝(,] ?)⟦([^⟦⟧]*)⟧(?= *(?:$|[=,)]))")  # a fraction without factors
_SCRIPTS = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
_INDICES = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")


@cache
def latex_to_text(latex: str) -> str:
    """A formula on one line: `m_k = (β₀ m₀ + N_k x̄_k) / β_k`."""
    plain = _SIZES.sub("", _SPACES.sub(" ", latex)).replace("&", "").replace(r"\\", " ")
    plain = re.sub(r"(\\[A-Za-z]+)\s+(?=[\w\\|])", r"\1~", plain)  # a space after \ln is kept
    converted = _converter().latex_to_text(plain, latex_context=_syntax())
    text = " ".join(converted.replace("~", " ").split())
    text = _ALONE.sub(r"\1\2", text).replace("⟦", "(").replace("⟧", ")")
    text = re.sub(r"\{(\w|[^\W\d_]\u0304?)\}", r"\1", text)
    text = re.sub(r"\^(?:(\d)|\{(-?\d+)\})", _superscript, text)
    text = re.sub(r"_(\d)(?!\w)", lambda found: found[1].translate(_INDICES), text)
    return re.sub(r" +([,)])", r"\1", text.replace("( ", "("))


def _superscript(found: re.Match[str]) -> str:
    return (found[1] or found[2]).translate(_SCRIPTS)


@cache
def _syntax() -> Any:
    """The macros of LaTeX, with the arguments of those that pylatexenc does not know."""
    from pylatexenc.latexwalker import get_default_latex_context_db
    from pylatexenc.macrospec import MacroSpec

    known = get_default_latex_context_db()
    arguments = {"boldsymbol": "{", "tfrac": "{{", "dfrac": "{{"}
    macros = [MacroSpec(name, braces) for name, braces in arguments.items()]
    known.add_context_category("formulas", prepend=True, macros=macros)
    return known


@cache
def _converter() -> Any:
    from pylatexenc.latex2text import (
        LatexNodes2Text,
        MacroTextSpec,
        get_default_latex_context_db,
    )

    symbols = get_default_latex_context_db()
    fractions = [
        MacroTextSpec(name, simplify_repl=_fraction) for name in ("frac", "tfrac", "dfrac")
    ]
    other = [
        MacroTextSpec("mathbf", simplify_repl="%s"),
        MacroTextSpec("boldsymbol", simplify_repl="%s"),
        MacroTextSpec("mathbb", simplify_repl="%s"),
        MacroTextSpec("bar", simplify_repl=lambda node, l2tobj: _accent(node, l2tobj, "\u0304")),
        MacroTextSpec("tilde", simplify_repl=lambda node, l2tobj: _accent(node, l2tobj, "\u0303")),
        MacroTextSpec("hat", simplify_repl=lambda node, l2tobj: _accent(node, l2tobj, "\u0302")),
    ]
    symbols.add_context_category("formulas", prepend=True, macros=[*fractions, *other])
    return LatexNodes2Text(
        latex_context=symbols, math_mode="text", keep_braced_groups=True, strict_latex_spaces=True
    )


def _argument(node: Any, converter: Any, index: int) -> str:
    given = node.nodeargd.argnlist[index]
    text: str = converter.nodelist_to_text([given]).strip()
    return text[1:-1] if text.startswith("{") and text.endswith("}") else text


def _fraction(node: Any, l2tobj: Any) -> str:
    over, under = (_argument(node, l2tobj, index) for index in (0, 1))
    return f" ⟦{_in_brackets(over)} / {_in_brackets(under)}⟧ "


def _in_brackets(text: str) -> str:
    return f"({text})" if re.search(r"[\s+/−-]", text.strip()) else text


def _accent(node: Any, l2tobj: Any, mark: str) -> str:
    return _argument(node, l2tobj, 0) + mark
