"""Formulas in our texts as MathML, made when the site is written: no script, no font, no network.

Titles, notes and claims write mathematics as one types it: x^2, w_0, x_{n+1}, sigma^2 (N - 3) / N,
1 / sqrt(2 pi), <w_m>^T <x_n>, gamma = 50. A stretch of text becomes a formula only if all of it can
be read and something in it is beyond doubt mathematics: an index, an exponent, a root, a function
of something, a Greek name beside an operator. All else stays as it is: sigma points, beta
densities, (13.65), cv_demo.m, `never_rises`. The formula keeps its source as `alttext`, which
searches read.
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
GREEK = {name: chr(ord("α") + place) for place, name in enumerate(_LETTERS.split())}
GREEK |= {n.capitalize(): letter.upper() for n, letter in GREEK.items() if n not in ("varsigma",)}
FUNCTIONS = ("exp", "ln", "log", "sin", "cos", "tanh", "digamma")
NAMED = ("Beta", "Gamma")  # distributions, where something in brackets follows
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


class _Read(NamedTuple):
    """A piece that was read: its end in the text, its markup, and if it is surely a formula."""

    end: int
    markup: str
    sure: bool
    kind: str = "letter"


@cache
def formulas(text: str) -> Markup:
    """A text with its formulas as MathML; everything else escaped and as it was."""
    if not _HINT.search(text):
        return escape(text)
    return Markup("").join(_parts(text))


def begins_with_formula(text: str) -> bool:
    """Is its first letter a symbol's, and no word's that a sentence would begin in capitals?"""
    return bool(_HINT.search(text)) and _formula(text, 0) is not None


def _parts(text: str) -> Iterator[Markup]:
    start = place = 0
    quoted = False
    while place < len(text):
        quoted ^= text[place] == "`"
        found = None if quoted or not _may_begin(text, place) else _formula(text, place)
        if found is None:
            place += 1
            continue
        yield escape(text[start:place])
        source, after = escape(text[place : found.end]), _STOP.match(text, found.end)
        drawn = f'<math alttext="{source}"><mrow>{found.markup}</mrow></math>'
        if after:  # no line begins with a comma
            drawn = f'<span class="one">{drawn}{after[0]}</span>'
        yield Markup(drawn)  # noqa: S704
        start = place = after.end() if after else found.end
    yield escape(text[start:])


def _may_begin(text: str, place: int) -> bool:
    """Not inside a word, a name with underscores, a number or a file's name."""
    return place == 0 or not re.match(r"[\w.`^\\/'’]", text[place - 1])


def _formula(text: str, place: int) -> _Read | None:
    """The longest formula that begins here, if it is surely one."""
    found = _sequence(text, place)
    return found if found is not None and found.sure else None


def _sequence(text: str, place: int, inside: str = "") -> _Read | None:
    """Items and the operators between them, to the last item; inside brackets to their end."""
    pieces: list[_Read] = []
    signs: list[str] = []  # before each piece: the operator, or none for a product
    end, sure, chain = place, False, False
    sign = re.compile(r"-(?=[\w(<])").match(text, place)
    lead = "<mo>−</mo>" if sign else ""
    at = sign.end() if sign else place
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
    return _Read(end, lead + _joined(pieces, signs), sure)


def _product(before: _Read, item: _Read, text: str, place: int, chain: bool) -> bool:
    """May two items stand side by side? No number, reference or word follows a symbol."""
    if item.kind == "number":
        return False
    if item.kind == "group":
        if _REFERENCE.match(text, place):
            return False
        return before.sure or before.kind in ("number", "greek", "group") or item.sure
    if item.kind == "greek" and not item.sure and _WORD_AFTER.match(text, item.end):
        return False  # 2d + 1 sigma points
    close = text[place - 1] != " "
    return close or chain or before.kind in ("number", "greek", "group") or item.sure


def _item(text: str, place: int) -> _Read | None:
    """One number, symbol, function, root or bracket, with its index and exponent."""
    if text[place : place + 1] == "<":
        return _mean(text, place)
    token = _TOKEN.match(text, place)
    if token is None or _within_word(text, place, token):
        return None
    kind = token.lastgroup or ""
    if kind == "number":
        return _scripted(text, _Read(token.end(), f"<mn>{token[0]}</mn>", False, "number"))
    if kind == "root":
        inner = _brackets(text, token.end())
        return inner and _Read(inner.end, f"<msqrt>{_bare(inner)}</msqrt>", True, "root")
    if kind in ("function", "named"):
        return _application(text, token)
    if kind == "sum":
        return _scripted(text, _Read(token.end(), "<mo>∑</mo>", False, "sum"))
    if kind == "open":
        group = _brackets(text, place)
        return group and _scripted(text, group)
    if kind != "symbol" or _is_word(text, token):
        return None
    greek = token[0] in GREEK or token[0] in GREEK.values()
    mark = f"<mi>{GREEK.get(token[0], token[0])}</mi>"
    read = _scripted(text, _Read(token.end(), mark, False, "greek" if greek else "letter"))
    if text[read.end : read.end + 1] == "(" and not _REFERENCE.match(text, read.end):
        argument = _brackets(text, read.end)
        if argument is not None:
            markup = read.markup + argument.markup
            sure = read.sure or argument.sure or bool(_GREEK_IN.search(markup))
            return _Read(argument.end, markup, sure, "applied")
    return read


def _within_word(text: str, place: int, token: re.Match[str]) -> bool:
    """A letter after a number is its factor, 5x; else words and numbers are one piece."""
    if place == 0 or not re.match(r"[\w.]", text[place - 1]):
        return False
    return not (token["symbol"] and text[place - 1].isdigit())


def _is_word(text: str, token: re.Match[str]) -> bool:
    """`a` and `I` before a word are words."""
    return token[0] in ("a", "A", "I") and bool(_WORD_AFTER.match(text, token.end()))


def _application(text: str, token: re.Match[str]) -> _Read | None:
    name = f"<mi>{token[0]}</mi>"
    argument = _brackets(text, token.end())
    if argument is not None:
        return _Read(argument.end, name + argument.markup, True, "applied")
    if token.lastgroup == "named" or text[token.end() : token.end() + 1] != " ":
        return None
    argument = _item(text, token.end() + 1)  # ln lambda, log f
    if argument is None or argument.kind == "function":
        return None
    more = _item(text, argument.end + 1) if text[argument.end : argument.end + 1] == " " else None
    if argument.kind == "number" and more is not None and more.kind == "greek":  # ln 2 pi
        argument = _Read(more.end, argument.markup + more.markup, more.sure, "greek")
    space = '<mspace width="0.17em"/>'
    words = argument.kind != "greek" or _WORD_AFTER.match(text, argument.end)  # log gamma function
    markup = name + space + argument.markup
    return _Read(argument.end, markup, argument.sure or not words, "called")


def _brackets(text: str, place: int) -> _Read | None:
    """What stands in round brackets, all of it read."""
    if text[place : place + 1] != "(":
        return None
    inner = _sequence(text, place + 1, ")")
    if inner is None or text[inner.end : inner.end + 1] != ")":
        return None
    markup = f"<mo>(</mo>{inner.markup}<mo>)</mo>"
    return _Read(inner.end + 1, f"<mrow>{markup}</mrow>", inner.sure, "group")


def _bare(group: _Read) -> str:
    return group.markup.removeprefix("<mrow><mo>(</mo>").removesuffix("<mo>)</mo></mrow>")


def _mean(text: str, place: int) -> _Read | None:
    """An expectation in angle brackets: <w_m>, <1 / tau>."""
    if text[place + 1 : place + 2] in ("", " ", "="):
        return None
    inner = _sequence(text, place + 1, ">")
    if inner is None or text[inner.end : inner.end + 1] != ">":
        return None
    markup = f"<mrow><mo>⟨</mo>{inner.markup}<mo>⟩</mo></mrow>"
    return _scripted(text, _Read(inner.end + 1, markup, True, "mean"))


def _scripted(text: str, base: _Read) -> _Read:
    """The item with its index and exponent, if these can be read."""
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
        return _Read(end, f"<msubsup>{base.markup}{low}{high}</msubsup>", True, base.kind)
    tag = "msub" if low else "msup"
    return _Read(end, f"<{tag}>{base.markup}{low or high}</{tag}>", True, base.kind)


def _small(script: str) -> str | None:
    """An index or exponent: n, nm, 21, COM, n+1, -1/2."""
    if re.fullmatch(r"[A-Z]{2,}", script):
        return f"<mi>{script}</mi>"
    parts = re.findall(r"\d+|[A-Za-z]|[-+/]|(.)", script)
    if any(parts):  # something that is none of these
        return None
    row = "".join(_mark(part) for part in re.findall(r"\d+|[A-Za-z]|[-+/]", script))
    return f"<mrow>{row}</mrow>"


def _mark(part: str) -> str:
    if part.isdigit():
        return f"<mn>{part}</mn>"
    return f"<mi>{part}</mi>" if part.isalpha() else f"<mo>{_SIGNS.get(part, part)}</mo>"


def _joined(pieces: list[_Read], operators: list[str]) -> str:
    """Pieces with their operators; a quotient of two single items stands as a fraction."""
    row = pieces[0].markup
    last = pieces[0].markup  # what a following stroke would divide
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


def _between(operator: str, before: _Read, item: _Read) -> str:
    if not operator:
        thin = before.kind != "number" and item.kind != "group"
        return '<mspace width="0.17em"/>' if thin else ""
    sign, minus = operator.strip(), ""
    if len(sign) > 1 and sign not in _SIGNS:  # = -15.8
        sign, minus = sign[:-1].strip(), "<mo>−</mo>"
    return f"<mo>{escape(_SIGNS.get(sign, sign))}</mo>{minus}"
