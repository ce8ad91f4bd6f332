"""Runs of an older format, and damaged packs of runs: left alone, and told about in one line."""

from collections.abc import Iterable

from experiments.commands import console
from experiments.records.store import RunStore


def tell_of_older(store: RunStore, names: Iterable[str]) -> None:
    """Say how many there are among the runs of these experiments."""
    count = sum(store.older(name) for name in names)
    if count:
        console.tell(f"{count} runs of an older format are left alone in {store.runs}")


def tell_of_damage(store: RunStore) -> None:
    """Say which packs are damaged; what is whole in them is read all the same."""
    for line in store.damage():
        console.tell(line)
