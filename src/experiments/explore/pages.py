"""The pages as HTML: everything escaped, with the report's look."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from experiments.configuration import catalogue
from experiments.configuration.selection import plain
from experiments.contract.places import topic
from experiments.explore import trials
from experiments.explore.controls import controls
from experiments.report import pages as report
from experiments.report.spelling import humanised

HERE = Path(__file__).parent
REPORT = report.HERE
VIEW = ("figure", "view")  # what the address tells beside the knobs


@cache
def environment() -> Environment:
    """The templates. Autoescape is on for every one of them."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(humanised=humanised, sentence=report.sentence)
    made.globals.update(BOOKS=catalogue.BOOKS, SIGNS=report.SIGNS)
    return made


@cache
def entry(name: str) -> dict[str, Any]:
    """A result in a list: what it is, and the words that find it."""
    read = catalogue.read(name)
    source, of = read.source, topic(read.study)
    said = [str(claim.get("says", "")) for claim in read.body.get("claims", [])]
    book = str(source.get("book", ""))
    words = [name, read.study, of, catalogue.BOOKS.get(book, ""), *map(str, source.values()), *said]
    return {
        "name": name,
        "book": book,
        "item": str(source.get("item") or name),
        "title": str(source.get("title", "")),
        "section": str(source.get("section", "")),
        "note": str(source.get("note", "")),
        "topic": of,
        "study": read.study,
        "words": plain(" ".join(words)),
    }


def listing(names: Sequence[str]) -> str:
    """The start page: every result of the selection."""
    entries = [entry(name) for name in names]
    books = [book for book in catalogue.BOOKS if any(e["book"] == book for e in entries)]
    topics = sorted({e["topic"] for e in entries})
    return (
        environment().get_template("list.html").render(entries=entries, books=books, topics=topics)
    )


def result(names: Sequence[str], name: str, texts: Mapping[str, str], data_dir: str | None) -> str:
    """One result with its knobs, standing where the address says."""
    book = trials.template(name, data_dir).job()
    place = list(names).index(name)
    known = controls(book, texts, catalogue.read(name).body.get("study") or {})
    strange = sorted(set(texts) - {control.name for control in known} - set(VIEW))
    return (
        environment()
        .get_template("result.html")
        .render(
            entry=entry(name),
            about=(type(book.study).__doc__ or "").strip(),
            controls=known,
            strange=strange,
            claims=book.claims,
            before=entry(names[place - 1]) if place else None,
            after=entry(names[place + 1]) if place + 1 < len(names) else None,
        )
    )
