"""The results and the recorded runs that the words of a selection name."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bythebook.experiments.config import selection
from bythebook.experiments.store.verdict_cache import cached_verdict_counts

if TYPE_CHECKING:
    from bythebook.experiments.store.run_index import RunIndex

SWEEP_PREFIX, STUDY_PREFIX = "sweep:", "study:"


def select_results(words: Sequence[str], search: str | None, outputs: Path) -> list[str]:
    """The selected results; `verdict:` refers to the runs in the `outputs` folder."""
    return selection.select_experiments(
        words, search, lambda names: cached_verdict_counts(outputs, names)
    )


def select_runs(words: Sequence[str], search: str | None, outputs: Path) -> "RunIndex":
    """The recorded runs of the selected results, studies and sweeps; all without a selection."""
    # Lists of results need none of these, and `recorded_sweeps` imports Hydra.
    from bythebook.experiments.store.run_index import RunIndex
    from bythebook.experiments.store.run_store import RunStore
    from bythebook.experiments.sweeps import recorded_sweeps

    store, runs = RunStore(outputs), RunIndex()
    if not words and not search:
        runs.add_locations(store.run_dirs())
        return runs
    sweeps = [word for word in words if word.startswith(SWEEP_PREFIX)]
    others = [word for word in words if word not in sweeps]
    for word in sweeps:
        sweep = recorded_sweeps.find_sweep(outputs, word.removeprefix(SWEEP_PREFIX))
        runs.add_runs(store, sweep.runs)
    for word in others:  # runs of the study itself, in addition to those of its results
        if word.startswith(STUDY_PREFIX):
            runs.add_locations(store.run_dirs(f"study/{word.removeprefix(STUDY_PREFIX)}"))
    if others or search:
        for name in select_results(others, search, outputs):
            runs.add_locations(store.run_dirs(name))
    return runs
