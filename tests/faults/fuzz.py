"""Strategies for the input of readers, and the limits for each case."""

import copy
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import strategies as st

from bythebook.experiments.config import catalogue
from bythebook.experiments.core.study import studies

MAX_CPU_S = 10  # computing time of a case
MAX_WALL_S = 120  # elapsed time of a case; the machine may be busy

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**400), 10**400)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["../../x", "/etc/passwd", "${oc.env:HOME}", "\x00", "\ud800", "x" * 5000])
)
junk = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@contextmanager
def bounded() -> Iterator[None]:
    """Fail a case that exceeds a time limit."""

    def on_signal(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"it took more than {MAX_CPU_S} s")

    clocks = {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
    before = {number: signal.signal(number, on_signal) for number in clocks}
    signal.setitimer(signal.ITIMER_PROF, MAX_CPU_S)
    signal.setitimer(signal.ITIMER_REAL, MAX_WALL_S)
    try:
        yield
    finally:
        for number, clock in clocks.items():
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])


def allowed(call: Callable[[], object], *errors: type[Exception]) -> object:
    """The result of a call, or None if it raises an allowed error with one-line messages."""
    with bounded():
        try:
            return call()
        except errors as error:
            lines = getattr(error, "problems", [str(error)])
            assert all("\n" not in line for line in lines), lines
            return None


@st.composite
def changed(draw: st.DrawFn, content: Any) -> Any:
    """A tree of plain values with some parts removed or replaced."""
    tree = copy.deepcopy(content)
    for _ in range(draw(st.integers(1, 3))):
        node = tree
        while True:
            keys = sorted(node) if isinstance(node, dict) else range(len(node))
            if not keys:
                break
            key = draw(st.sampled_from(list(keys)))
            inner = node[key]
            if isinstance(inner, dict | list) and inner and draw(st.booleans()):
                node = inner
                continue
            if draw(st.integers(0, 3)) == 0:
                del node[key]
            else:
                node[key] = draw(junk)
            break
    return tree


@st.composite
def corrupted(draw: st.DrawFn, raw: bytes) -> bytes:
    """Bytes of which some are changed, removed or inserted."""
    content = bytearray(raw)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(content) - 1)))
        how = draw(st.integers(0, 3))
        if how == 0:
            content[at : at + draw(st.integers(1, 64))] = b""
        elif how == 1:
            content[at:at] = draw(st.binary(max_size=40))
        elif how == 2:
            content = content[:at]
        elif content:
            content[at] = draw(st.integers(0, 255))
    return bytes(content)


NAMES = ("loss", "loo_loss", "order", "value", "x", "draws", "nothing", "pi", "inf")
WORDS = (
    *NAMES,
    *("min", "max", "argmin", "mean", "sd", "quantile", "share", "count", "where", "corr"),
    *("diff", "rises", "at", "near", "over", "distinct", "round", "abs", "log", "sqrt", "exp"),
    *("(", ")", "[", "]", "{", "}", ",", ":", "=", "==", "<", "<=", ">", "!=", "+", "-", "*", "/"),
    *("**", "//", "%", "and", "or", "not", "in", "if", "else", "lambda", "for", "is", ".", "'a'"),
    *(
        "0",
        "1",
        "2",
        "3",
        "1e400",
        "9" * 400,
        "-1",
        "0.5",
        "1j",
        "True",
        "None",
        "...",
        "__class__",
    ),
)
expressions = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.recursive(
    st.sampled_from([*NAMES, "1", "2.5", "'a'", "(1, 2)"]),
    lambda inner: st.one_of(
        st.builds(
            "({} {} {})".format, inner, st.sampled_from(["+", "**", "<", "in", "and"]), inner
        ),
        st.builds(
            "{}({})".format,
            st.sampled_from(["min", "mean", "diff", "argmax", "sqrt", "sum"]),
            inner,
        ),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("{}[{}:{}]".format, inner, inner, inner),
        st.builds("at({}, order={})".format, inner, inner),
        st.builds("where({}, {})".format, inner, inner),
        st.builds("not {}".format, inner),
    ),
    max_leaves=8,
)

KEYS = (
    *("seed", "study", "experiment", "tracking", "launcher", "jobs", "outputs", "force", "figures"),
    *("metric", "max_cells", "limits.timeout", "limits.memory_gb", "data_dir", "tracking_uri"),
    *("launcher.address", "launcher.options", "source", "source.title", "claims", "study.orders"),
    *(
        "study.folds",
        "study.data",
        "study.lambda",
        "study.noise",
        "hydra",
        "hydra.run.dir",
        "x",
        "",
    ),
)
GRAMMAR = (
    *("1", "-1", "1e400", "nan", "inf", "null", "true", "off", "local", "server", "dask", "slurm"),
    *(
        "polynomial_order",
        "ridge_path",
        "fcml/fig-1.15",
        "../x",
        "/etc/passwd",
        "olympics-100m-men",
    ),
    *("[", "]", "{", "}", "(", ")", ",", ":", "'", '"', "\\", "$", "${", "}", "=", " ", "\t", "@"),
    *("range(0,3)", "range(0,inf)", "range(0,1e18)", "choice(1,2)", "glob(*)", "interval(0,1)"),
    *(
        "sort(3,1)",
        "shuffle(1,2)",
        "tag(a,b)",
        "int(",
        "float(",
        "str(",
        "json_str(",
        "extend_list(",
    ),
    *(
        "a",
        "loo_loss",
        "http://u:p@h",
        "tcp://h:1",
        "x" * 200,
        "9" * 320,
        "é",
        "\x1b",
        "\n",
        "0x1F",
    ),
)
values = st.lists(st.sampled_from(GRAMMAR), max_size=5).map("".join) | st.text(max_size=12)
overrides = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "", "+", "++", "~"]),
    st.sampled_from(KEYS) | st.text(max_size=6),
    st.sampled_from(["=", "=", "=", "@x=", ""]),
    values,
)
FLAGS = (
    "-m",
    "--dry-run",
    "--cfg",
    "job",
    "-c",
    "--resolve",
    "--tag",
    "a=b",
    "--outputs",
    "-p",
    "--",
)
lines = st.lists(st.sampled_from(["study=polynomial_order", "fcml/fig-1.15"]), max_size=1).flatmap(
    lambda first: st.lists(overrides | st.sampled_from(FLAGS), max_size=4).map(first.__add__)
)
selections = st.lists(
    st.builds(
        "{}{}".format,
        st.sampled_from(["", "study:", "topic:", "verdict:", "fcml/", "prml", "run:", "sweep:"]),
        st.text(max_size=8)
        | st.sampled_from(
            [*catalogue.BOOKS, *list(studies())[:5], "fig-1.*", "[", "[!", "*?[a-", "1"]
        ),
    ),
    max_size=3,
)
yaml_text = st.lists(
    st.sampled_from(
        [
            *("study", "seed", "source", "claims", "metric", "hydra", ": ", "\n", "  ", "- ", "["),
            *(
                "]",
                "{",
                "}",
                ",",
                "&a ",
                "*a",
                "<<: *a",
                "!!int ",
                "!!binary ",
                "!!python/name:os ",
                "|",
            ),
            *(
                ">",
                "'",
                '"',
                "#",
                "1",
                "1:59:59",
                "0x1f",
                "1e3",
                "2001-01-01",
                "~",
                "yes",
                "? ",
                "%",
            ),
            *(
                "orders",
                "says",
                "holds",
                "value",
                "printed",
                "${oc.env:HOME}",
                "\t",
                "\x00",
                "---",
                "...",
            ),
        ]
    ),
    max_size=25,
).map("".join)


def files_outside(base: Path, inside: Path) -> set[Path]:
    """The files below `base` that are not below `inside`."""
    return {path for path in base.rglob("*") if not path.is_relative_to(inside)}
