"""`run`: compute a result or a study, with changed knobs if wished, and record the run."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bythebook.experiments.api import arguments, html, pipeline, settings
from bythebook.experiments.core.claim_blocks import claim_blocks
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome, Scalar
from bythebook.experiments.core.study import studies
from bythebook.experiments.core.suggestions import did_you_mean
from bythebook.experiments.report.export import FIELD_DOCS
from bythebook.experiments.report.scoreboard import claim_records
from bythebook.experiments.store import artifacts
from bythebook.experiments.store.record import Record

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

KEYWORDS = ("outputs", "data_dir", "force", "tracking", "tracking_uri", "figures", "tags")
MAX_QUANTITIES = 8  # that the text of a run lists


def run(
    what: str,
    /,
    *,
    outputs: str | Path | None = None,
    data_dir: str | Path | None = None,
    force: bool = False,
    tracking: str = "local",
    tracking_uri: str | None = None,
    figures: bool = True,
    tags: Mapping[str, Any] | None = None,
    **knobs: Any,
) -> "Run":
    """Run a printed result (`fcml/fig-1.15`) or a study (`ridge_path`), or read its recorded run.

    `knobs` are the knobs of the study and `seed`; the default is the value in the result's file,
    else the study's default. A knob with the name of a keyword below needs its full name,
    `**{"study.outputs": 2}`: the short name is always the keyword.

    outputs       folder of the runs (default: BYTHEBOOK_OUTPUTS, else the project's outputs/)
    data_dir      folder of the authors' original files (default: BYTHEBOOK_DATA)
    force         compute again what is already recorded
    tracking      "local": MLflow in the outputs folder; "server": MLflow at `tracking_uri`; "off"
    tracking_uri  address of the MLflow server (default: MLFLOW_TRACKING_URI)
    figures       draw the figures now; False draws them on demand
    tags          names for the run, {"paper": "figure 3"}
    """
    target = arguments.resolve_target(what)
    changes = target.overrides(knobs, KEYWORDS)
    _, axes = arguments.split_swept(target, changes)
    for key, values in axes.items():
        name = key.removeprefix(arguments.KNOB_PREFIX)
        raise InputError(
            f"{name}={arguments.to_override(values)} has several values; use sweep() to sweep"
        )
    job = target.job_factory(changes, data_dir).job()
    own_tags = settings.validated_tags(tags)
    folder = settings.writable_output_dir(outputs)
    done, _ = pipeline.run_one(
        job,
        folder,
        settings.tracker_for(tracking, tracking_uri, folder),
        notify=settings.warn_user,
        figures=figures,
        own_tags=own_tags,
        force=force,
    )
    return Run(done.record, computed=done.computed)


class Run:
    """A recorded run: its quantities, the verdicts on its claims, and its figures."""

    def __init__(self, record: Record, *, computed: bool = False) -> None:
        self.record = record
        self.computed = computed  # by this call, not read from an earlier run

    @property
    def id(self) -> str:
        """The run's id: `bythebook verify <id>` recomputes it."""
        return self.record.id

    @property
    def key(self) -> str:
        """The digest of everything that determines the numbers."""
        return str(self.record["key"])

    @property
    def knobs(self) -> dict[str, Any]:
        return dict(self.record["science"]["knobs"])

    @property
    def seed(self) -> int:
        return int(self.record["science"]["seed"])

    @property
    def error(self) -> str | None:
        """Type and message of the error; None for a run that finished."""
        error = self.record["error"]
        return f"{error['type']}: {error['message']}" if error else None

    @property
    def outcome(self) -> Outcome:
        """Every quantity, by name, with its meaning if the study declares it."""
        self._require_finished()
        study = studies().get(self.record.study)
        outcome = self.record.outcome
        return outcome.describe(study.quantities, study.axes) if study is not None else outcome

    @property
    def metrics(self) -> dict[str, Scalar]:
        """The single numbers, which lists of runs show."""
        self._require_finished()
        return dict(self.record.metrics)

    def frame(self, *names: str) -> "pd.DataFrame":
        """A frame of quantities over the same axes; without `names`, all of them in long form."""
        outcome = self.outcome
        for name in names:
            if name not in outcome:
                hint = did_you_mean(name, outcome)
                allowed = _shorten(outcome)
                raise InputError(f"there is no quantity '{name}'{hint}; allowed: {allowed}")
        return outcome.to_frame(*names)

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """The verdict on every claim that can be evaluated on this run."""
        return self.record.verdicts

    @property
    def claims(self) -> "pd.DataFrame":
        """A frame of the verdicts: one row per claim, with the fields of results.json."""
        import pandas as pd

        rows = claim_records({self.record["experiment"] or self.record.study: self.record})
        return pd.DataFrame(rows, columns=list(FIELD_DOCS))

    def figures(self, style: str = "screen") -> "dict[str, Figure]":
        """New Matplotlib figures that you can change and save; `style` is screen or print."""
        from bythebook.experiments.plotting import canvas, text_wrap

        self._require_finished()
        canvas.check_formats([], style)
        with canvas.style(style):
            figures = dict(artifacts.make_figures(self.record))
            for figure in figures.values():
                text_wrap.fit_text(figure)
        return figures

    def _require_finished(self) -> None:
        if self.error:
            path = self.record.folder / "run.json"
            raise RuntimeError(f"the run failed: {self.error}; traceback in {path}")

    @property
    def _name(self) -> str:
        return str(self.record["experiment"] or self.record.study)

    @property
    def _status_line(self) -> str:
        seconds = self.record["provenance"]["seconds"]
        return f"run {self.id}, " + (
            f"computed in {seconds:.3f} s" if self.computed else "already recorded"
        )

    @property
    def _settings_note(self) -> str:
        """A line for a run of a printed result with other settings than the published ones."""
        if self.record["experiment"] and not self.record["canonical"]:
            return "settings differ from the published ones; the claims are evaluated anyway"
        return ""

    def __repr__(self) -> str:
        lines = [f"{self._name}: {self._status_line}"]
        if self.error:
            return f"{lines[0]}\nfailed: {self.error}"
        if self.verdicts:
            lines += [block.title for block in claim_blocks(self.verdicts)]
            lines += [self._settings_note] if self._settings_note else []
        lines.append(f"quantities: {_shorten(self.outcome)}")
        lines += [f"not converged: {line}" for line in self.record.not_converged]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        source = self.record.source
        title = ", ".join(filter(None, [source.item, source.title])) or self.record.study
        head = html.bold(title, f"({self._name}, {self._status_line})")
        if self.error:
            return html.vertical(head, html.verdict_badge("failed", f": {self.error}"))
        parts: list[Any] = [head]
        if paths := self._figure_paths():
            parts.append(html.inline_images(paths))
        if self.verdicts:
            parts += [self._settings_note] if self._settings_note else []
            parts.append(html.claims(self.verdicts))
        else:
            parts.append(html.table(["metric", "value"], self.metrics.items()))
        parts += [f"Not converged: {line}" for line in self.record.not_converged]
        return html.vertical(*parts)

    def _figure_paths(self) -> list[Path]:
        """The figure files of the run, the main one first; none if they cannot be drawn."""
        try:
            artifacts.ensure_figures(self.record)
        except Exception as error:
            settings.warn_user(f"could not draw the figures: {type(error).__name__}: {error}")
            return []
        folder = self.record.folder / "figures"
        first = {path.stem for path in folder.glob("*.webp")}
        return sorted(folder.glob("*.png"), key=lambda path: (path.stem not in first, path.stem))


def _shorten(outcome: Outcome) -> str:
    """The names of the first quantities, and how many there are."""
    names = list(outcome)
    more = f", ... {len(names)} in all" if len(names) > MAX_QUANTITIES else ""
    return ", ".join(names[:MAX_QUANTITIES]) + more
