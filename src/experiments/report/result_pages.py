"""The content of the result pages, read from recorded runs; no study is run."""

import dataclasses
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.catalogue import BOOKS
from bythebook.experiments.core import summaries
from bythebook.experiments.core.claim_blocks import Block, claim_blocks
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.knobs import describe_constraints
from bythebook.experiments.core.registry import topic_of
from bythebook.experiments.core.slugs import slugify, unique_slugs
from bythebook.experiments.core.study import studies
from bythebook.experiments.core.summaries import Table
from bythebook.experiments.core.verdicts import CATEGORIES, ORIGINS, count_verdicts
from bythebook.experiments.report.display_names import display_name
from bythebook.experiments.report.figure_cache import CachedFigures, FigureFile, figure_files
from bythebook.experiments.report.scoreboard import claim_records
from bythebook.experiments.report.tables import TablePage, table_page
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.sweeps import robustness

NOT_RUN = "not run"


@dataclass(frozen=True)
class ResultPage:
    """A printed result: its source in the book, and its recorded run if it has one."""

    name: str
    url: str
    source: dict[str, Any]
    record: Record | None
    claims: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)  # of the same claims, as the page shows them
    figures: list[FigureFile] = field(default_factory=list)
    tables: list[TablePage] = field(default_factory=list)
    problem: str = ""  # the reason why there is no run or no figure
    outdated: bool = False  # the file or the code has changed since the run

    @property
    def book(self) -> str:
        return str(self.source.get("book") or self.name.partition("/")[0])

    @property
    def study(self) -> str:
        if self.record is not None:
            return self.record.study
        return (
            catalogue.load_experiment(self.name).study
            if self.name in catalogue.experiment_names()
            else ""
        )

    @property
    def topic(self) -> str:
        return topic_of(self.study) or "none"

    @property
    def item(self) -> str:
        return str(self.source.get("item") or self.name)

    @property
    def title(self) -> str:
        return str(self.source.get("title") or "")

    @property
    def section(self) -> str:
        return str(self.source.get("section") or "")

    @property
    def location(self) -> str:
        """The section of the book as text."""
        return f"section {self.section}" if self.section[:1].isdigit() else self.section

    @property
    def note(self) -> str:
        return str(self.source.get("note") or "")

    @property
    def grade(self) -> str:
        return self.record.grade if self.record else ""

    @property
    def verdict_counts(self) -> dict[str, Counter[str]]:
        return count_by_origin(self.claims)

    @property
    def verdicts(self) -> list[str]:
        """The categories of the claims, for the filter."""
        present = {claim["standing"] for claim in self.claims}
        return [name for name in CATEGORIES if name in present] if self.record else [NOT_RUN]

    @property
    def search_text(self) -> str:
        """All words under which a search finds the result."""
        study = self.study
        claims = [f"{claim['claim']} {claim['expression']}" for claim in self.claims]
        source = [self.name, self.book, BOOKS.get(self.book, ""), self.section, self.item]
        about = [self.title, self.note, self.topic, display_name(self.topic)]
        return " ".join([*source, *about, study, display_name(study), *claims]).lower()

    @property
    def synthetic_data(self) -> list[dict[str, str]]:
        """The data sets that we generated because the original ones are not available."""
        data = self.record["provenance"]["data"] if self.record else {}
        entries = ({"name": name, **entry} for name, entry in data.items())
        return [entry for entry in entries if entry["grade"] == "stand-in"]

    @property
    def command(self) -> str:
        return self.command_line("run")

    def command_line(self, command: str) -> str:
        """The command line of a command for this result."""
        return f"bythebook {command} {shlex.quote(self.name)}"

    @property
    def configuration(self) -> Path | None:
        """The experiment file of the result, if there is one."""
        path = catalogue.CONF_DIR / "experiment" / f"{self.name}.yaml"
        return path if path.is_file() else None

    @property
    def sources(self) -> list[tuple[str, str, str]]:
        """The source files: kind, path in the repository, path of the copy on the site."""
        files = []
        if self.configuration is not None:
            copy = (
                self.url.replace("experiments/", "configurations/", 1).removesuffix(".html")
                + ".yaml"
            )
            files.append(("configuration", f"conf/experiment/{self.name}.yaml", copy))
        if self.topic != "none":
            module = f"{self.topic}/{self.study}.py"
            files.append(("study", f"src/experiments/studies/{module}", ""))
            files.append(("figure", f"src/experiments/figures/{module}", ""))
        return files


def result_pages(
    records: Mapping[str, Record],
    names: Sequence[str],
    outputs: Path,
    drawn: Mapping[str, CachedFigures],
    outdated: Iterable[str],
) -> list[ResultPage]:
    """The selected results in the order of the books, with or without a recorded run."""
    old = set(outdated)
    results = []
    for name, slug in zip(names, unique_slugs(names), strict=True):
        url = f"experiments/{slug}.html"
        record = records.get(name)
        if record is None:
            problem = _last_error(outputs / "runs" / name)
            results.append(ResultPage(name, url, _source(name), None, problem=problem))
            continue
        source = dataclasses.asdict(record.source)
        figures = drawn[record.id]
        title = ": ".join(part for part in (source["item"], source["title"]) if part) or slug
        drawings = figure_files(figures, f"figures/{slug}", title)
        tables = _table_pages(record, slug)
        claims = claims_with_anchors(name, record)
        counts = robustness.load_counts(outputs, record)
        for claim, key in zip(claims, robustness.claim_keys(claims), strict=True):
            claim["seeds"] = seeds = counts.get(key)
            claim["robust"] = robustness.format_counts(seeds) if seeds else ""
        blocks = claim_blocks(record.verdicts, [claim["seeds"] for claim in claims])
        results.append(
            ResultPage(
                *(name, url, source, record, claims, blocks, drawings, tables),
                problem=figures.problem,
                outdated=name in old,
            )
        )
    # `names` are sorted by the numbers in them; the pages follow the sections of the book.
    books = list(dict.fromkeys(result.book for result in results))
    return sorted(results, key=lambda r: (books.index(r.book), _reading_order(r.section)))


def _reading_order(section: str) -> tuple[bool, list[int]]:
    """Sort key: numbered sections first, then appendices and results without a section."""
    return (not section[:1].isdigit(), [int(number) for number in re.findall(r"\d+", section)])


def claims_with_anchors(name: str, record: Record) -> list[dict[str, Any]]:
    """The claims of a record with their anchors, which depend on the expressions only."""
    claims = claim_records({name: record})
    anchors = unique_slugs(claim["expression"] for claim in claims)
    prefix = slugify(name.replace("/", "-"))
    anchored = []
    for claim, anchor in zip(claims, anchors, strict=True):
        entry = f"{prefix}-{anchor}"
        cause = claim["cause"] and slugify(f"{claim['book']}-{claim['cause']}")
        anchored.append({**claim, "anchor": anchor, "entry": entry, "ledger": cause or entry})
    return anchored


def _source(name: str) -> dict[str, Any]:
    try:
        return catalogue.load_experiment(name).source
    except InputError:
        return {}


def _last_error(folder: Path) -> str:
    """The error of the last failed run in a folder; empty if no run failed."""
    records = []
    for path in folder.glob("[!.]*/run.json"):
        with suppress(InputError):  # a record that a power cut truncated
            records.append(read_run(path.parent))
    failed = [record for record in records if not record.finished]
    if not failed:
        return ""
    last = max(failed, key=lambda record: (record["provenance"]["started"], record.id))
    return f"the run failed: {last['error']['type']}: {last['error']['message']}"


def _table_pages(record: Record, slug: str) -> list[TablePage]:
    tables: dict[str, Table] = summaries.result_tables(record.outcome)
    files = unique_slugs(tables)
    return [
        table_page(name, f"tables/{slug}/{file}.csv", table)
        for (name, table), file in zip(tables.items(), files, strict=True)
    ]


def parameter_rows(record: Record) -> list[dict[str, Any]]:
    """The parameters of a run with their types and descriptions."""
    study = studies().get(record["science"]["study"])
    known = {entry.name: entry for entry in dataclasses.fields(study)} if study is not None else {}
    return [
        {
            "name": name,
            "value": value,
            "type": describe_constraints(known[name]) if name in known else "",
            "doc": known[name].metadata.get("doc", "") if name in known else "",
        }
        for name, value in record["science"]["knobs"].items()
    ]


def count_by_origin(claims: Iterable[Mapping[str, Any]]) -> dict[str, Counter[str]]:
    """Verdict counts by origin; printed claims and derived checks are never added up."""
    listed = list(claims)
    return {
        name: count_verdicts(claim for claim in listed if claim["origin"] == name)
        for name in ORIGINS
    }
