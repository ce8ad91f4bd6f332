"""The ledger of the printed equations: one page a book, with the gaps of recorded runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bythebook.experiments.config.catalogue import BOOKS
from bythebook.experiments.core.equations import (
    FOLDER,
    Equation,
    book_equations,
    books,
    describe_gap,
)
from bythebook.experiments.core.slugs import slugify
from bythebook.experiments.core.verdicts import EQUATION_CATEGORIES
from bythebook.experiments.report.result_pages import ResultPage

NOT_RUN = "not run"


@dataclass
class EquationEntry:
    """An equation, the gaps of a recorded run, and the results that claim it."""

    equation: Equation
    gaps: Mapping[str, Any] | None  # as they are recorded; None without a run
    results: list[ResultPage] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        return slugify(self.equation.function)

    @property
    def chapter(self) -> str:
        return self.equation.section.partition(".")[0]

    @property
    def source_path(self) -> str:
        """The copy of the source file in the site."""
        return f"equations/{self.equation.book}/{self.equation.module}.py"

    @property
    def category(self) -> str:
        """The category of its verdict."""
        if self.gaps is None:
            return NOT_RUN
        verdict = self.equation.verdict(self.gaps["gap"], self.gaps["corrected_gap"])
        return EQUATION_CATEGORIES.get(verdict, verdict)

    @property
    def gap(self) -> str:
        """The gap of the printed form as text."""
        if self.gaps is None:
            return "no recorded run evaluates it"
        return f"{describe_gap(self.gaps['gap'])} in {self.gaps['cases']} random cases"

    @property
    def corrected_gap(self) -> str:
        """The gap of the corrected form as text."""
        gap = None if self.gaps is None else self.gaps["corrected_gap"]
        return "" if gap is None else describe_gap(gap)


@dataclass(frozen=True)
class EquationPage:
    """The page of a book."""

    book: str
    entries: list[EquationEntry]

    @property
    def url(self) -> str:
        return f"equations-{self.book}.html"

    @property
    def chapters(self) -> list[str]:
        return sorted({entry.chapter for entry in self.entries}, key=int)


def equation_pages(results: Sequence[ResultPage]) -> list[EquationPage]:
    """The pages of the books whose equations the results claim."""
    gaps: dict[str, Mapping[str, Any]] = {}
    claimed: dict[str, list[ResultPage]] = {}
    for result in results:
        for claim in result.claims:
            if claim["kind"] == "equation":
                own = claimed.setdefault(claim["expression"], [])
                if result not in own:
                    own.append(result)
        if result.record is not None:
            gaps |= result.record.equations
    selected = {result.book for result in results}
    return [
        EquationPage(
            book,
            [
                EquationEntry(entry, gaps.get(name), claimed.get(name, []))
                for name, entry in book_equations(book).items()
            ],
        )
        for book in BOOKS
        if book in books() and book in selected
    ]


def source_files(pages: Sequence[EquationPage]) -> dict[str, Path]:
    """The source files of the equations, by their paths in the site."""
    return {
        f"equations/{path.relative_to(FOLDER).as_posix()}": path
        for path in sorted({e.equation.path for page in pages for e in page.entries})
    }
