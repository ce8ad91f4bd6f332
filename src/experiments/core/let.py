"""Named parts of expressions: the key `let` of an experiment file.

    let:
      excess: loss - min(loss)
      departure(a, b): max(abs(a - b))

A name stands for its expression wherever a claim uses it. It is replaced in the syntax tree, not in
the text, so a part keeps its own brackets. Names of quantities and words of the language are taken.
"""

import ast
import copy
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.outcome import LANGUAGE_WORDS

MAX_CHARS = 600  # of an expression; of one in an experiment file there may be fewer (`Limits`)
Let = Mapping[str, str]  # `departure(a, b)`: expression


class Limits(NamedTuple):
    """The largest size of an expression that a reader can follow."""

    chars: int
    comparisons: int


AS_WRITTEN = Limits(90, 2)
EXPANDED = Limits(200, 4)  # with the names of `let` replaced


class _Line(NamedTuple):
    """One name, with its parameters and its expression."""

    head: str
    name: str
    parameters: tuple[str, ...]
    text: str


def parse(text: str) -> ast.expr:
    """The syntax tree of an expression of bounded length."""
    if len(text) > MAX_CHARS:
        size = f"{len(text)} characters; allowed: {MAX_CHARS}"
        raise ExpressionError(f"{text[:40]}...: the expression has {size}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else type(error).__name__
        raise ExpressionError(f"{text}: {reason}") from None


def expand(text: str, let: Let) -> ast.expr:
    """The syntax tree of an expression with the names of `let` replaced, within `EXPANDED`."""
    lines = _lines(tuple(let.items()))
    expanded = _Expander(lines).visit(parse(text))
    if ast.dump(expanded) != ast.dump(parse(text)):
        _check_size(expanded, text)
    assert isinstance(expanded, ast.expr)
    return expanded


def used_lines(let: Let, *texts: str) -> dict[str, str]:
    """The lines of `let` that some expressions use, directly or through other lines."""
    if not let:
        return {}
    lines = _lines(tuple(let.items()))
    used: set[str] = set()
    waiting = [name for text in texts for name in _names(parse(text))]
    while waiting:
        name = waiting.pop()
        if name in lines and name not in used:
            used.add(name)
            waiting += _names(parse(lines[name].text))
    return {line.head: line.text for name, line in lines.items() if name in used}


def check_let(let: Let, quantities: Mapping[str, object]) -> None:
    """Refuse lines that are not valid, whether a claim uses them or not."""
    for name, line in _lines(tuple(let.items())).items():
        if name in quantities:
            raise ExpressionError(
                f"let: '{name}' is a quantity of the study; allowed: a name of its own"
            )
        arguments = ", ".join(line.parameters)
        expand(f"{name}({arguments})" if arguments else name, let)


def size_of(tree: ast.expr) -> Limits:
    """The number of characters and of comparisons of an expression."""
    comparisons = sum(len(node.ops) for node in ast.walk(tree) if isinstance(node, ast.Compare))
    return Limits(len(ast.unparse(tree)), comparisons)


def _check_size(tree: ast.expr, what: str) -> None:
    chars, comparisons = size_of(tree)
    if chars > EXPANDED.chars or comparisons > EXPANDED.comparisons:
        raise ExpressionError(
            f"{what}: with `let` the expression has {chars} characters and {comparisons}"
            f" comparisons; allowed: {EXPANDED.chars} and {EXPANDED.comparisons}"
        )


@cache
def _lines(let: tuple[tuple[str, str], ...]) -> dict[str, _Line]:
    """The lines by name."""
    lines: dict[str, _Line] = {}
    for head, text in let:
        line = _Line(head, *_parse_head(head), text)
        for word in (line.name, *line.parameters):
            if word in LANGUAGE_WORDS:
                raise ExpressionError(
                    f"let: {head}: '{word}' is a word of the language; allowed: another name"
                )
        if line.name in lines:
            raise ExpressionError(f"let: '{line.name}' is defined twice; allowed: once")
        parse(text)
        lines[line.name] = line
    for line in lines.values():
        hidden = [name for name in line.parameters if name in lines]
        if hidden:
            raise ExpressionError(
                f"let: {line.head}: '{hidden[0]}' is another line; allowed: another parameter"
            )
    return lines


def _parse_head(head: str) -> tuple[str, tuple[str, ...]]:
    """Name and parameters of `departure(a, b)`."""
    try:
        tree = ast.parse(head.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        tree = None
    match tree:
        case ast.Name(id=name):
            return name, ()
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as args, keywords=[]):
            parameters = tuple(arg.id for arg in args if isinstance(arg, ast.Name))
            if len(set(parameters)) == len(args):
                return name, parameters
    raise ExpressionError(f"let: '{head}' is not a name; allowed: name or name(a, b)")


def _names(tree: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]


class _Expander(ast.NodeTransformer):
    """Replaces the names of `let`; `inside` are the lines that are being replaced."""

    def __init__(self, lines: Mapping[str, _Line], inside: tuple[str, ...] = ()) -> None:
        self._lines, self._inside = lines, inside

    def visit_Call(self, node: ast.Call) -> ast.expr:
        line = self._lines.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if line is None:
            node.args = [self.visit(entry) for entry in node.args]
            node.keywords = [self.visit(entry) for entry in node.keywords]
            return node
        if node.keywords or len(node.args) != len(line.parameters):
            raise ExpressionError(
                f"'{ast.unparse(node)}' has the wrong arguments; allowed: {line.head}"
            )
        return self._body(line, [self.visit(entry) for entry in node.args])

    def visit_Name(self, node: ast.Name) -> ast.expr:
        line = self._lines.get(node.id)
        if line is None:
            return node
        if line.parameters:
            raise ExpressionError(f"'{node.id}' requires arguments; allowed: {line.head}")
        return self._body(line, [])

    def _body(self, line: _Line, arguments: list[ast.expr]) -> ast.expr:
        if line.name in self._inside:
            cycle = " -> ".join((*self._inside[self._inside.index(line.name) :], line.name))
            raise ExpressionError(f"let: {cycle} is a cycle; allowed: names of other lines")
        expanded = _Expander(self._lines, (*self._inside, line.name)).visit(parse(line.text))
        values = dict(zip(line.parameters, arguments, strict=True))
        body = _Substitution(values).visit(expanded)
        _check_size(body, f"let: {line.head}")
        assert isinstance(body, ast.expr)
        return body


class _Substitution(ast.NodeTransformer):
    """Replaces parameters by arguments."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._values[node.id]) if node.id in self._values else node
