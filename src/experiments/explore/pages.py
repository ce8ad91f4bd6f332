"""HTML of the explore pages, in the style of the report; all values are escaped."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.selection import normalise_text
from bythebook.experiments.core.claim_blocks import claim_blocks, claim_entry
from bythebook.experiments.core.registry import topic_of
from bythebook.experiments.explore import runs
from bythebook.experiments.explore.widgets import make_widgets
from bythebook.experiments.report import pages as report
from bythebook.experiments.report.display_names import display_name

TEMPLATE_DIR = Path(__file__).parent
REPORT_DIR = report.TEMPLATE_DIR
VIEW_PARAMS = ("figure", "view")  # parameters of the address that are not of the study


@cache
def environment() -> Environment:
    """The template environment, with autoescape for every template."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATE_DIR / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(humanised=display_name, sentence=report.as_sentence)
    templates.globals.update(BOOKS=catalogue.BOOKS, SIGNS=report.VERDICT_SYMBOLS)
    return templates


@cache
def entry(name: str) -> dict[str, Any]:
    """The description of a result, and the words under which a search finds it."""
    experiment = catalogue.load_experiment(name)
    source, topic = experiment.source, topic_of(experiment.study)
    claims = [str(claim.get("says", "")) for claim in experiment.body.get("claims", [])]
    book = str(source.get("book", ""))
    title = catalogue.BOOKS.get(book, "")
    words = [name, experiment.study, topic, title, *map(str, source.values()), *claims]
    return {
        "name": name,
        "book": book,
        "item": str(source.get("item") or name),
        "title": str(source.get("title", "")),
        "section": str(source.get("section", "")),
        "note": str(source.get("note", "")),
        "topic": topic,
        "study": experiment.study,
        "words": normalise_text(" ".join(words)),
    }


def listing(names: Sequence[str]) -> str:
    """The start page: the results of the selection."""
    entries = [entry(name) for name in names]
    books = [book for book in catalogue.BOOKS if any(e["book"] == book for e in entries)]
    topics = sorted({e["topic"] for e in entries})
    return (
        environment().get_template("list.html").render(entries=entries, books=books, topics=topics)
    )


def result(names: Sequence[str], name: str, texts: Mapping[str, str], data_dir: str | None) -> str:
    """The page of a result, with the parameter values that the address gives."""
    book = runs.job_factory(name, data_dir).job()
    index = list(names).index(name)
    widgets = make_widgets(book, texts, catalogue.load_experiment(name).body.get("study") or {})
    unknown = sorted(set(texts) - {widget.name for widget in widgets} - set(VIEW_PARAMS))
    return (
        environment()
        .get_template("result.html")
        .render(
            entry=entry(name),
            about=(type(book.study).__doc__ or "").strip(),
            widgets=widgets,
            unknown=unknown,
            blocks=claim_blocks([claim_entry(claim) for claim in book.claims]),
            before=entry(names[index - 1]) if index else None,
            after=entry(names[index + 1]) if index + 1 < len(names) else None,
        )
    )
