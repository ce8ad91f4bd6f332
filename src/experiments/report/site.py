"""Writes the static site from recorded runs.

The site opens from the file system and needs neither a network nor JavaScript:

    index.html             scoreboard, failed claims, errata, stand-in data, provenance
    books/, topics/        one page per book and topic
    experiments/           one page per result
    experiments.html       all results, with search and filter
    gallery.html           all figures, by book and topic
    errata.html            the errata ledger: one entry per cause, with its places
    equations-<book>.html  the printed equations of a book; equations/ has their source files
    seeds.html             claims whose verdict depends on the seed
    sweeps.html, sweeps/   one page per sweep
    results.json, .csv     one record per claim; fields.html and export.py document the fields
    figures/, tables/      files to download
    configurations/        copies of the experiment files
    search.js              the search index of all pages

The same runs give the same bytes: no clock is read, and the times shown are those of the runs. A
new site replaces the old one as a complete folder.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bythebook.experiments.report import (
    export,
    mlflow_links,
    pages,
    printed_overlays,
    provenance,
    result_pages,
    search,
    sweeps,
)
from bythebook.experiments.report.equations import equation_pages, source_files
from bythebook.experiments.report.errata import collect_errata
from bythebook.experiments.report.figure_cache import (
    PAGE_FORMAT,
    CachedFigures,
    FigureFile,
    Formats,
    prune_cache,
    run_figures,
    sweep_figures,
)
from bythebook.experiments.report.groups import ResultGroup, group_results, sections
from bythebook.experiments.report.result_pages import ResultPage
from bythebook.experiments.report.scoreboard import claim_records
from bythebook.experiments.report.sweeps import SweepPage
from bythebook.experiments.store.locking import exclusive_lock
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.store.tables import to_csv


def write_site(
    records: Mapping[str, Record],
    names: Sequence[str],
    outputs: Path,
    *,
    outdated: Iterable[str] = (),
    tell: Callable[[str], None] = lambda line: None,
    formats: Formats = (PAGE_FORMAT,),
) -> Path:
    """Write outputs/report/ and return the path of its front page.

    `names` are the selected results in the order of the books, `records` those with a run, and
    `outdated` those whose file or code has changed since their run. `tell` receives a line for each
    figure or sweep that could not be drawn or read; the pages show it too. `formats` are those of
    the figure files, of which the pages show the SVG.
    """
    figures = run_figures(records, outputs / "report-cache", formats)
    results = result_pages.result_pages(records, names, outputs, figures, outdated)
    for result in results:
        if result.record is not None and result.problem:
            tell(f"{result.name}: no figure: {result.problem}")
    folders = sweeps.folders(outputs)
    printed = printed_overlays.printed_overlays(folders, results, outputs)
    marks = {name: [entry.reference_value for entry in values] for name, values in printed.items()}
    swept_figures = sweep_figures(folders, outputs / "report-cache", marks, formats)
    swept, problems = sweeps.read_all(outputs, swept_figures, printed)
    for line in problems:
        tell(line)
    with exclusive_lock(outputs / ".report.lock"):
        for left in outputs.glob(".report-*"):  # the remains of an interrupted writer
            shutil.rmtree(left, ignore_errors=True)
        temporary = Path(tempfile.mkdtemp(prefix=".report-", dir=outputs))
        try:
            temporary.chmod(0o755)
            _copy_files(results, figures, swept, temporary)
            _write_results(records, names, temporary)
            _Pages(results, swept, mlflow_links.mlflow_links(outputs), temporary).write()
            _replace_dir(temporary, outputs / "report")
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    present = (folder.name for folder in RunStore(outputs).folders())
    prune_cache(outputs / "report-cache", present, [*figures.values(), *swept_figures.values()])
    return outputs / "report" / "index.html"


def _replace_dir(new: Path, target: Path) -> None:
    if target.exists():
        old = Path(tempfile.mkdtemp(prefix=".report-", dir=target.parent))
        target.rename(old / "report")
        new.rename(target)
        shutil.rmtree(old)
    else:
        new.rename(target)


def _copy_files(
    results: Sequence[ResultPage],
    figures: Mapping[str, CachedFigures],
    sweeps: Sequence[SweepPage],
    site: Path,
) -> None:
    for path in sorted((pages.TEMPLATE_DIR / "static").iterdir()):
        _copy(path, site / "static" / path.name)
    for result in results:
        if result.record is not None:
            _copy_drawings(figures[result.record.id].folder, result.figures, site)
        for page in result.tables:
            _write_text(site / page.path, to_csv(page.table))
        for _, _, copy in result.sources:
            if copy and result.configuration is not None:
                _copy(result.configuration, site / copy)
    for sweep in sweeps:
        for name in sweep.files:
            _copy(sweep.folder / name, site / sweep.path / name)
        if sweep.figures is not None:
            _copy_drawings(sweep.figures.folder, sweep.drawings, site)


def _copy_drawings(source: Path, drawings: Sequence[FigureFile], site: Path) -> None:
    for drawing in drawings:
        for suffix in drawing.formats:
            _copy(source / f"{drawing.name}.{suffix}", site / f"{drawing.path}.{suffix}")


def _write_results(records: Mapping[str, Record], names: Sequence[str], site: Path) -> None:
    claims = claim_records({name: records[name] for name in names if name in records})
    _write_text(site / "results.json", export.to_json(claims))
    _write_text(site / "results.csv", export.to_csv(claims))


class _Pages:
    """Renders all pages of a site with common template values."""

    def __init__(
        self, results: list[ResultPage], sweeps: list[SweepPage], links: dict[str, str], site: Path
    ) -> None:
        self.results, self.sweeps, self.site = results, sweeps, site
        self.books, self.topics = group_results(results)
        self.equations = equation_pages(results)
        self.templates = pages.environment()
        self.templates.globals.update(
            books=self.books,
            topics=self.topics,
            sweeps=sweeps,
            equations=self.equations,
            links=links,
            book_urls={group.name: group.url for group in self.books},
            topic_urls={group.name: group.url for group in self.topics},
            result_urls={result.name: result.url for result in results},
        )

    def write(self) -> None:
        claims = [(result, claim) for result in self.results for claim in result.claims]
        entries = collect_errata(self.results)
        repeated = [pair for pair in claims if pair[1]["seeds"]]
        seed_dependent = [pair for pair in repeated if pair[1]["seeds"][0] < pair[1]["seeds"][1]]
        seed_dependent.sort(key=lambda pair: pair[1]["seeds"][0] / pair[1]["seeds"][1])
        self._page(
            "index.html",
            results=self.results,
            total=ResultGroup(
                "all", "all", "", self.results, [c for r in self.results for c in r.claims]
            ),
            unexpected=[pair for pair in claims if not pair[1]["as_expected"]],
            differing=[pair for pair in claims if pair[1]["verdict"] == "differs"],
            errata=entries,
            places=sum(len(entry.places) for entry in entries),
            stand_ins=[result for result in self.results if result.grade == "stand-in"],
            missing=[result for result in self.results if result.record is None],
            outdated=[result for result in self.results if result.outdated],
            facts=provenance.summarise_provenance(self.results),
            slowest=provenance.slowest(self.results),
        )
        self._page("experiments.html", results=self.results)
        self._page("gallery.html", figures=sum(len(result.figures) for result in self.results))
        self._page("errata.html", entries=entries)
        for page in self.equations:
            self._page("equations.html", page.url, page=page)
        for name, path in source_files(self.equations).items():
            _copy(path, self.site / name)
        self._page("seeds.html", repeated=repeated, seed_dependent=seed_dependent)
        self._page("fields.html", fields=export.FIELD_DOCS)
        self._page("sweeps.html")
        for kind, listed in (("book", self.books), ("topic", self.topics)):
            for group in listed:
                parts = sections(group, by_book=kind == "topic")
                self._page("group.html", group.url, kind=kind, group=group, parts=parts)
        for group in self.books:
            around = [None, *group.results, None]
            for before, result, after in zip(around, group.results, around[2:], strict=False):
                self._experiment(result, before, after)
        for sweep in self.sweeps:
            self._page("sweep.html", sweep.url, sweep=sweep)
        groups = [*self.books, *self.topics]
        index = search.search_index(self.results, entries, groups, self.sweeps)
        _write_text(self.site / search.FILE, index)

    def _experiment(
        self, result: ResultPage, before: ResultPage | None, after: ResultPage | None
    ) -> None:
        self._page(
            "experiment.html",
            result.url,
            result=result,
            before=before,
            after=after,
            parameters=result_pages.parameter_rows(result.record) if result.record else [],
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
        _write_text(self.site / url, html + "\n")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
