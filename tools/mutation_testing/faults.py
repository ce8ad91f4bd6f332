"""Generates all faults of a module: signs, operators, constants, comparisons, indices, functions.

A fault replaces one expression by another and changes nothing else in the file. Docstrings,
annotations, messages and checks of arguments get no faults.
"""

import ast
import copy
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

MODULE = ""  # stands for the function name in module-level code
KINDS = ("sign", "operator", "constant", "comparison", "index", "function")

_OPERATORS: dict[type[ast.operator], tuple[str, type[ast.operator]]] = {
    ast.Add: ("sign.plus", ast.Sub),
    ast.Sub: ("sign.minus", ast.Add),
    ast.Mult: ("operator.times", ast.Div),
    ast.Div: ("operator.over", ast.Mult),
}
_COMPARISONS: dict[type[ast.cmpop], dict[str, type[ast.cmpop]]] = {
    ast.Lt: {"edge": ast.LtE, "turn": ast.Gt},
    ast.LtE: {"edge": ast.Lt, "turn": ast.GtE},
    ast.Gt: {"edge": ast.GtE, "turn": ast.Lt},
    ast.GtE: {"edge": ast.Gt, "turn": ast.LtE},
    ast.Eq: {"equal": ast.NotEq},
    ast.NotEq: {"equal": ast.Eq},
}
_EVERYWHERE = {"min": "max", "max": "min", "any": "all", "all": "any", "log": "log1p"}
_OF_ARRAYS = {  # only for methods and functions of modules, because there is no built-in mean
    **_EVERYWHERE,
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "sum": "mean",
    "mean": "sum",
    "floor": "ceil",
    "ceil": "floor",
    "log1p": "log",
}
_REDUCTIONS = {"sum", "mean", "min", "max", "argmin", "argmax", "any", "all", "var", "std", "prod"}
_FORM = {"ndmin", "maxsize", "stacklevel"}  # keywords that do not change numbers
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow)


@dataclass(frozen=True)
class Fault:
    """One expression of a file and its replacement."""

    file: str  # below src/models: chains/hmm.py
    line: int
    column: int
    kind: str  # sign.plus: of the kind `sign`
    function: str  # `Class.method`, or MODULE
    text: str  # the line of source without its comment
    nth: int  # number among the faults of this kind on equal lines of the function
    before: str
    after: str
    span: tuple[int, int]  # of the replaced bytes

    @property
    def id(self) -> str:
        return f"{self.file}:{self.line}:{self.column}:{self.kind}"

    @property
    def words(self) -> str:
        """An identifier that does not change when other lines or comments are edited."""
        return " | ".join([self.file, self.function, self.kind, self.text, str(self.nth)])

    @property
    def topic(self) -> str:
        """The folder of the module."""
        return self.file.partition("/")[0] if "/" in self.file else "shared"

    def planted(self, source: bytes) -> bytes:
        """The file with the fault."""
        begin, end = self.span
        return source[:begin] + self.after.encode() + source[end:]


class _Change(NamedTuple):
    """An expression and its replacement; `at` is the position that distinguishes nested ones."""

    kind: str
    node: ast.expr
    after: str
    at: tuple[int, int]


def faults(source: str, file: str) -> list[Fault]:
    """All faults of a module, from its first line to its last."""
    lines, codes = source.splitlines(keepends=True), _without_comments(source)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    generated, seen = [], Counter[tuple[str, str, str]]()
    changes = [
        (change, function)
        for statement, function in _statements(ast.parse(source).body, "")
        for change in _changes(statement)
    ]
    for change, function in sorted(changes, key=lambda pair: (pair[0].at, pair[0].kind)):
        node, (line_number, column) = change.node, change.at
        text = codes[line_number - 1]
        seen[function, change.kind, text] += 1
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        generated.append(
            Fault(
                file=file,
                line=line_number,
                column=column,
                kind=change.kind,
                function=function,
                text=text,
                nth=seen[function, change.kind, text],
                before=ast.unparse(node),
                after=change.after,
                span=(begin, end),
            )
        )
    return generated


def _without_comments(source: str) -> list[str]:
    """The stripped lines of a module without their comments."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return [line.strip() for line in lines]


def _statements(body: list[ast.stmt], function: str) -> Iterator[tuple[ast.stmt, str]]:
    """The statements of a module with the outermost function or method that each belongs to."""
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            for inner, name in _statements(statement.body, MODULE):
                yield inner, f"{statement.name}.{name}" if name else MODULE
        elif isinstance(statement, ast.FunctionDef):
            yield statement, function or statement.name
        else:
            yield statement, function


def _changes(tree: ast.AST) -> Iterator[_Change]:
    """The faults of a statement or expression and of its descendants."""
    if isinstance(tree, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    yield from _own(tree)
    for child in _below(tree):
        yield from _changes(child)


def _below(tree: ast.AST) -> Iterator[ast.AST]:
    """The children in which faults are planted."""
    if isinstance(tree, ast.If) and all(isinstance(line, ast.Raise) for line in tree.body):
        yield from tree.orelse
    elif isinstance(tree, ast.Subscript):
        yield from [tree.value, *_inside(tree.slice)]
    elif not _is_not_numeric(tree):
        words = _words(tree)
        yield from (child for child in ast.iter_child_nodes(tree) if child not in words)


def _inside(index: ast.expr) -> Iterator[ast.expr]:
    """Computed parts of an index: `i - 1` in a[i - 1], `n + 1` in a[: n + 1]."""
    for part in _parts(index):
        ends = [part.lower, part.upper] if isinstance(part, ast.Slice) else [part]
        yield from (end for end in ends if end is not None and not _is_integer(end))


def _is_not_numeric(tree: ast.AST) -> bool:
    """True for warnings and for arguments that do not change numbers."""
    if isinstance(tree, ast.keyword):
        return tree.arg in _FORM or (tree.arg == "axis" and _is_integer(tree.value))
    return isinstance(tree, ast.Call) and _name(tree.func) == "warn"


def _words(tree: ast.AST) -> list[ast.AST | None]:
    """Children that are annotations or decorators, or that are faults of the node itself."""
    if isinstance(tree, ast.AnnAssign | ast.arg):
        return [tree.annotation]
    if isinstance(tree, ast.FunctionDef):
        return [tree.returns, *tree.decorator_list]
    if isinstance(tree, ast.ClassDef):
        return [*tree.decorator_list]
    if isinstance(tree, ast.Call):
        return [*_axes(tree)]
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Pow) and _number(tree.right):
        return [tree.right]
    return []


def _own(node: ast.AST) -> Iterator[_Change]:
    """The faults of one node itself."""
    if isinstance(node, ast.BinOp):
        yield from _operator(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield _Change("sign.drop", node, ast.unparse(node.operand), _start(node))
    elif isinstance(node, ast.Constant) and _number(node):
        yield from _constant(node)
    elif isinstance(node, ast.Compare):
        yield from _comparison(node)
    elif isinstance(node, ast.Subscript):
        yield from _index(node)
    elif isinstance(node, ast.Call):
        yield from _call(node)
    elif isinstance(node, ast.Return | ast.Assign) and isinstance(node.value, ast.BinOp):
        if isinstance(node.value.op, _ARITHMETIC) and not _sequence(node.value):
            after = f"-({ast.unparse(node.value)})"
            yield _Change("sign.negate", node.value, after, _start(node.value))
    elif isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
        kind, op = _OPERATORS[type(node.op)]
        # x += y is x = x + y, so the fault changes the added value.
        text = ast.unparse(node.value)
        after = f"-({text})" if op in (ast.Add, ast.Sub) else f"1 / ({text})"
        yield _Change(kind, node.value, after, _start(node.value))


def _operator(node: ast.BinOp) -> Iterator[_Change]:
    if type(node.op) in _OPERATORS and not _sequence(node):
        kind, op = _OPERATORS[type(node.op)]
        changed = copy.copy(node)
        changed.op = op()
        yield _Change(kind, node, ast.unparse(changed), _start(node.right))
    elif isinstance(node.op, ast.Pow) and _number(node.right):
        changed = copy.copy(node)
        changed.right = ast.Constant(_value(node.right) + 1)
        yield _Change("operator.power", node, ast.unparse(changed), _start(node.right))


def _constant(node: ast.Constant) -> Iterator[_Change]:
    value = _value(node)
    if value in (0, 1):
        yield _Change("constant.flip", node, repr(1 - value), _start(node))
    else:
        yield _Change("constant.next", node, repr(value + 1), _start(node))
        yield _Change("constant.double", node, repr(2 * value), _start(node))


def _comparison(node: ast.Compare) -> Iterator[_Change]:
    for index, (op, other) in enumerate(zip(node.ops, node.comparators, strict=True)):
        for kind, replacement in _COMPARISONS.get(type(op), {}).items():
            changed = copy.copy(node)
            changed.ops = [*node.ops[:index], replacement(), *node.ops[index + 1 :]]
            yield _Change(f"comparison.{kind}", node, ast.unparse(changed), _start(other))


def _index(node: ast.Subscript) -> Iterator[_Change]:
    for part in _positions(node.slice):
        if isinstance(part, ast.Slice):
            yield from _slice(part)
        else:
            value = int(ast.literal_eval(part))
            after = {0: 1, 1: 0, -1: 0}.get(value, value + 1)
            yield _Change("index.item", part, repr(after), _start(part))


def _slice(part: ast.Slice) -> Iterator[_Change]:
    lower, upper = (ast.unparse(end) if end else "" for end in (part.lower, part.upper))
    step = f":{ast.unparse(part.step)}" if part.step else ""
    if (lower, upper) in (("1", ""), ("", "-1")):
        after = ":-1" if lower else "1:"
        yield _Change("index.shift", part, after + step, _start(part))
        return
    if part.lower is not None:
        yield _Change("index.start", part, f"{lower} + 1:{upper}{step}", _start(part))
    if part.upper is not None:
        yield _Change("index.end", part, f"{lower}:{upper} - 1{step}", _start(part))


def _call(node: ast.Call) -> Iterator[_Change]:
    for axis in _axes(node):
        value = int(ast.literal_eval(axis))
        yield _Change("index.axis", axis, "1" if value == 0 else "0", _start(axis))
    table = _OF_ARRAYS if isinstance(node.func, ast.Attribute) else _EVERYWHERE
    replacement = table.get(_name(node.func))
    if replacement is not None:
        before = ast.unparse(node.func)
        after = before[: len(before) - len(_name(node.func))] + replacement
        at = node.func.end_lineno or 0, node.func.end_col_offset or 0
        yield _Change("function.swap", node.func, after, at)


def _axes(node: ast.Call) -> list[ast.expr]:
    """The arguments of a call that are an axis: `axis=0`, `x.sum(0)`, `np.sum(x, 0)`."""
    arguments = [word.value for word in node.keywords if word.arg == "axis"]
    if isinstance(node.func, ast.Attribute) and node.func.attr in _REDUCTIONS:
        of_module = isinstance(node.func.value, ast.Name) and node.func.value.id == "np"
        arguments += node.args[int(of_module) :][:1]
    return [axis for axis in arguments if _is_integer(axis)]


def _parts(index: ast.expr) -> list[ast.expr]:
    return list(index.elts) if isinstance(index, ast.Tuple) else [index]


def _positions(index: ast.expr) -> list[ast.expr]:
    """The parts of an index that are an integer or a slice."""
    return [part for part in _parts(index) if isinstance(part, ast.Slice) or _is_integer(part)]


def _is_integer(node: ast.expr) -> bool:
    """True for an integer literal, with or without a sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return _number(node) and isinstance(_value(node), int)


def _number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _value(node: ast.expr) -> int | float:
    value = node.value if isinstance(node, ast.Constant) else None
    assert isinstance(value, int | float)
    return value


def _sequence(node: ast.BinOp) -> bool:
    """True for lists and strings, which use the same operators as numbers."""
    kinds = (ast.List, ast.Tuple, ast.JoinedStr, ast.ListComp)
    for side in (node.left, node.right):
        if isinstance(side, kinds) or (
            isinstance(side, ast.Constant) and isinstance(side.value, str)
        ):
            return True
        if isinstance(side, ast.BinOp) and _sequence(side):
            return True
    return False


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
