"""Report, in one line, runs in an older format and corrupt files; the files are not changed."""

from collections.abc import Iterable

from bythebook.experiments.cli import console
from bythebook.experiments.store.run_store import RunStore


def warn_outdated_runs(store: RunStore, names: Iterable[str]) -> None:
    """Report the number of runs of these experiments that have an older format."""
    count = sum(store.count_outdated_format(name) for name in names)
    if count:
        console.notify(
            f"ignored {count} runs in an older format in {store.runs}; the files are unchanged"
        )


def warn_corrupt_files(store: RunStore) -> None:
    """Report the corrupt files; valid runs in them can still be read."""
    for line in store.corruption_report():
        console.notify(line)
