"""Results as HTML for notebooks: escaped, without scripts, in the colours of the page around."""

import base64
import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

SHOWN = 4  # figures that a run shows of its own accord
COLOURS = {
    "reproduced": "#2a9d5c",
    "consistent": "#2a8fbd",
    "erratum": "#d9a400",
    "differs": "#d1495b",
    "untested": "#8d6cab",
    "by construction": "#888888",
    "failed": "#d1495b",
}
_CELL = "text-align:left;vertical-align:top;padding:.2em .8em .2em 0;white-space:normal"


class Markup(str):
    """HTML that is made here: everything else is escaped."""


def text(value: Any) -> str:
    """A value as HTML has it."""
    return value if isinstance(value, Markup) else html.escape(str(value))


def block(*parts: Any) -> str:
    """Parts one below the other."""
    lines = "".join(f"<div style='margin:.3em 0'>{text(part)}</div>" for part in parts)
    return Markup(f"<div class='bythebook'>{lines}</div>")


def bold(words: Any, rest: Any = "") -> Markup:
    return Markup(f"<b>{text(words)}</b> {text(rest)}")


def code(words: Any) -> Markup:
    return Markup(f"<code style='white-space:pre-wrap'>{text(words)}</code>")


def folded(summary: str, content: Any) -> Markup:
    """Something long behind a line that opens it."""
    return Markup(f"<details><summary>{text(summary)}</summary>{text(content)}</details>")


def verdict(word: str, more: str = "") -> Markup:
    """A verdict with its colour beside it."""
    colour = COLOURS.get(word, "#888888")
    style = f"border-left:.5em solid {colour};padding-left:.4em;white-space:nowrap"
    return Markup(f"<span style='{style}'>{text(word)}{text(more)}</span>")


def table(columns: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Markup:
    """A plain table."""
    head = "".join(f"<th style='{_CELL}'>{text(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td style='{_CELL}'>{text(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return Markup(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def claims(verdicts: Iterable[Mapping[str, Any]]) -> Markup:
    """Claim by claim: what is said, what was tested, both sides, the verdict."""
    rows = []
    for v in verdicts:
        more = " (weak)" if v["weak"] else ""
        if not v["as_expected"]:
            more += f" (expected {v['expected']})"
        says = f"{v['says']} (derived)" if v["origin"] == "derived" else v["says"]
        evidence = v["evidence"] or v["computed"]
        rows.append(
            [
                says,
                code(v["expression"]),
                v["printed"] or "",
                evidence,
                verdict(v["standing"], more),
            ]
        )
    return table(["claim", "tested", "printed", "computed", "verdict"], rows)


def images(paths: Sequence[Path]) -> Markup:
    """Pictures inside the page, side by side where there is room."""
    style = "max-width:100%;height:auto;background:white;margin:0 .5em .5em 0"
    found = "".join(
        f"<img alt='{text(path.stem)}' style='{style}' src='data:image/png;base64,"
        f"{base64.b64encode(path.read_bytes()).decode()}'>"
        for path in paths[:SHOWN]
    )
    more = f"<div>and {len(paths) - SHOWN} more: .figures()</div>" if len(paths) > SHOWN else ""
    return Markup(f"<div>{found}</div>{more}")
