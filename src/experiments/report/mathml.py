"""Converts formulas in plain text to MathML when the site is written.

Titles, notes and claims contain mathematics as it is typed: x^2, w_0, x_{n+1}, sigma^2 (N - 3) / N,
1 / sqrt(2 pi), <w_m>^T <x_n>, gamma = 50. A part of a text becomes a formula only if the parser
reads all of it and it contains a sure sign of mathematics: an index, an exponent, a root, a
function with its argument, or a Greek name next to an operator. Other text is unchanged, for
example: sigma points, beta densities, (13.65), cv_demo.m. The source of a formula is stored in the
attribute alttext, which the search reads.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from markupsafe import Markup, escape

_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho"
    " varsigma sigma tau upsilon phi chi psi omega"
)
GREEK = {name: chr(ord("α") + index) for index, name in enumerate(_LETTERS.split())}
GREEK |= {n.capitalize(): letter.upper() for n, letter in GREEK.items() if n not in ("varsigma",)}
FUNCTIONS = ("exp", "ln", "log", "sin", "cos", "tanh", "digamma")
NAMED = ("Beta", "Gamma")  # distributions, if an argument in brackets follows
_SIGNS = {"-": "−", "<=": "≤", ">=": "≥", "|": "|", "...": "…"}
_HINT = re.compile(rf"[_^]|\b(?:sqrt|{'|'.join((*FUNCTIONS, *GREEK))})\b|[α-ωΑ-Ω]")

_NAME = rf"(?:{'|'.join(sorted(GREEK, key=len, reverse=True))}|[A-Za-zα-ωΑ-Ω])"
_TOKEN = re.compile(
    rf"""(?P<number>\d+(?:,\d\d\d)*(?:\.\d+)?)
    |(?P<function>(?:{"|".join(FUNCTIONS)})(?![A-Za-z0-9_^]))
    |(?P<root>sqrt(?=\())
    |(?P<named>(?:{"|".join(NAMED)})(?=\())
    |(?P<sum>sum(?=_[a-z]\b))
    |(?P<symbol>{_NAME}(?!\d|[A-Za-z0-9.'’-]*[A-Za-z'’]))
    |(?P<operator><=|>=|[-+=<>/|])
    |(?P<open>\()""",
    re.VERBOSE,
)
_SUB = re.compile(r"_(?:\{([^{}]{1,9})\}|([A-Za-z0-9]{1,3})(?![A-Za-z0-9_.]*[A-Za-z0-9_]))")
_SUP = re.compile(r"\^(?:\{([^{}]{1,9})\}|\(([^()]{1,9})\)|(-?(?:\d+|[A-Za-z]))(?![A-Za-z0-9_]))")
_REFERENCE = re.compile(r"\(\d+(?:\.\d+)?[a-z]?\)")  # to an equation or a figure
_STOP = re.compile(r"[,.;:!?)]+")
_GREEK_IN = re.compile("<mi>[α-ωΑ-Ω]</mi>")
_WORD_AFTER = re.compile(rf" (?!(?:{'|'.join(GREEK)})\b)[a-z]{{2,}}")


class _Parsed(NamedTuple):
    """A parsed piece: its end in the text, its markup, and whether it is surely a formula."""

    end: int
    markup: str
    sure: bool
    kind: str = "letter"


@cache
def formulas(text: str) -> Markup:
    """A text with its formulas as MathML and the rest escaped."""
    if not _HINT.search(text):
        return escape(text)
    return Markup("").join(_parts(text))


def starts_with_formula(text: str) -> bool:
    """True if a text begins with a formula, whose first letter must not become a capital."""
    return bool(_HINT.search(text)) and _formula(text, 0) is not None


def _parts(text: str) -> Iterator[Markup]:
    start = index = 0
    quoted = False
    while index < len(text):
        quoted ^= text[index] == "`"
        parsed = None if quoted or not _may_begin(text, index) else _formula(text, index)
        if parsed is None:
            index += 1
            continue
        yield escape(text[start:index])
        source, after = escape(text[index : parsed.end]), _STOP.match(text, parsed.end)
        drawn = f'<math alttext="{source}"><mrow>{parsed.markup}</mrow></math>'
        if after:  # keep a comma on the line of its formula
            drawn = f'<span class="one">{drawn}{after[0]}</span>'
        yield Markup(drawn)  # noqa: S704
        start = index = after.end() if after else parsed.end
    yield escape(text[start:])


def _may_begin(text: str, index: int) -> bool:
    """False inside a word, a name with underscores, a number or a file name."""
    return index == 0 or not re.match(r"[\w.`^\\/'’]", text[index - 1])


def _formula(text: str, index: int) -> _Parsed | None:
    """The longest formula that begins at an index, if it is surely one."""
    parsed = _sequence(text, index)
    return parsed if parsed is not None and parsed.sure else None


def _sequence(text: str, index: int, inside: str = "") -> _Parsed | None:
    """Items with the operators between them, up to the closing bracket `inside` if it is given."""
    pieces: list[_Parsed] = []
    signs: list[str] = []  # the operator before each piece, empty for a product
    end, sure, chain = index, False, False
    sign = re.compile(r"-(?=[\w(<])").match(text, index)
    lead = "<mo>−</mo>" if sign else ""
    at = sign.end() if sign else index
    between = ""
    while (item := _item(text, at)) is not None:
        if pieces and not between and not _product(pieces[-1], item, text, at, chain):
            break
        chain = item.sure or (chain and not between)
        pieces.append(item)
        signs.append(between)
        sure |= item.sure
        end, between = item.end, ""
        gap = re.compile(r" ?").match(text, end)
        at = gap.end() if gap else end
        operator = re.compile(r"(<=|>=|[-+=<>/|]|, (?=\S))( ?-(?=\w))?").match(text, at)
        if operator and (operator[1] not in ("|", ", ") or inside):
            spaced = text[at - 1] == " " and text[operator.end() : operator.end() + 1] == " "
            close = text[at - 1] != " " and text[operator.end() : operator.end() + 1] != " "
            if operator[1] in (", ", "|") or spaced or close or operator[2]:
                between = operator[0]
                at = re.compile(r" ?").match(text, operator.end()).end()  # type: ignore[union-attr]
        elif inside and text[end : end + 1] == inside:
            break
    if not pieces:
        return None
    joined = any(operator.strip() not in ("", ",") for operator in signs[1:])
    greek = any(p.kind == "greek" or _GREEK_IN.search(p.markup) for p in pieces)
    times = any(p.kind == "group" for p in pieces[1:])  # lambda (g - a)
    sure |= greek and (joined or times)
    return _Parsed(end, lead + _joined(pieces, signs), sure)


def _product(before: _Parsed, item: _Parsed, text: str, index: int, chain: bool) -> bool:
    """True if two items without an operator are a product, not a symbol followed by a word."""
    if item.kind == "number":
        return False
    if item.kind == "group":
        if _REFERENCE.match(text, index):
            return False
        return before.sure or before.kind in ("number", "greek", "group") or item.sure
    if item.kind == "greek" and not item.sure and _WORD_AFTER.match(text, item.end):
        return False  # 2d + 1 sigma points
    close = text[index - 1] != " "
    return close or chain or before.kind in ("number", "greek", "group") or item.sure


def _item(text: str, index: int) -> _Parsed | None:
    """One number, symbol, function, root or bracket, with its index and exponent."""
    if text[index : index + 1] == "<":
        return _mean(text, index)
    token = _TOKEN.match(text, index)
    if token is None or _within_word(text, index, token):
        return None
    kind = token.lastgroup or ""
    if kind == "number":
        return _scripted(text, _Parsed(token.end(), f"<mn>{token[0]}</mn>", False, "number"))
    if kind == "root":
        inner = _brackets(text, token.end())
        return inner and _Parsed(inner.end, f"<msqrt>{_bare(inner)}</msqrt>", True, "root")
    if kind in ("function", "named"):
        return _application(text, token)
    if kind == "sum":
        return _scripted(text, _Parsed(token.end(), "<mo>∑</mo>", False, "sum"))
    if kind == "open":
        group = _brackets(text, index)
        return group and _scripted(text, group)
    if kind != "symbol" or _is_word(text, token):
        return None
    greek = token[0] in GREEK or token[0] in GREEK.values()
    mark = f"<mi>{GREEK.get(token[0], token[0])}</mi>"
    read = _scripted(text, _Parsed(token.end(), mark, False, "greek" if greek else "letter"))
    if text[read.end : read.end + 1] == "(" and not _REFERENCE.match(text, read.end):
        argument = _brackets(text, read.end)
        if argument is not None:
            markup = read.markup + argument.markup
            sure = read.sure or argument.sure or bool(_GREEK_IN.search(markup))
            return _Parsed(argument.end, markup, sure, "applied")
    return read


def _within_word(text: str, index: int, token: re.Match[str]) -> bool:
    """True inside a word or number; a letter after a number is a factor, as in 5x."""
    if index == 0 or not re.match(r"[\w.]", text[index - 1]):
        return False
    return not (token["symbol"] and text[index - 1].isdigit())


def _is_word(text: str, token: re.Match[str]) -> bool:
    """True for "a" and "I" before a word."""
    return token[0] in ("a", "A", "I") and bool(_WORD_AFTER.match(text, token.end()))


def _application(text: str, token: re.Match[str]) -> _Parsed | None:
    name = f"<mi>{token[0]}</mi>"
    argument = _brackets(text, token.end())
    if argument is not None:
        return _Parsed(argument.end, name + argument.markup, True, "applied")
    if token.lastgroup == "named" or text[token.end() : token.end() + 1] != " ":
        return None
    argument = _item(text, token.end() + 1)  # ln lambda, log f
    if argument is None or argument.kind == "function":
        return None
    more = _item(text, argument.end + 1) if text[argument.end : argument.end + 1] == " " else None
    if argument.kind == "number" and more is not None and more.kind == "greek":  # ln 2 pi
        argument = _Parsed(more.end, argument.markup + more.markup, more.sure, "greek")
    space = '<mspace width="0.17em"/>'
    words = argument.kind != "greek" or _WORD_AFTER.match(text, argument.end)  # log gamma function
    markup = name + space + argument.markup
    return _Parsed(argument.end, markup, argument.sure or not words, "called")


def _brackets(text: str, index: int) -> _Parsed | None:
    """A group in round brackets, if all of its content can be parsed."""
    if text[index : index + 1] != "(":
        return None
    inner = _sequence(text, index + 1, ")")
    if inner is None or text[inner.end : inner.end + 1] != ")":
        return None
    markup = f"<mo>(</mo>{inner.markup}<mo>)</mo>"
    return _Parsed(inner.end + 1, f"<mrow>{markup}</mrow>", inner.sure, "group")


def _bare(group: _Parsed) -> str:
    return group.markup.removeprefix("<mrow><mo>(</mo>").removesuffix("<mo>)</mo></mrow>")


def _mean(text: str, index: int) -> _Parsed | None:
    """An expectation in angle brackets: <w_m>, <1 / tau>."""
    if text[index + 1 : index + 2] in ("", " ", "="):
        return None
    inner = _sequence(text, index + 1, ">")
    if inner is None or text[inner.end : inner.end + 1] != ">":
        return None
    markup = f"<mrow><mo>⟨</mo>{inner.markup}<mo>⟩</mo></mrow>"
    return _scripted(text, _Parsed(inner.end + 1, markup, True, "mean"))


def _scripted(text: str, base: _Parsed) -> _Parsed:
    """The item with its index and exponent, if these can be parsed."""
    sub = _SUB.match(text, base.end) if base.kind in ("letter", "greek", "sum") else None
    end = sub.end() if sub else base.end
    sup = _SUP.match(text, end)
    if sub is None and sup is None:
        return base
    low = _small(sub[1] or sub[2]) if sub else None
    high = _small(next(part for part in sup.groups() if part)) if sup else None
    if (sub and low is None) or (sup and high is None):
        return base
    end = sup.end() if sup else end
    if low and high:
        return _Parsed(end, f"<msubsup>{base.markup}{low}{high}</msubsup>", True, base.kind)
    tag = "msub" if low else "msup"
    return _Parsed(end, f"<{tag}>{base.markup}{low or high}</{tag}>", True, base.kind)


def _small(script: str) -> str | None:
    """An index or exponent: n, nm, 21, COM, n+1, -1/2."""
    if re.fullmatch(r"[A-Z]{2,}", script):
        return f"<mi>{script}</mi>"
    parts = re.findall(r"\d+|[A-Za-z]|[-+/]|(.)", script)
    if any(parts):  # a character that is none of these
        return None
    row = "".join(_mark(part) for part in re.findall(r"\d+|[A-Za-z]|[-+/]", script))
    return f"<mrow>{row}</mrow>"


def _mark(part: str) -> str:
    if part.isdigit():
        return f"<mn>{part}</mn>"
    return f"<mi>{part}</mi>" if part.isalpha() else f"<mo>{_SIGNS.get(part, part)}</mo>"


def _joined(pieces: list[_Parsed], operators: list[str]) -> str:
    """Pieces with their operators; a quotient of two single items becomes a fraction."""
    row = pieces[0].markup
    last = pieces[0].markup  # the numerator if a slash follows
    for i in range(1, len(pieces)):
        item, operator = pieces[i], operators[i]
        follows = operators[i + 1] if i + 1 < len(pieces) else "+"
        single = follows != "" and (i == 1 or operators[i - 1].strip() not in ("", "/"))
        if operator == "/" and single:
            over = _bare(pieces[i - 1]) if pieces[i - 1].kind == "group" else last
            under = _bare(item) if item.kind == "group" else item.markup
            last = f"<mfrac><mrow>{over}</mrow><mrow>{under}</mrow></mfrac>"
            row = row.removesuffix(pieces[i - 1].markup) + last
            continue
        last = item.markup
        row += _between(operator, pieces[i - 1], item) + last
    return row


def _between(operator: str, before: _Parsed, item: _Parsed) -> str:
    if not operator:
        thin = before.kind != "number" and item.kind != "group"
        return '<mspace width="0.17em"/>' if thin else ""
    sign, minus = operator.strip(), ""
    if len(sign) > 1 and sign not in _SIGNS:  # = -15.8
        sign, minus = sign[:-1].strip(), "<mo>−</mo>"
    return f"<mo>{escape(_SIGNS.get(sign, sign))}</mo>{minus}"
