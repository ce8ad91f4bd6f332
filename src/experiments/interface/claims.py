"""`reproduce` and `results`: what became of the books' claims, run now or looked up."""

import argparse
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.commands import performing, selecting
from experiments.commands.runs import selection
from experiments.configuration.build import experiment_job
from experiments.contract.errors import BadInput
from experiments.interface import given, html, places
from experiments.records.last_verdicts import last_verdicts
from experiments.records.listing import FACTS, Listing
from experiments.records.record import Record
from experiments.records.selected import Selected
from experiments.records.store import RunStore
from experiments.report import scoreboard
from experiments.report.results import FIELDS
from experiments.running.launchers import Processes

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 60  # claims that a page shows


def reproduce(
    *selection: str,
    search: str | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    outputs: str | Path | None = None,
    data_dir: str | Path | None = None,
    track: bool | str = True,
    tags: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> "Claims":
    """Run a selection as the books have it, and judge every claim.

    A selection is what the commands take: `fcml`, `fcml/1`, `fcml/fig-1.15`, `fcml/fig-1.*`,
    `study:ridge_path`, `topic:chains`, `verdict:erratum`; several add up, none is everything.
    `jobs` are processes (default: a process a core); the other keywords are those of `sweep`.
    """
    names = _names(selection, search, places.folder(outputs))
    workers = os.cpu_count() or 1 if jobs is None else jobs
    if type(workers) is not int or workers < 1:
        raise BadInput(f"jobs={jobs!r} is not allowed; allowed: int, >= 1")
    data, own_tags = given.originals(data_dir), places.checked_tags(tags)
    todo = [experiment_job(name, data) for name in names]
    folder = places.to_write(outputs)
    tracker = places.tracker(track, folder)
    found: dict[int, Record] = {}
    for done in performing.selected(
        todo, folder, tracker, Processes(workers), own_tags=own_tags, fresh=fresh
    ):
        found[done.index] = done.record
        if progress is not None:
            progress(len(found), len(todo))
    records = {name: found[index] for index, name in enumerate(names)}
    last_verdicts(folder, records)  # a list of results knows them from now on
    return Claims(records, folder)


def results(
    *selection: str, search: str | None = None, outputs: str | Path | None = None
) -> "Claims":
    """What is recorded of a selection, and computes nothing: the newest run of every result.

    `.runs` are all recorded runs of it, with other knobs too; there `study:<name>` and
    `sweep:<id>` select runs that no book has.
    """
    folder = places.folder(outputs)
    words = [word for word in _words(selection) if not word.startswith("sweep:")]
    names = _names(words, search, folder) if words or not selection else []
    store = RunStore(folder)
    records = {name: record for name in names if (record := store.latest(name)) is not None}
    options = argparse.Namespace(selection=list(selection), search=search)
    return Claims(records, folder, [n for n in names if n not in records], options)


def _words(selection: tuple[str, ...] | list[str]) -> list[str]:
    for word in selection:
        if not isinstance(word, str):
            raise BadInput(f"{word!r} is not a selection; allowed: text such as 'fcml/1'")
    return list(selection)


def _names(selection: tuple[str, ...] | list[str], search: str | None, folder: Path) -> list[str]:
    options = argparse.Namespace(selection=_words(selection), search=search)
    return selecting.results(options, folder)


class Claims:
    """The claims of some results with their verdicts, and their score."""

    def __init__(
        self,
        records: Mapping[str, Record],
        outputs: Path,
        missing: list[str] | None = None,
        selected: argparse.Namespace | None = None,
    ) -> None:
        self.records = dict(records)  # by result
        self.outputs = outputs
        self.missing = missing or []  # results without a recorded run
        self._selected = selected

    @cached_property
    def _rows(self) -> scoreboard.Claims:
        return scoreboard.claim_records(self.records)

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """A row a claim, with the fields of results.json."""
        return _frame(self._rows)

    @cached_property
    def surprises(self) -> "pd.DataFrame":
        """The claims that came out otherwise than their files expect."""
        return _frame(scoreboard.surprises(self._rows))

    @property
    def failed(self) -> dict[str, str]:
        """What went wrong, for each run that failed."""
        return {
            name: f"{record['error']['type']}: {record['error']['message']}"
            for name, record in self.records.items()
            if not record.finished
        }

    @cached_property
    def scoreboard(self) -> "pd.DataFrame":
        """Verdicts counted by book, as the command line prints them."""
        import pandas as pd

        rows = scoreboard.rows(self._rows, "book")
        return pd.DataFrame(rows, columns=["book", *scoreboard.COLUMNS]).set_index("book")

    @cached_property
    def runs(self) -> "pd.DataFrame":
        """A row a run, the newest first: facts, knobs and metrics, as `bythebook runs` has them."""
        import pandas as pd

        if self._selected is None:
            selected = Selected()
            selected.add_folders(record.folder for record in self.records.values())
        else:
            selected = selection(self._selected, self.outputs)
        listing = Listing()
        for seen in selected.seen():
            listing.add(seen)
        listing.check(places.warn)
        content = [row.content() for row in listing.rows(selected, places.warn)]
        return pd.DataFrame(content, columns=list(dict.fromkeys([*FACTS, *listing.names()])))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def _how(self) -> str:
        missing = f", {len(self.missing)} not recorded" if self.missing else ""
        return f"{len(self.records)} results, {len(self)} claims{missing}"

    @property
    def _problems(self) -> list[str]:
        lines = [f"{name} failed: {error}" for name, error in self.failed.items()]
        return lines + [
            f"{row['experiment']}: {row['claim']}: {row['verdict']}, expected {row['expected']}"
            for row in scoreboard.surprises(self._rows)
        ]

    def __repr__(self) -> str:
        return "\n".join([self._how, *self._problems, self.scoreboard.to_string()])

    def _repr_html_(self) -> str:
        columns = ["book", *scoreboard.COLUMNS]
        score = html.table(columns, scoreboard.rows(self._rows, "book"))
        told = [
            [
                *(row["experiment"], row["claim"], html.code(row["expression"])),
                *(row["printed"] or "", row["evidence"] or row["computed"]),
                html.verdict(row["standing"]),
            ]
            for row in self._rows[:SHOWN]
        ]
        heads = ["result", "claim", "tested", "printed", "computed", "verdict"]
        first = f"the first {SHOWN} of {len(self)} claims" if len(self) > SHOWN else "the claims"
        listed = html.folded(first, html.table(heads, told))
        return html.block(html.bold(self._how), score, *self._problems, listed)


def _frame(rows: scoreboard.Claims) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(rows, columns=list(FIELDS))
