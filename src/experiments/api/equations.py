"""`equations`: the printed equations with their gaps, evaluated when a table is shown."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from bythebook.experiments.api import html
from bythebook.experiments.config.catalogue import equation_claims
from bythebook.experiments.core.equations import (
    CASES,
    Equation,
    describe_gap,
    evaluate,
    select_equations,
)
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.latex_text import latex_to_text
from bythebook.experiments.core.verdicts import EQUATION_CATEGORIES, ERRATUM
from bythebook.experiments.execution.worker import single_threaded

if TYPE_CHECKING:
    import pandas as pd


def equation_rows(entries: list[Equation], cases: int = CASES) -> list[dict[str, Any]]:
    """One row per equation: its place, its verdict and gaps, and the results that claim it."""
    claims, rows = equation_claims(), []
    with single_threaded():
        for entry in entries:
            found = evaluate(entry, cases)
            rows.append(
                {
                    "name": entry.name,
                    "number": entry.number,
                    "book": entry.book,
                    "section": entry.section,
                    "says": entry.says,
                    "verdict": entry.verdict(found.gap, found.corrected_gap),
                    "expected": entry.expected,
                    "gap": found.gap,
                    "corrected_gap": found.corrected_gap,
                    "within": entry.within,
                    "cases": found.cases,
                    "reason": found.reason,
                    "results": claims.get(entry.name, []),
                    "formula": latex_to_text(entry.latex),
                    "latex": entry.latex,
                    "corrected": entry.corrected,
                    "cause": entry.cause,
                }
            )
    return rows


class Equations:
    """Printed equations, evaluated now in random cases: `.frame`, and a table in a notebook.

    `equations("prml/10.7")` selects by book, section, number or name; `equations(errata=True)`
    selects the misprinted ones.
    """

    def __init__(self, words: tuple[str, ...] = (), *, errata: bool = False) -> None:
        for word in words:
            if not isinstance(word, str):
                raise InputError(f"{word!r} is not a selection; allowed: text such as 'prml/10.7'")
        self._words, self._errata = list(words), errata

    @cached_property
    def entries(self) -> list[Equation]:
        """The selected equations."""
        chosen = select_equations(self._words)
        return [entry for entry in chosen if not self._errata or entry.expected == ERRATUM]

    def __call__(self, *words: str, errata: bool = False) -> "Equations":
        return Equations(words, errata=errata)

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of `frame`; the first access evaluates the equations."""
        return equation_rows(self.entries)

    @property
    def frame(self) -> "pd.DataFrame":
        """One row per equation."""
        import pandas as pd

        return pd.DataFrame(self.rows)

    def __repr__(self) -> str:
        return "\n".join(
            f"{row['name']} ({row['number']}): {row['verdict']}, {describe_gap(row['gap'])}"
            for row in self.rows
        )

    def _repr_html_(self) -> str:
        columns = ["number", "equation", "formula", "verdict", "gap", "claimed by"]
        lines = [
            [
                *(row["number"], row["says"], row["formula"]),
                html.verdict_badge(
                    row["verdict"], category=EQUATION_CATEGORIES.get(row["verdict"], "")
                ),
                describe_gap(row["gap"]),
                ", ".join(row["results"]),
            ]
            for row in self.rows
        ]
        return html.vertical(html.bold(f"{len(self)} equations"), html.table(columns, lines))


equations = Equations()
