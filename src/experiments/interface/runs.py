"""`run`: one result or study with some knobs changed, recorded and tracked like any run."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.commands import performing
from experiments.configuration.jobs import recorded_job
from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome, Scalar
from experiments.contract.suggestions import meant
from experiments.contract.verdicts import in_words
from experiments.interface import given, html, places
from experiments.records import run_files
from experiments.records.record import Record
from experiments.report.results import FIELDS
from experiments.report.scoreboard import claim_records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SETTINGS = ("outputs", "data_dir", "fresh", "track", "figures", "tags")
SHOWN = 8  # quantities that a run's description names


def run(
    what: str,
    /,
    *,
    outputs: str | Path | None = None,
    data_dir: str | Path | None = None,
    fresh: bool = False,
    track: bool | str = True,
    figures: bool = True,
    tags: Mapping[str, Any] | None = None,
    **knobs: Any,
) -> "Run":
    """Run a printed result (`fcml/fig-1.15`) or a study (`ridge_path`), or find it recorded.

    `knobs` are those of the study, and `seed`; what is not given is the book's value, or the
    study's own. A knob that is called like a setting below goes by its full name,
    `**{"study.outputs": 2}`: the plain name is always the setting.

    outputs   where runs are kept (default: BYTHEBOOK_OUTPUTS, else the project's outputs/)
    data_dir  folder of the authors' original files (default: BOOK_DATA)
    fresh     compute again what is already recorded
    track     True: MLflow in the outputs folder; False: none; or a server's address
    figures   draw the figures now; False draws them when somebody looks
    tags      names for the run, {"paper": "figure 3"}
    """
    subject = given.subject(what)
    changes = subject.changes(knobs, SETTINGS)
    _, axes = given.swept(subject, changes)
    for key, values in axes.items():
        name = key.removeprefix(given.KNOB)
        raise BadInput(f"{name}={given.typed(values)} has several values: sweep() sweeps over them")
    job = subject.template(changes, data_dir).job()
    own_tags = places.checked_tags(tags)
    folder = places.to_write(outputs)
    done, _ = performing.one(
        job,
        folder,
        places.tracker(track, folder),
        tell=places.warn,
        figures=figures,
        own_tags=own_tags,
        fresh=fresh,
    )
    return Run(done.record, computed=done.computed)


class Run:
    """A recorded run: what was computed, what became of the claims, and how it looks."""

    def __init__(self, record: Record, *, computed: bool = False) -> None:
        self.record = record
        self.computed = computed  # now, and not found

    @property
    def id(self) -> str:
        """The run's id: `bythebook verify <id>` recomputes it."""
        return self.record.id

    @property
    def key(self) -> str:
        """What determines the numbers, in one digest."""
        return str(self.record["key"])

    @property
    def knobs(self) -> dict[str, Any]:
        return dict(self.record["science"]["knobs"])

    @property
    def seed(self) -> int:
        return int(self.record["science"]["seed"])

    @property
    def error(self) -> str | None:
        """What went wrong; None for a run that finished."""
        error = self.record["error"]
        return f"{error['type']}: {error['message']}" if error else None

    @property
    def outcome(self) -> Outcome:
        """Every quantity, by name."""
        self._must_be_finished()
        return self.record.outcome

    @property
    def metrics(self) -> dict[str, Scalar]:
        """The single numbers: what a list of runs shows."""
        self._must_be_finished()
        return dict(self.record.metrics)

    def frame(self, *names: str) -> "pd.DataFrame":
        """Quantities over the same axes as a frame; without names, all of them in long form."""
        outcome = self.outcome
        for name in names:
            if name not in outcome:
                hint = meant(name, outcome)
                raise BadInput(f"there is no quantity '{name}'{hint}; there is: {_some(outcome)}")
        return outcome.frame(*names)

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """Every claim that the run speaks of, held against its outcome."""
        return self.record.verdicts

    @property
    def claims(self) -> "pd.DataFrame":
        """The verdicts as a frame, a row a claim, with the fields of results.json."""
        import pandas as pd

        rows = claim_records({self.record["experiment"] or self.record.study: self.record})
        return pd.DataFrame(rows, columns=list(FIELDS))

    def figures(self, style: str = "screen") -> "dict[str, Figure]":
        """The figures, drawn anew for you to change and save; `style` is screen or print."""
        from experiments.drawing import canvas, layout, registry

        self._must_be_finished()
        canvas.check([], style)
        study = recorded_job(self.record.content).study
        with canvas.style(style):
            drawn = dict(registry.figures(study, self.record.outcome))
            for figure in drawn.values():
                layout.fit(figure)
        return drawn

    def _must_be_finished(self) -> None:
        if self.error:
            where = self.record.folder / "run.json"
            raise RuntimeError(f"the run failed: {self.error}; traceback in {where}")

    @property
    def _name(self) -> str:
        return str(self.record["experiment"] or self.record.study)

    @property
    def _how(self) -> str:
        seconds = self.record["provenance"]["seconds"]
        return f"run {self.id}, " + (
            f"computed in {seconds:.3f} s" if self.computed else "already recorded"
        )

    @property
    def _caveat(self) -> str:
        """Why the verdicts are not the book's."""
        judged = self.record["experiment"] and not self.record["canonical"]
        return "settings differ from the book's; the claims are judged all the same" * bool(judged)

    def __repr__(self) -> str:
        lines = [f"{self._name}: {self._how}"]
        if self.error:
            return f"{lines[0]}\nfailed: {self.error}"
        if self.verdicts:
            lines.append(f"{len(self.verdicts)} claims: {in_words(self.verdicts)}")
            lines += [self._caveat] if self._caveat else []
        lines.append(f"quantities: {_some(self.outcome)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        source = self.record.source
        title = ", ".join(filter(None, [source.item, source.title])) or self.record.study
        head = html.bold(title, f"({self._name}, {self._how})")
        if self.error:
            return html.block(head, html.verdict("failed", f": {self.error}"))
        parts: list[Any] = [head]
        if pictures := self._pictures():
            parts.append(html.images(pictures))
        if self.verdicts:
            parts += [self._caveat] if self._caveat else []
            parts.append(html.claims(self.verdicts))
        else:
            parts.append(html.table(["metric", "value"], self.metrics.items()))
        return html.block(*parts)

    def _pictures(self) -> list[Path]:
        """The figures beside the record, the headline first; none where they cannot be drawn."""
        try:
            run_files.ensure_figures(self.record)
        except Exception as error:
            places.warn(f"the figures cannot be drawn: {type(error).__name__}: {error}")
            return []
        folder = self.record.folder / "figures"
        first = {path.stem for path in folder.glob("*.webp")}
        return sorted(folder.glob("*.png"), key=lambda path: (path.stem not in first, path.stem))


def _some(outcome: Outcome) -> str:
    names = list(outcome)
    more = f", ... {len(names)} in all" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
