"""Which faults are planted: a seeded sample, spread over the modules and the kinds of fault."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.mutants.faults import Fault, faults

# Registries and names hold no mathematics: what is wrong there, a digest or an import refuses.
LEFT_OUT = {"types.py", "data_sets/embedded.py", "data_sets/originals.py"}


def candidates(models: Path) -> list[Fault]:
    """Every fault of every module below the folder."""
    found = []
    for path in sorted(models.glob("**/*.py")):
        file = path.relative_to(models).as_posix()
        if path.name != "__init__.py" and file not in LEFT_OUT:
            found += faults(path.read_text(), file)
    return found


def sample(among: Iterable[Fault], count: int, seed: int) -> list[Fault]:
    """So many faults: each module its share, at least one, and in it all kinds in turn.

    What is taken hangs on the text of a fault's line, so that an edit moves few others in or out;
    they come shuffled, so that what an interrupted campaign has tried is a sample of all modules.
    """
    modules: dict[str, list[Fault]] = defaultdict(list)
    for fault in among:
        modules[fault.file].append(fault)
    shares = _shares({file: len(found) for file, found in modules.items()}, count)
    taken = [
        fault
        for file, found in modules.items()
        for fault in _taken(_in_turn(found, seed), shares[file])
    ]
    return sorted(taken, key=lambda fault: _lot(seed, f"{fault.words} in turn"))


def _shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Whole shares in proportion to the sizes, none below one, by largest remainders."""
    left, total = max(count - len(sizes), 0), sum(sizes.values())
    exact = {name: left * size / total for name, size in sizes.items()}
    shares = {name: 1 + int(share) for name, share in exact.items()}
    missing = max(count, len(sizes)) - sum(shares.values())
    for name in sorted(exact, key=lambda name: int(exact[name]) - exact[name])[:missing]:
        shares[name] += 1
    return shares


def _in_turn(found: list[Fault], seed: int) -> Iterator[Fault]:
    """The faults of a module: one of each kind, then a second of each."""
    kinds: dict[str, list[Fault]] = defaultdict(list)
    for fault in sorted(found, key=lambda fault: _lot(seed, fault.words)):
        kinds[fault.kind.partition(".")[0]].append(fault)
    order = sorted(kinds, key=lambda kind: _lot(seed, f"{found[0].file} {kind}"))
    for turn in range(max(map(len, kinds.values()))):
        yield from (kinds[kind][turn] for kind in order if turn < len(kinds[kind]))


def _taken(found: Iterator[Fault], count: int) -> list[Fault]:
    """The first so many, no two of them at one place."""
    taken: dict[tuple[int, int], Fault] = {}
    for fault in found:
        if len(taken) == count:
            break
        taken.setdefault((fault.line, fault.column), fault)
    return list(taken.values())


def _lot(seed: int, words: str) -> str:
    return hashlib.sha256(f"{seed} {words}".encode()).hexdigest()
