"""The MLflow tags of a study: description, topic, books, verdicts, and the columns of its runs."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from bythebook.experiments.config import catalogue
from bythebook.experiments.core.study import Study, studies
from bythebook.experiments.core.verdicts import CATEGORIES
from bythebook.experiments.store.verdict_cache import cached_verdict_counts
from bythebook.experiments.tracking.tracker import Tracker

COLUMNS = "bythebook.columns"  # the tag with the first columns of a list of runs; see `ui_app`
MAX_METRICS = 3  # among these columns


def update_experiment_tags(outputs: Path, tracker: Tracker) -> None:
    """Update the tags of the studies that the store contains."""
    known = tracker.experiment_names()
    wanted = {name: tags for name, tags in experiment_tags(outputs).items() if name in known}
    tracker.set_experiment_tags(
        {name: tags for name, tags in wanted.items() if not tags.items() <= known[name].items()}
    )


def experiment_tags(outputs: Path) -> dict[str, dict[str, str]]:
    """The tags of each study that has results."""
    results: dict[str, list[str]] = {}
    for name in catalogue.experiment_names():
        results.setdefault(catalogue.load_experiment(name).study, []).append(name)
    last = cached_verdict_counts(outputs, catalogue.experiment_names())
    kinds = studies()
    return {
        study: _study_tags(kinds[study], names, {name: last[name] for name in names})
        for study, names in results.items()
        if study in kinds
    }


def _study_tags(
    study: type[Study], names: list[str], last: Mapping[str, dict[str, int] | None]
) -> dict[str, str]:
    counts: Counter[str] = Counter()
    for counts_of_result in last.values():
        counts.update(counts_of_result or {})
    books = dict.fromkeys(name.partition("/")[0] for name in names)
    metrics = [f"metrics.`{name}`" for name in list(study.headline)[:MAX_METRICS]]
    verdicts = ", ".join(f"{counts[name]} {name}" for name in CATEGORIES if counts[name])
    note = [
        (study.__doc__ or "").strip(),
        f"Results: {', '.join(f'`{name}`' for name in names)}",
        f"`bythebook show study:{study.name}` lists its knobs and quantities.",
    ]
    tags = {
        "mlflow.note.content": "\n\n".join(note),
        "topic": study.topic,
        "book": ", ".join(books),
        "verdict": verdicts,
        COLUMNS: ",".join(["tags.`item`", "tags.`verdict`", *metrics]),
    }
    return {name: value for name, value in tags.items() if value}
