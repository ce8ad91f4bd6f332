"""1,000 tracked runs, compared with Hydra and MLflow, and with benchopt."""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.pipeline import bythebook, plain_hydra
from benchmarks.timing import Result, compare, seconds

PEERS = Path(__file__).parent / "peers"
LAMBDAS = ",".join(f"[1e-{k}]" for k in range(9, -1, -1))
GRID = [
    "study=ridge_path",
    "study.ln_count=0",
    "study.orders=" + ",".join(f"[{order}]" for order in range(1, 11)),
    f"study.lambdas={LAMBDAS}",
]
CELL = ["study.ln_count=0", "study.orders=[5]", "study.lambdas=[1e-4]"]
RUNS, FEW, MORE = 1000, 2, 22  # Hydra is timed with FEW and with MORE runs


def results() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        found = [*_against_hydra(Path(folder)), *_against_benchopt(Path(folder))]
        return [*found, _resumed(Path(folder))]


def _sweep(folder: Path, start: int, *more: str, jobs: int = 2) -> None:
    seeds = f"seed=range({start},{start + 10})"
    bythebook(folder, "run", "-m", *GRID, seeds, f"jobs={jobs}", *more)


def _against_hydra(folder: Path) -> list[Result]:
    starts = iter(range(0, 10**9, 10))
    _sweep(folder, next(starts))  # creates the store
    return [
        compare(
            "1,000 tracked runs, two processes",
            f"hydra -m, one MLflow call a value, {what}",
            f"{RUNS:,} runs",
            lambda: _sweep(folder, next(starts)),
            lambda: None,
            goal=goal,
            rounds=3,
            clock=lambda *_, words=words: _plain_hydra_seconds(folder, *words),  # type: ignore[misc]
        ).with_more(note=f"Start-up, and {RUNS:,} times the cost of a run.")
        for what, goal, words in (
            ("the same study, all values of a single run", "50", ("plain_hydra_full.py", *CELL)),
            ("19 values", "", ("plain_hydra.py",)),
        )
    ]


def _plain_hydra_seconds(folder: Path, program: str, *words: str) -> float:
    """The time of all runs, extrapolated; the start-up counts once."""

    def timed(runs: int) -> float:
        sweep = ("-m", f"seed=range(0,{runs})", *words)
        return seconds(lambda: plain_hydra(folder, *sweep, program=program))

    few, more = timed(FEW), timed(MORE)
    return few + (RUNS - FEW) * (more - few) / (MORE - FEW)


def _against_benchopt(folder: Path) -> list[Result]:
    program = shutil.which("benchopt", path=str(Path(sys.executable).parent))
    if program is None:
        print("benchopt is not installed: pip install 'bythebook[bench]'", file=sys.stderr)
        return []
    starts = iter(range(10_000, 10**9, 10))

    def peer() -> None:
        # A new copy each time, because benchopt caches results.
        copy = folder / f"benchopt-{time.monotonic_ns()}"
        shutil.copytree(PEERS / "benchopt_ridge", copy)
        command = [program, "run", str(copy), "-n", "1", "-r", "1", "-j", "2"]
        subprocess.run([*command, "--no-plot", "--no-html"], check=True, capture_output=True)

    return [
        compare(
            "the same grid, tracked and recorded",
            "benchopt -j 2 (tracks nothing)",
            f"{RUNS:,} runs",
            lambda: _sweep(folder, next(starts)),
            peer,
            goal="above 1",
            rounds=3,
        )
    ]


def _resumed(folder: Path) -> Result:
    starts = iter(range(20_000, 10**9, 10))
    _sweep(folder, 0)
    return compare(
        "a finished sweep issued again",
        "the first time",
        f"{RUNS:,} runs",
        lambda: _sweep(folder, 0),
        lambda: _sweep(folder, next(starts)),
        goal="3",
        rounds=3,
    )
