"""HTML of results for notebooks: escaped, without scripts, in the colours of the page."""

import base64
import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

MAX_FIGURES = 4  # of a run on its page
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


class SafeHtml(str):
    """HTML from this module; every other text is escaped."""


def text(value: Any) -> str:
    """A value as escaped HTML."""
    return value if isinstance(value, SafeHtml) else html.escape(str(value))


def vertical(*parts: Any) -> str:
    """Stack parts vertically."""
    lines = "".join(f"<div style='margin:.3em 0'>{text(part)}</div>" for part in parts)
    return SafeHtml(f"<div class='bythebook'>{lines}</div>")


def bold(words: Any, rest: Any = "") -> SafeHtml:
    return SafeHtml(f"<b>{text(words)}</b> {text(rest)}")


def code(words: Any) -> SafeHtml:
    return SafeHtml(f"<code style='white-space:pre-wrap'>{text(words)}</code>")


def collapsible(summary: str, content: Any) -> SafeHtml:
    """Long content behind a summary line that opens it."""
    return SafeHtml(f"<details><summary>{text(summary)}</summary>{text(content)}</details>")


def verdict_badge(word: str, more: str = "") -> SafeHtml:
    """A verdict next to its colour."""
    colour = COLOURS.get(word, "#888888")
    style = f"border-left:.5em solid {colour};padding-left:.4em;white-space:nowrap"
    return SafeHtml(f"<span style='{style}'>{text(word)}{text(more)}</span>")


def table(columns: Sequence[Any], rows: Iterable[Sequence[Any]]) -> SafeHtml:
    """A plain table."""
    head = "".join(f"<th style='{_CELL}'>{text(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td style='{_CELL}'>{text(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return SafeHtml(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def claims(verdicts: Iterable[Mapping[str, Any]]) -> SafeHtml:
    """A table of claims: the statement, the expression, printed and computed value, the verdict."""
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
                verdict_badge(v["standing"], more),
            ]
        )
    return table(["claim", "tested", "printed", "computed", "verdict"], rows)


def inline_images(paths: Sequence[Path]) -> SafeHtml:
    """Images embedded in the page, in rows."""
    style = "max-width:100%;height:auto;background:white;margin:0 .5em .5em 0"
    images = "".join(
        f"<img alt='{text(path.stem)}' style='{style}' src='data:image/png;base64,"
        f"{base64.b64encode(path.read_bytes()).decode()}'>"
        for path in paths[:MAX_FIGURES]
    )
    more = (
        f"<div>and {len(paths) - MAX_FIGURES} more: .figures()</div>"
        if len(paths) > MAX_FIGURES
        else ""
    )
    return SafeHtml(f"<div>{images}</div>{more}")
