"""What the pages show: recorded runs turned into plain values, nothing computed anew."""

import dataclasses
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.configuration import catalogue
from experiments.configuration.catalogue import BOOKS
from experiments.contract import views
from experiments.contract.errors import BadInput
from experiments.contract.knobs import allowed
from experiments.contract.places import topic
from experiments.contract.slugs import slug, slugs
from experiments.contract.study import studies
from experiments.contract.verdicts import ORIGINS, STANDINGS, tallied
from experiments.contract.views import Table
from experiments.records.reading import read
from experiments.records.record import Record
from experiments.report.drawings import Drawing, Drawn, shown
from experiments.report.scoreboard import claim_records
from experiments.report.spelling import humanised
from experiments.report.tables import Sheet, sheet
from experiments.sweeping import robustness

NOT_RUN = "not run"


@dataclass(frozen=True)
class Result:
    """One printed result: its place in the book and, where there is one, its run."""

    name: str
    url: str
    source: dict[str, Any]
    record: Record | None
    claims: list[dict[str, Any]] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)
    sheets: list[Sheet] = field(default_factory=list)
    problem: str = ""  # why there is no run, or no figure
    outdated: bool = False  # the file or the code has changed since the run

    @property
    def book(self) -> str:
        return str(self.source.get("book") or self.name.partition("/")[0])

    @property
    def study(self) -> str:
        if self.record is not None:
            return self.record.study
        return catalogue.read(self.name).study if self.name in catalogue.names() else ""

    @property
    def topic(self) -> str:
        return topic(self.study) or "none"

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
    def place(self) -> str:
        """Where in the book, in words."""
        return f"section {self.section}" if self.section[:1].isdigit() else self.section

    @property
    def note(self) -> str:
        return str(self.source.get("note") or "")

    @property
    def grade(self) -> str:
        return str(self.record["grade"]) if self.record else ""

    @property
    def tallies(self) -> dict[str, Counter[str]]:
        return by_origin(self.claims)

    @property
    def verdicts(self) -> list[str]:
        """The verdicts among the claims, for the filter."""
        found = {claim["standing"] for claim in self.claims}
        return [name for name in STANDINGS if name in found] if self.record else [NOT_RUN]

    @property
    def words(self) -> str:
        """Everything a search should find."""
        study = self.study
        said = [f"{claim['claim']} {claim['expression']}" for claim in self.claims]
        place = [self.name, self.book, BOOKS.get(self.book, ""), self.section, self.item]
        about = [self.title, self.note, self.topic, humanised(self.topic)]
        return " ".join([*place, *about, study, humanised(study), *said]).lower()

    @property
    def stand_ins(self) -> list[dict[str, str]]:
        """The data sets that take the place of ones that could not be had."""
        data = self.record["provenance"]["data"] if self.record else {}
        found = ({"name": name, **entry} for name, entry in data.items())
        return [entry for entry in found if entry["grade"] == "stand-in"]

    @property
    def command(self) -> str:
        return self.shell("run")

    def shell(self, verb: str) -> str:
        """A command about this result, to be typed."""
        return f"bythebook {verb} {shlex.quote(self.name)}"

    @property
    def configuration(self) -> Path | None:
        """The file that states it, where there is one."""
        path = catalogue.ROOT / "experiment" / f"{self.name}.yaml"
        return path if path.is_file() else None

    @property
    def sources(self) -> list[tuple[str, str, str]]:
        """What it is made of: its name, its path in the repository, its copy on the site."""
        found = []
        if self.configuration is not None:
            copy = (
                self.url.replace("experiments/", "configurations/", 1).removesuffix(".html")
                + ".yaml"
            )
            found.append(("configuration", f"conf/experiment/{self.name}.yaml", copy))
        if self.topic != "none":
            place = f"{self.topic}/{self.study}.py"
            found.append(("study", f"src/experiments/studies/{place}", ""))
            found.append(("figure", f"src/experiments/figures/{place}", ""))
        return found


def results(
    records: Mapping[str, Record],
    names: Sequence[str],
    outputs: Path,
    drawn: Mapping[str, Drawn],
    outdated: Iterable[str],
) -> list[Result]:
    """Every selected experiment in the books' order, run or not."""
    old = set(outdated)
    found = []
    for name, place in zip(names, slugs(names), strict=True):
        url = f"experiments/{place}.html"
        record = records.get(name)
        if record is None:
            problem = _failure(outputs / "runs" / name)
            found.append(Result(name, url, _source(name), None, problem=problem))
            continue
        source = dataclasses.asdict(record.source)
        figures = drawn[record.id]
        title = ": ".join(part for part in (source["item"], source["title"]) if part) or place
        drawings = shown(figures, f"figures/{place}", title)
        sheets = _sheets(record, place)
        claims = anchored(name, record)
        counts = robustness.remembered(outputs, record)
        for claim in claims:
            claim["seeds"] = seeds = counts.get(claim["claim"])
            claim["robust"] = robustness.in_words(seeds) if seeds else ""
        found.append(
            Result(
                name, url, source, record, claims, drawings, sheets, figures.problem, name in old
            )
        )
    # The names are in the order of the numbers in them; the section says where the book has it.
    books = list(dict.fromkeys(result.book for result in found))
    return sorted(found, key=lambda r: (books.index(r.book), _reading_order(r.section)))


def _reading_order(section: str) -> tuple[bool, list[int]]:
    """Sections by their numbers, appendices and what has no section behind them."""
    return (not section[:1].isdigit(), [int(number) for number in re.findall(r"\d+", section)])


def anchored(name: str, record: Record) -> list[dict[str, Any]]:
    """The claims of a record, each with an anchor that stays the same while its expression does."""
    claims = claim_records({name: record})
    anchors = slugs(claim["expression"] for claim in claims)
    place = slug(name.replace("/", "-"))
    found = []
    for claim, anchor in zip(claims, anchors, strict=True):
        entry = f"{place}-{anchor}"
        cause = claim["cause"] and slug(f"{claim['book']}-{claim['cause']}")
        found.append({**claim, "anchor": anchor, "entry": entry, "ledger": cause or entry})
    return found


def _source(name: str) -> dict[str, Any]:
    try:
        return catalogue.read(name).source
    except BadInput:
        return {}


def _failure(place: Path) -> str:
    """Why none of these runs finished: the error of the last one."""
    found = []
    for path in place.glob("[!.]*/run.json"):
        with suppress(BadInput):  # torn by a power cut: it says nothing
            found.append(read(path.parent))
    failed = [record for record in found if not record.finished]
    if not failed:
        return ""
    last = max(failed, key=lambda record: (record["provenance"]["started"], record.id))
    return f"the run failed: {last['error']['type']}: {last['error']['message']}"


def _sheets(record: Record, place: str) -> list[Sheet]:
    tables: dict[str, Table] = views.tables(record.outcome)
    files = slugs(tables)
    return [
        sheet(name, f"tables/{place}/{file}.csv", table)
        for (name, table), file in zip(tables.items(), files, strict=True)
    ]


def knobs(record: Record) -> list[dict[str, Any]]:
    """The knobs of a run with what the study says of them."""
    study = studies().get(record["science"]["study"])
    known = {entry.name: entry for entry in dataclasses.fields(study)} if study is not None else {}
    return [
        {
            "name": name,
            "value": value,
            "type": allowed(known[name]) if name in known else "",
            "doc": known[name].metadata.get("doc", "") if name in known else "",
        }
        for name, value in record["science"]["knobs"].items()
    ]


def by_origin(claims: Iterable[Mapping[str, Any]]) -> dict[str, Counter[str]]:
    """Verdicts by origin: what the texts say and what we check ourselves are never added up."""
    stated = list(claims)
    return {name: tallied(claim for claim in stated if claim["origin"] == name) for name in ORIGINS}
