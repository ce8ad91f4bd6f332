"""Draws a seeded sample of faults, spread over the modules and the kinds of fault."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.mutation_testing.faults import Fault, faults

# Registries and type names contain no mathematics; a digest or an import detects faults there.
EXCLUDED = {"types.py", "data_sets/embedded.py", "data_sets/originals.py"}


def candidates(models: Path) -> list[Fault]:
    """All faults of all modules below the folder."""
    generated = []
    for path in sorted(models.glob("**/*.py")):
        file = path.relative_to(models).as_posix()
        if path.name != "__init__.py" and file not in EXCLUDED:
            generated += faults(path.read_text(), file)
    return generated


def sample(population: Iterable[Fault], count: int, seed: int) -> list[Fault]:
    """A sample of `count` faults, in proportion to the modules, with all kinds in turn.

    The choice depends on the text of a fault's line, so that an edit changes few other choices. The
    order is random, so that an interrupted campaign has tried a sample of all modules.
    """
    modules: dict[str, list[Fault]] = defaultdict(list)
    for fault in population:
        modules[fault.file].append(fault)
    shares = _shares({file: len(group) for file, group in modules.items()}, count)
    taken = [
        fault
        for file, group in modules.items()
        for fault in _taken(_in_turn(group, seed), shares[file])
    ]
    return sorted(taken, key=lambda fault: _rank(seed, f"{fault.words} in turn"))


def _shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Integer shares in proportion to the sizes, at least 1 each, by largest remainders."""
    left, total = max(count - len(sizes), 0), sum(sizes.values())
    exact = {name: left * size / total for name, size in sizes.items()}
    shares = {name: 1 + int(share) for name, share in exact.items()}
    missing = max(count, len(sizes)) - sum(shares.values())
    for name in sorted(exact, key=lambda name: int(exact[name]) - exact[name])[:missing]:
        shares[name] += 1
    return shares


def _in_turn(group: list[Fault], seed: int) -> Iterator[Fault]:
    """The faults of a module: one of each kind, then a second one of each kind."""
    kinds: dict[str, list[Fault]] = defaultdict(list)
    for fault in sorted(group, key=lambda fault: _rank(seed, fault.words)):
        kinds[fault.kind.partition(".")[0]].append(fault)
    order = sorted(kinds, key=lambda kind: _rank(seed, f"{group[0].file} {kind}"))
    for turn in range(max(map(len, kinds.values()))):
        yield from (kinds[kind][turn] for kind in order if turn < len(kinds[kind]))


def _taken(group: Iterator[Fault], count: int) -> list[Fault]:
    """The first `count` faults with different positions."""
    taken: dict[tuple[int, int], Fault] = {}
    for fault in group:
        if len(taken) == count:
            break
        taken.setdefault((fault.line, fault.column), fault)
    return list(taken.values())


def _rank(seed: int, words: str) -> str:
    return hashlib.sha256(f"{seed} {words}".encode()).hexdigest()
