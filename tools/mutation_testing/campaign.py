"""Runs a campaign and saves every result at once, so that an interrupted one can continue."""

import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tools.mutation_testing import results, testing
from tools.mutation_testing.affected import affected_results, affected_tests, importers
from tools.mutation_testing.children import die_with_parent
from tools.mutation_testing.copies import Copy, digest
from tools.mutation_testing.faults import Fault
from tools.mutation_testing.runs import Ran, preload

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
Row = dict[str, Any]


@dataclass(frozen=True)
class Stage:
    """Tests or results: the files they depend on, and how to measure them and to try a fault."""

    name: str
    parts: tuple[str, ...]
    measure: Callable[[Copy], dict[str, Ran]]
    affected: Callable[..., list[str]]
    attempt: Callable[[Copy, list[str], Mapping[str, Ran]], Row]


def _try_tests(copy: Copy, wanted: list[str], usual: Mapping[str, Ran]) -> Row:
    return {"tests": testing.try_tests(copy, wanted, usual)}


def _try_results(copy: Copy, wanted: list[str], usual: Mapping[str, Ran]) -> Row:
    detection = results.try_results(copy, wanted, usual)
    return {**detection._asdict(), "crashed": detection.crashed}


STAGES = {
    "tests": Stage(
        "tests",
        ("src/models", "tests/models"),
        testing.measure_tests,
        affected_tests,
        _try_tests,
    ),
    "claims": Stage(
        "claims",
        ("src", "conf/experiment"),
        results.measure_results,
        affected_results,
        _try_results,
    ),
}


class Campaign:
    """Trials of faults in one state of the source tree."""

    def __init__(self, root: Path, state_dir: Path, jobs: int) -> None:
        self.root, self.state_dir, self.jobs = root, state_dir, jobs
        self.known = importers(root / "src")
        state_dir.mkdir(parents=True, exist_ok=True)

    def _file(self, stage: Stage, suffix: str) -> Path:
        return self.state_dir / f"{stage.name}-{digest(self.root, *stage.parts)}.{suffix}"

    def usual(self, stage: Stage) -> dict[str, Ran]:
        """The measurements without a fault, made once for a state of the tree."""
        path = self._file(stage, "json")
        if path.exists():
            return {name: Ran(*ran) for name, ran in json.loads(path.read_text()).items()}
        with self._pool(1) as pool:
            measured: dict[str, Ran] = pool.submit(_measure, stage.name).result()
        path.write_text(json.dumps(measured))
        return measured

    def rows(self, stage: Stage) -> dict[str, Row]:
        """The saved rows, by the words of their faults; an incomplete last line is skipped."""
        path, rows = self._file(stage, "jsonl"), {}
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            rows[row["words"]] = row
        return rows

    def run(self, stage: Stage, faults: list[Fault]) -> Iterator[tuple[Fault, Row]]:
        """Try the faults without a saved row, and save each row at once."""
        done = self.rows(stage)
        new = [fault for fault in faults if fault.words not in done]
        if not new:
            return
        usual = self.usual(stage)
        with self._pool(self.jobs) as pool, self._file(stage, "jsonl").open("a") as file:
            waiting: dict[Future[Row], Fault] = {}
            for fault in new:
                wanted = stage.affected(fault, usual, self.known)
                needed = {name: usual[name]._replace(functions=[]) for name in wanted}
                waiting[pool.submit(_attempt, stage.name, fault, wanted, needed)] = fault
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    fault = waiting.pop(future)
                    row = {"id": fault.id, "words": fault.words, **future.result()}
                    file.write(json.dumps(row) + "\n")
                    file.flush()
                    yield fault, row

    def _pool(self, jobs: int) -> "_Pool":
        return _Pool(self.root, jobs)


class _Pool:
    """Worker processes, each with its own copy of the tree in a temporary folder."""

    def __init__(self, root: Path, jobs: int) -> None:
        self._folder = TemporaryDirectory(prefix="bythebook-mutants-")
        os.environ.update(dict.fromkeys(THREADS, "1"))
        self._pool = ProcessPoolExecutor(
            jobs,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_init_worker,
            initargs=(root, Path(self._folder.name)),
        )

    def __enter__(self) -> ProcessPoolExecutor:
        return self._pool

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._folder.cleanup()


_copies: list[Copy] = []


def _init_worker(root: Path, folder: Path) -> None:
    die_with_parent()
    own = (folder / str(os.getpid())).resolve()
    own.mkdir()
    _copies.append(Copy(root, own))
    preload()


def _measure(stage: str) -> dict[str, Ran]:
    return STAGES[stage].measure(_copies[0])


def _attempt(stage: str, fault: Fault, wanted: list[str], usual: dict[str, Ran]) -> Row:
    with _copies[0].planted(fault):
        return STAGES[stage].attempt(_copies[0], wanted, usual)
