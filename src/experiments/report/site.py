"""The static site: from recorded runs only, the same bytes every time, swapped in whole.

It opens from the file system, on a phone and on paper, and needs neither network nor script:

    index.html             scoreboard, what differs, stand-ins, errata, what was not run, provenance
    books/, topics/      a page each, in the books' order
    experiments/           a page a printed result
    experiments.html       all of them, with search and filter
    gallery.html           every figure, by book and topic
    errata.html            the ledger: causes, their places, readings, evidence, an anchor each
    seeds.html             the claims that other seeds do not bear out
    sweeps.html, sweeps/   a page a sweep
    results.json, .csv     one record a claim; documented in fields.html and results.py
    figures/, tables/      to download
    configurations/        the experiments' files as they are today
    search.js              the words of all pages, for the search on each of them

No clock is read: the times shown are those of the runs.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.records.locks import exclusive
from experiments.records.record import Record
from experiments.records.store import RunStore
from experiments.records.tables import as_csv
from experiments.report import (
    beside,
    content,
    pages,
    provenance,
    results,
    search,
    sweeps,
    tracked,
)
from experiments.report.books import Group, groups, parts
from experiments.report.content import Result
from experiments.report.drawings import SHOWN, Drawing, Drawn, Formats, drawn, drawn_sweeps, prune
from experiments.report.ledger import ledger
from experiments.report.scoreboard import claim_records
from experiments.report.sweeps import Swept


def write(
    records: Mapping[str, Record],
    names: Sequence[str],
    outputs: Path,
    *,
    outdated: Iterable[str] = (),
    tell: Callable[[str], None] = lambda line: None,
    formats: Formats = (SHOWN,),
) -> Path:
    """Write outputs/report/ and return its front page.

    `names` are all selected experiments in the books' order, `records` those with a run, `outdated`
    those whose file or code has changed since. What could not be drawn or read is told, and shown.
    `formats` are those of the figures' files, of which pages show the SVG.
    """
    figures = drawn(records, outputs / "report-cache", formats)
    found = content.results(records, names, outputs, figures, outdated)
    for result in found:
        if result.record is not None and result.problem:
            tell(f"{result.name}: no figure: {result.problem}")
    folders = sweeps.folders(outputs)
    printed = beside.printed_values(folders, found, outputs)
    marks = {name: [entry.mark for entry in values] for name, values in printed.items()}
    swept_figures = drawn_sweeps(folders, outputs / "report-cache", marks, formats)
    swept, problems = sweeps.read_all(outputs, swept_figures, printed)
    for line in problems:
        tell(line)
    with exclusive(outputs / ".report.lock"):
        for left in outputs.glob(".report-*"):  # by a writer that was interrupted
            shutil.rmtree(left, ignore_errors=True)
        aside = Path(tempfile.mkdtemp(prefix=".report-", dir=outputs))
        try:
            aside.chmod(0o755)
            _copy_files(found, figures, swept, aside)
            _write_results(records, names, aside)
            _Pages(found, swept, tracked.links(outputs), aside).write()
            _swap(aside, outputs / "report")
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    present = (folder.name for folder in RunStore(outputs).folders())
    prune(outputs / "report-cache", present, [*figures.values(), *swept_figures.values()])
    return outputs / "report" / "index.html"


def _swap(new: Path, place: Path) -> None:
    if place.exists():
        old = Path(tempfile.mkdtemp(prefix=".report-", dir=place.parent))
        place.rename(old / "report")
        new.rename(place)
        shutil.rmtree(old)
    else:
        new.rename(place)


def _copy_files(
    found: Sequence[Result], figures: Mapping[str, Drawn], sweeps: Sequence[Swept], site: Path
) -> None:
    for path in sorted((pages.HERE / "static").iterdir()):
        _copy(path, site / "static" / path.name)
    for result in found:
        if result.record is not None:
            _copy_drawings(figures[result.record.id].folder, result.drawings, site)
        for sheet in result.sheets:
            _text(site / sheet.path, as_csv(sheet.table))
        for _, _, copy in result.sources:
            if copy and result.configuration is not None:
                _copy(result.configuration, site / copy)
    for sweep in sweeps:
        for name in sweep.files:
            _copy(sweep.folder / name, site / sweep.place / name)
        if sweep.figures is not None:
            _copy_drawings(sweep.figures.folder, sweep.drawings, site)


def _copy_drawings(source: Path, drawings: Sequence[Drawing], site: Path) -> None:
    for drawing in drawings:
        for suffix in drawing.formats:
            _copy(source / f"{drawing.name}.{suffix}", site / f"{drawing.path}.{suffix}")


def _write_results(records: Mapping[str, Record], names: Sequence[str], site: Path) -> None:
    claims = claim_records({name: records[name] for name in names if name in records})
    _text(site / "results.json", results.as_json(claims))
    _text(site / "results.csv", results.as_csv(claims))


class _Pages:
    """All pages of a site; what every one of them needs is put together once."""

    def __init__(
        self, found: list[Result], sweeps: list[Swept], links: dict[str, str], site: Path
    ) -> None:
        self.found, self.sweeps, self.site = found, sweeps, site
        self.books, self.topics = groups(found)
        self.templates = pages.environment()
        self.templates.globals.update(
            books=self.books,
            topics=self.topics,
            sweeps=sweeps,
            links=links,
            book_urls={group.name: group.url for group in self.books},
            topic_urls={group.name: group.url for group in self.topics},
            result_urls={result.name: result.url for result in found},
        )

    def write(self) -> None:
        claims = [(result, claim) for result in self.found for claim in result.claims]
        entries = ledger(self.found)
        repeated = [pair for pair in claims if pair[1]["seeds"]]
        unsteady = [pair for pair in repeated if pair[1]["seeds"][0] < pair[1]["seeds"][1]]
        unsteady.sort(key=lambda pair: pair[1]["seeds"][0] / pair[1]["seeds"][1])
        self._page(
            "index.html",
            results=self.found,
            total=Group("all", "all", "", self.found, [c for r in self.found for c in r.claims]),
            surprises=[pair for pair in claims if not pair[1]["as_expected"]],
            differing=[pair for pair in claims if pair[1]["verdict"] == "differs"],
            errata=entries,
            places=sum(len(entry.places) for entry in entries),
            stand_ins=[result for result in self.found if result.grade == "stand-in"],
            missing=[result for result in self.found if result.record is None],
            outdated=[result for result in self.found if result.outdated],
            facts=provenance.summary(self.found),
            slowest=provenance.slowest(self.found),
        )
        self._page("experiments.html", results=self.found)
        self._page("gallery.html", figures=sum(len(result.drawings) for result in self.found))
        self._page("errata.html", entries=entries)
        self._page("seeds.html", repeated=repeated, unsteady=unsteady)
        self._page("fields.html", fields=results.FIELDS)
        self._page("sweeps.html")
        for kind, listed in (("book", self.books), ("topic", self.topics)):
            for group in listed:
                headed = parts(group, by_book=kind == "topic")
                self._page("group.html", group.url, kind=kind, group=group, parts=headed)
        for group in self.books:
            around = [None, *group.results, None]
            for before, result, after in zip(around, group.results, around[2:], strict=False):
                self._experiment(result, before, after)
        for sweep in self.sweeps:
            self._page("sweep.html", sweep.url, sweep=sweep)
        pages_of = [*self.books, *self.topics]
        _text(self.site / search.FILE, search.index(self.found, entries, pages_of, self.sweeps))

    def _experiment(self, result: Result, before: Result | None, after: Result | None) -> None:
        self._page(
            "experiment.html",
            result.url,
            result=result,
            before=before,
            after=after,
            knobs=content.knobs(result.record) if result.record is not None else [],
            swept=[
                (sweep, [entry for entry in sweep.printed if entry.result is result])
                for sweep in self.sweeps
                if sweep.experiment == result.name or sweep.plan.study == result.study
            ],
        )

    def _page(self, template: str, url: str | None = None, **values: Any) -> None:
        url = url or template
        root = "../" * url.count("/")
        html = self.templates.get_template(template).render(root=root, here=url, **values)
        _text(self.site / url, html + "\n")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
