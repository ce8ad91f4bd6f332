"""What MLflow is told of a study: description, topic, books, verdicts, and what to show first."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from experiments.configuration import catalogue
from experiments.contract.study import Study, studies
from experiments.contract.verdicts import STANDINGS
from experiments.records.last_verdicts import last_verdicts
from experiments.tracking.tracker import Tracker

COLUMNS = "bythebook.columns"  # what a list of its runs opens with; see ui_app
FEW = 3  # metrics


def describe(outputs: Path, tracker: Tracker) -> None:
    """Bring the studies that the store knows up to date."""
    known = tracker.experiments()
    wanted = {name: tags for name, tags in descriptions(outputs).items() if name in known}
    tracker.describe(
        {name: tags for name, tags in wanted.items() if not tags.items() <= known[name].items()}
    )


def descriptions(outputs: Path) -> dict[str, dict[str, str]]:
    """The tags of every study that has results."""
    results: dict[str, list[str]] = {}
    for name in catalogue.names():
        results.setdefault(catalogue.read(name).study, []).append(name)
    last = last_verdicts(outputs, catalogue.names())
    kinds = studies()
    return {
        study: _tags(kinds[study], names, {name: last[name] for name in names})
        for study, names in results.items()
        if study in kinds
    }


def _tags(
    study: type[Study], names: list[str], last: Mapping[str, dict[str, int] | None]
) -> dict[str, str]:
    counts: Counter[str] = Counter()
    for found in last.values():
        counts.update(found or {})
    books = dict.fromkeys(name.partition("/")[0] for name in names)
    metrics = [f"metrics.`{name}`" for name in list(study.headline)[:FEW]]
    verdicts = ", ".join(f"{counts[name]} {name}" for name in STANDINGS if counts[name])
    note = [
        (study.__doc__ or "").strip(),
        f"Results: {', '.join(f'`{name}`' for name in names)}",
        f"`bythebook show study:{study.name}` tells its knobs and quantities.",
    ]
    tags = {
        "mlflow.note.content": "\n\n".join(note),
        "topic": study.topic,
        "book": ", ".join(books),
        "verdict": verdicts,
        COLUMNS: ",".join(["tags.`item`", "tags.`verdict`", *metrics]),
    }
    return {name: value for name, value in tags.items() if value}
