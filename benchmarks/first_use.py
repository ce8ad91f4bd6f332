"""Time of the first call: compilation once per machine, loading once per process.

Each is the first call in a fresh process, at the smallest size of the case, with numba's cache on
disk empty or filled.
"""

import os
import subprocess
import sys
import tempfile

from benchmarks.case import Case
from benchmarks.timing import seconds


def table(cases: list[Case]) -> str:
    lines = [
        "| case | first call on a machine | first call in a process | later calls |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name in dict.fromkeys(case.name for case in cases):
        with tempfile.TemporaryDirectory() as cache:
            ever, later = _calls(name, cache)
            process, _ = _calls(name, cache)
        lines.append(f"| {name} | {ever:.2g} s | {process:.2g} s | {later:.2g} s |")
    return "\n".join(lines)


def _calls(name: str, cache: str) -> tuple[float, float]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.first_use", name],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = done.stdout.split()[-2:]
    return float(first), float(second)


def _measure(name: str) -> None:
    from benchmarks.__main__ import MODELS

    case = next(case for group in MODELS.values() for case in group if case.name == name)
    contest = case.make(min([*case.sizes, case.size]))
    print(seconds(contest.ours), seconds(contest.ours))


if __name__ == "__main__":
    _measure(sys.argv[1])
