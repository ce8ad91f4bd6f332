"""`reproduce` and `results`: the verdicts on printed claims, from new or from recorded runs."""

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bythebook.experiments.api import arguments, html, pipeline, selections, settings
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.claim_blocks import Block, claim_blocks
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.execution.launchers import LocalLauncher
from bythebook.experiments.report import scoreboard
from bythebook.experiments.report.export import FIELD_DOCS
from bythebook.experiments.store.query import RUN_FIELDS, RunQuery
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_index import RunIndex
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.store.verdict_cache import cached_verdict_counts

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 60  # claims of a block on a page


def reproduce(
    *selection: str,
    search: str | None = None,
    jobs: int | None = None,
    force: bool = False,
    outputs: str | Path | None = None,
    data_dir: str | Path | None = None,
    tracking: str = "local",
    tracking_uri: str | None = None,
    tags: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> "Claims":
    """Run the selected results with their published settings and evaluate every claim.

    A selection has the form that the commands accept: `fcml`, `fcml/1`, `fcml/fig-1.15`,
    `fcml/fig-1.*`, `study:ridge_path`, `topic:chains`, `verdict:erratum`. Several add up; without
    a selection all results are run. `jobs` is the number of processes (default: one per core); the
    other keywords are those of `sweep`.
    """
    names = _names(selection, search, settings.output_dir(outputs))
    workers = os.cpu_count() or 1 if jobs is None else jobs
    if type(workers) is not int or workers < 1:
        raise InputError(f"jobs={jobs!r} is not allowed; allowed: int, >= 1")
    data, own_tags = arguments.original_data_dir(data_dir), settings.validated_tags(tags)
    job_list = [load_job(name, data) for name in names]
    folder = settings.writable_output_dir(outputs)
    tracker = settings.tracker_for(tracking, tracking_uri, folder)
    by_index: dict[int, Record] = {}
    for done in pipeline.run_many(
        job_list, folder, tracker, LocalLauncher(workers), own_tags=own_tags, force=force
    ):
        by_index[done.index] = done.record
        if progress is not None:
            progress(len(by_index), len(job_list))
    records = {name: by_index[index] for index, name in enumerate(names)}
    cached_verdict_counts(folder, records)  # store them for `bythebook list`
    return Claims(records, folder)


def results(
    *selection: str, search: str | None = None, outputs: str | Path | None = None
) -> "Claims":
    """The newest recorded run of every selected result; nothing is computed.

    `.runs` lists all recorded runs of the selection, also those with other knobs. For `.runs`,
    `study:<name>` and `sweep:<id>` also select runs that do not belong to a printed result.
    """
    folder = settings.output_dir(outputs)
    words = [word for word in _words(selection) if not word.startswith("sweep:")]
    names = _names(words, search, folder) if words or not selection else []
    store = RunStore(folder)
    records = {name: record for name in names if (record := store.latest_run(name)) is not None}
    missing = [name for name in names if name not in records]
    return Claims(records, folder, missing, (list(selection), search))


def _words(selection: tuple[str, ...] | list[str]) -> list[str]:
    for word in selection:
        if not isinstance(word, str):
            raise InputError(f"{word!r} is not a selection; allowed: text such as 'fcml/1'")
    return list(selection)


def _names(selection: tuple[str, ...] | list[str], search: str | None, folder: Path) -> list[str]:
    return selections.select_results(_words(selection), search, folder)


class Claims:
    """The claims of some results with their verdicts and the scoreboard."""

    def __init__(
        self,
        records: Mapping[str, Record],
        outputs: Path,
        missing: list[str] | None = None,
        selection: tuple[list[str], str | None] | None = None,
    ) -> None:
        self.records = dict(records)  # by result
        self.outputs = outputs
        self.missing = missing or []  # results without a recorded run
        self._selection = selection  # words and search of `runs`; None: the runs in `records`

    @cached_property
    def _rows(self) -> scoreboard.Claims:
        return scoreboard.claim_records(self.records)

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """One row per claim, with the fields of results.json."""
        return _frame(self._rows)

    @cached_property
    def unexpected(self) -> "pd.DataFrame":
        """The claims whose verdict differs from the one in the result's file."""
        return _frame(scoreboard.unexpected_claims(self._rows))

    @property
    def failed(self) -> dict[str, str]:
        """Type and message of the error, for each run that failed."""
        return {
            name: f"{record['error']['type']}: {record['error']['message']}"
            for name, record in self.records.items()
            if not record.finished
        }

    @cached_property
    def scoreboard(self) -> "pd.DataFrame":
        """The number of claims by book and verdict, as `bythebook reproduce` prints it."""
        import pandas as pd

        rows = scoreboard.scoreboard_rows(self._rows, "book")
        return pd.DataFrame(rows, columns=["book", *scoreboard.COLUMNS]).set_index("book")

    @cached_property
    def runs(self) -> "pd.DataFrame":
        """One row per run, the newest first, with the columns of `bythebook runs`."""
        import pandas as pd

        if self._selection is None:
            selected = RunIndex()
            selected.add_folders(record.folder for record in self.records.values())
        else:
            words, search = self._selection
            selected = selections.select_runs(words, search, self.outputs)
        query = RunQuery()
        for run in selected.runs():
            query.add(run)
        query.check(settings.warn_user)
        content = [row.content() for row in query.rows(selected, settings.warn_user)]
        return pd.DataFrame(content, columns=list(dict.fromkeys([*RUN_FIELDS, *query.names()])))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def _status_line(self) -> str:
        missing = f", {len(self.missing)} not recorded" if self.missing else ""
        return f"{len(self.records)} results{missing}"

    @property
    def _problems(self) -> list[str]:
        lines = [f"{name} failed: {error}" for name, error in self.failed.items()]
        return lines + [
            f"{row['experiment']}: {row['claim']}: {row['verdict']}, expected {row['expected']}"
            for row in scoreboard.unexpected_claims(self._rows)
        ]

    def __repr__(self) -> str:
        return "\n".join([self._status_line, *self._problems, self.scoreboard.to_string()])

    def _repr_html_(self) -> str:
        columns = ["book", *scoreboard.COLUMNS]
        score = html.table(columns, scoreboard.scoreboard_rows(self._rows, "book"))
        claims = map(self._block, claim_blocks([verdict for _, verdict in self._verdicts]))
        return html.vertical(html.bold(self._status_line), score, *self._problems, *claims)

    @cached_property
    def _verdicts(self) -> list[tuple[str, dict[str, Any]]]:
        """Every verdict with the name of its result."""
        return [(name, entry) for name, record in self.records.items() for entry in record.verdicts]

    def _block(self, block: Block) -> html.SafeHtml:
        """The first claims of a block, folded."""
        rows = [html.claim(row, self._verdicts[row.index][0]) for row in block.rows[:MAX_ROWS]]
        first = f" (the first {MAX_ROWS})" if len(block.rows) > MAX_ROWS else ""
        summary = f"{block.heading}: {len(block.rows)}{first}"
        return html.collapsible(summary, html.SafeHtml("".join(rows)))


def _frame(rows: scoreboard.Claims) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(rows, columns=list(FIELD_DOCS))
