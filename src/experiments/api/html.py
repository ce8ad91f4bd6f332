"""HTML of results for notebooks: escaped, without scripts, in the colours of the page."""

import base64
import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bythebook.experiments.core.claim_blocks import DERIVED, Block, Detail, Row, claim_blocks

MAX_FIGURES = 4  # of a run on its page
COLOURS = {
    "reproduced": "#2a9d5c",
    "consistent": "#2a8fbd",
    "erratum": "#d9a400",
    "differs": "#d1495b",
    "untested": "#8d6cab",
    "equation holds": "#2a9d5c",
    "equation erratum": "#d9a400",
    "by construction": "#888888",
    "failed": "#d1495b",
}
_HEAD = "margin:.8em 0 .2em"
_BELOW = "margin:.1em 0 .1em 1.4em;font-size:.95em;overflow-wrap:anywhere"
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


def verdict_badge(word: str, more: str = "", category: str = "") -> SafeHtml:
    """A verdict next to the colour of its category."""
    colour = COLOURS.get(category or word, "#888888")
    shape = "display:inline-block;min-width:8em;padding:0 .6em 0 .4em;white-space:nowrap"
    style = f"border-left:.5em solid {colour};{shape}"
    return SafeHtml(f"<span style='{style}'>{text(word)}{text(more)}</span>")


def table(columns: Sequence[Any], rows: Iterable[Sequence[Any]]) -> SafeHtml:
    """A plain table."""
    head = "".join(f"<th style='{_CELL}'>{text(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td style='{_CELL}'>{text(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return SafeHtml(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def claims(verdicts: Sequence[Mapping[str, Any]]) -> SafeHtml:
    """The claims by block; a claim opens to its expression, evidence, tolerance and history."""
    return SafeHtml("".join(map(_block, claim_blocks(verdicts))))


def _block(block: Block) -> str:
    """A block of claims; derived checks are folded, except those that fail."""
    if block.name != DERIVED:
        return f"<p style='{_HEAD}'>{bold(block.title)}</p>" + "".join(map(claim, block.rows))
    others = "".join(map(claim, block.others))
    failed = "".join(map(claim, block.failed))
    summary = f"<summary style='{_HEAD}'>{bold(block.title)}</summary>"
    return f"<details>{summary}{others}</details>{failed}"


def claim(row: Row, result: str = "") -> SafeHtml:
    """A claim in a line that opens, with its notes below; `result` is the name of its result."""
    pairs = (("printed", row.printed), ("computed" if row.printed else "", row.computed))
    values = [f"{label} <b>{text(value)}</b>".lstrip() for label, value in pairs if value]
    more = f" ({row.mark})" if row.mark else ""
    verdict = verdict_badge(row.verdict, more, row.category)
    where = f"{text(result)}: " if result else ""
    summary = f"<summary>{verdict} {where}{text(row.says)}: {', '.join(values)}</summary>"
    notes = "".join(f"<div style='{_BELOW}'>{_detail(entry)}</div>" for entry in row.notes)
    details = "".join(f"<div style='{_BELOW}'>{_detail(entry)}</div>" for entry in row.details)
    return SafeHtml(
        f"<div style='margin:.3em 0'><details>{summary}{details}</details>{notes}</div>"
    )


def _detail(entry: Detail) -> str:
    return f"{text(entry.label)}: {code(entry.text) if entry.is_code else text(entry.text)}"


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
