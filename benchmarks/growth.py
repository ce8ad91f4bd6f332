"""Time, memory and disk space of tracked sweeps by their number of runs.

The floor is the time of the necessary work alone: the computation of the study, inserts of the rows
of the tracking store, and one file with the bytes of the packs, divided by the two cores.
"""

import math
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from benchmarks import looks
from benchmarks.pipeline import bythebook
from bythebook.experiments.config.job import Job
from bythebook.experiments.execution.worker import compute, single_threaded
from bythebook.experiments.studies.regression.ridge_path import RidgePath

SIZES = (10, 100, 1000, 10_000)
PROCESSES = 2
TRIED = 300  # runs whose computation alone is timed
TABLES = ("runs", "tags", "params", "metrics", "latest_metrics")
COLUMNS = (
    *("runs", "wall", "a run", "a further run", "exponent", "issued again", "peak memory"),
    *("records, a run", "store, a run", "floor", "wall / floor"),
)


class Size(NamedTuple):
    """Time, memory and disk space of a sweep."""

    runs: int
    wall: float
    again: float
    peak: int  # bytes
    records: int
    store: int
    floor: float


def table(sizes: tuple[int, ...] = SIZES) -> str:
    """A row for each size, with the cost of a further run, and the table of reading commands."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + " ---: |" * len(COLUMNS)]
    before: Size | None = None
    seen = ""
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            found = measured(size, Path(folder))
            lines.append("| " + " | ".join(_cells(found, before)) + " |")
            print(lines[-1], file=sys.stderr)
            if size == max(sizes):
                seen = looks.table(Path(folder) / "outputs")
        before = found
    return "\n".join([*lines, "", f"With {max(sizes):,} runs:", "", seen])


def _cells(size: Size, before: Size | None) -> list[str]:
    further, exponent = "", ""
    if before is not None:
        more = size.runs - before.runs
        further = f"{1000 * (size.wall - before.wall) / more:.2f} ms"
        grown = math.log(size.wall / before.wall) / math.log(size.runs / before.runs)
        exponent = f"{grown:.2f}"
    return [
        f"{size.runs:,}",
        f"{size.wall:.1f} s",
        f"{1000 * size.wall / size.runs:.2f} ms",
        further,
        exponent,
        f"{size.again:.1f} s",
        f"{size.peak / 2**20:.0f} MiB",
        f"{size.records / size.runs / 1000:.1f} kB",
        f"{size.store / size.runs / 1000:.1f} kB",
        f"{size.floor:.2f} s",
        f"{size.wall / size.floor:.1f}",
    ]


def measured(runs: int, folder: Path) -> Size:
    """Run a sweep in its own store, and the same sweep again."""
    outputs = folder / "outputs"
    bythebook(folder, "run", "study=ridge_path", "study.ln_count=0", "figures=false")
    empty = (outputs / "mlflow.db").stat().st_size
    wall, peak = _issued(outputs, runs)
    again, _ = _issued(outputs, runs)
    store = (outputs / "mlflow.db").stat().st_size - empty
    packs = list(outputs.glob("runs/*/*/cells/*.pack"))
    records = sum(path.stat().st_size for path in packs)
    floor = _computed(runs) + _inserted(outputs / "mlflow.db", folder) + _written(folder, records)
    return Size(runs, wall, again, peak, records, store, floor / PROCESSES)


def _issued(outputs: Path, runs: int) -> tuple[float, int]:
    """Seconds, and the peak memory of the process that issues the sweep."""
    command = [sys.executable, "-m", "bythebook", "run", "-m", "study=ridge_path"]
    command += ["study.ln_count=0", f"seed=range(0,{runs})", f"jobs={PROCESSES}"]
    command += [f"max_cells={runs}"]
    environment = {**os.environ, "BYTHEBOOK_OUTPUTS": str(outputs)}
    start = time.perf_counter()
    with tempfile.TemporaryFile() as sink:
        process = subprocess.Popen(command, env=environment, stdout=sink, stderr=sink)
        peak = looks.peak_memory(process)
    if process.returncode != 0:
        raise RuntimeError(f"the sweep of {runs} ended with {process.returncode}")
    return time.perf_counter() - start, peak


def _computed(runs: int) -> float:
    """Seconds on one core for the computation alone."""
    jobs = [Job(RidgePath(ln_count=0), seed=seed) for seed in range(TRIED)]
    with single_threaded():
        compute(jobs[0])
        start = time.perf_counter()
        for job in jobs:
            compute(job)
    return (time.perf_counter() - start) * runs / TRIED


def _inserted(database: Path, folder: Path) -> float:
    """Seconds to insert the rows of the store into equal tables, in one transaction."""
    found = 0.0
    with (
        closing(sqlite3.connect(database)) as full,
        closing(sqlite3.connect(folder / "bare.db", isolation_level=None)) as bare,
    ):
        for (sql,) in full.execute(
            f"SELECT sql FROM sqlite_master WHERE tbl_name IN {TABLES} AND sql IS NOT NULL"
        ):
            bare.execute(sql)
        bare.execute("BEGIN")
        for name in TABLES:
            rows = full.execute(f"SELECT * FROM {name} ORDER BY rowid")
            places = ", ".join("?" * len(rows.description))
            while some := rows.fetchmany(100_000):
                start = time.perf_counter()
                bare.executemany(f"INSERT INTO {name} VALUES ({places})", some)
                found += time.perf_counter() - start
        start = time.perf_counter()
        bare.execute("COMMIT")
        return found + time.perf_counter() - start


def _written(folder: Path, size: int) -> float:
    """Seconds to write bytes to one file and to the disk."""
    part = os.urandom(2**20)
    start = time.perf_counter()
    with (folder / "bare").open("wb") as stream:
        for _ in range(-(-size // len(part))):
            stream.write(part)
        stream.flush()
        os.fsync(stream.fileno())
    return time.perf_counter() - start


if __name__ == "__main__":  # python -m benchmarks.growth 100000
    print(table(tuple(map(int, sys.argv[1:])) or SIZES))
