"""Trials of commands that are killed: a table of commands, a harness, and counters.

A trial starts a command and may kill its process group, its first process, or one of its children.
Afterwards no process may be left, and no process may print a traceback.
"""

import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from harness import FAULTS, PATIENCE, counted, free_port, outcomes

MARK = "BYTHEBOOK_TRIAL"  # in the environment of all processes of a trial
GROUP, FIRST, CHILD = "group", "first", "child"
ENDING = 120  # seconds in which processes must notice the end of their parent
CELLS = 16
VARIANTS = (1, 2, 3)  # of a command, with different seeds or results
UNDISTURBED = 4  # the variant that is never killed


@dataclass(frozen=True)
class Row:
    """A command of the table, with fields such as {n}, {port} and {outputs} in its arguments."""

    words: str
    serves: bool = False  # runs until it is stopped
    fragile: bool = False  # exit code 1 is expected: a claim depends on the seed

    @property
    def varies(self) -> bool:
        return "{n}" in self.words

    def arguments(self, **values: object) -> list[str]:
        return self.words.format(**values).split()


SWEEP = f"run -m study=misbehaving study.seconds=0.05 study.level=range(0,{CELLS}) seed={{n}}"
TABLE = {
    "run": Row("run study=misbehaving study.seconds=0.5 seed={n}"),
    "sweep": Row(f"{SWEEP}1"),
    "pool": Row(f"{SWEEP}2 jobs=2"),
    "submitit": Row(f"{SWEEP}3 launcher=slurm launcher.cluster=local launcher.workers=2"),
    "dask": Row(f"{SWEEP}4 launcher=dask launcher.address={{dask}}"),
    "reproduce": Row("reproduce fcml/fig-3.{n}*"),
    "robustness": Row("robustness fcml/fig-3.18 --seeds 1{n}", fragile=True),
    "report": Row("report fcml/fig-3.1*"),
    "sync": Row("sync"),
    "tables": Row("tables fcml/fig-3.1*"),
    "figures": Row("figures fcml/fig-3.1*"),
    "verify": Row("verify {run}"),
    "notebook": Row("notebook fcml/fig-3.1 --force -o {outputs}/fig-3.1.ipynb"),
    "runs": Row("runs --json --limit 0"),
    "explore": Row("explore fcml/fig-3.1 --no-browser --port {port}", serves=True),
    "ui": Row("ui --no-browser --port {port}", serves=True),
}


@dataclass
class Trial:
    """A command in a session of its own, with its output in a file."""

    row: Row
    arguments: list[str]
    outputs: Path
    log: Path
    port: int = 0
    marked: str = field(default_factory=lambda: uuid.uuid4().hex)
    process: "subprocess.Popen[bytes]" = field(init=False)

    def __post_init__(self) -> None:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("MLFLOW_")}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "bythebook", *self.arguments],
                env={
                    **inherited,
                    "PYTHONPATH": str(FAULTS),
                    "BYTHEBOOK_OUTPUTS": str(self.outputs),
                    MARK: self.marked,
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def family(self) -> list[psutil.Process]:
        """All living processes of this trial, found by their common mark."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                own = process.environ().get(MARK) == self.marked
                if own and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def strike(self, victim: str, others: list[psutil.Process], chance: random.Random) -> bool:
        """Kill a process; return false if there is none to kill."""
        children = [p for p in [*self.family(), *others] if p.pid != self.process.pid]
        if self.process.poll() is not None or (victim == CHILD and not children):
            return False
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            if victim == CHILD:
                chance.choice(children).kill()
            elif victim == FIRST:
                self.process.kill()
            else:
                os.killpg(self.process.pid, signal.SIGKILL)
            counted("faults")
            return True
        return False

    def answers(self) -> bool:
        """Whether the command accepts connections."""
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def end(self) -> int:
        """Wait for the end of the command, or stop a server; count leaked processes."""
        if self.row.serves and self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(timeout=PATIENCE)
        deadline = time.monotonic() + ENDING
        while (left := self.family()) and time.monotonic() < deadline:
            time.sleep(0.1)
        for process in left:
            counted("leaked processes")
            report(f"left behind by {self.arguments}: {process.cmdline()}")
            process.kill()
        if "Traceback (most recent call last)" in (output := self.output()):
            counted("tracebacks")
            report(f"{self.arguments} ended with {code}:\n{output[-3000:]}")
        return code

    def output(self) -> str:
        return self.log.read_text(errors="replace")


def report(line: str) -> None:
    """Print a line that pytest does not capture."""
    print(line, file=sys.__stderr__, flush=True)


@dataclass
class Ground:
    """An outputs folder for trials, and the records that were seen in it."""

    outputs: Path
    logs: Path
    dask: str = ""
    dask_workers: Callable[[], list[psutil.Process]] = list
    seen: dict[str, str] = field(default_factory=dict)
    took: dict[str, float] = field(default_factory=dict)  # seconds of an undisturbed command
    _number: Iterator[int] = field(default_factory=lambda: iter(range(10**9)))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, name: str, variant: int) -> Trial:
        row, port = TABLE[name], free_port()
        values = {"n": variant, "port": port, "outputs": self.outputs, "dask": self.dask}
        log = self.logs / f"{next(self._number):04}-{name}.log"
        arguments = row.arguments(**values, run=self.some_run())
        return Trial(row, arguments, self.outputs, log, port)

    def finish(self, name: str, variant: int) -> None:
        """Run a command without disturbing it."""
        trial, started = self.begin(name, variant), time.monotonic()
        if trial.row.serves:
            deadline = time.monotonic() + PATIENCE
            while not trial.answers():
                assert trial.process.poll() is None, trial.output()
                assert time.monotonic() < deadline, trial.output()
                time.sleep(0.1)
            self.took[name] = 1.5 * (time.monotonic() - started)
        code = trial.end()
        self.took.setdefault(name, time.monotonic() - started)
        assert code in ((0, 1) if trial.row.fragile else (0,)), (trial.arguments, trial.output())

    def disturb(self, name: str, variant: int, victim: str, chance: random.Random) -> bool:
        """Run a command and kill it at a random time; return false if it ended before."""
        trial = self.begin(name, variant)
        moment = time.monotonic() + chance.uniform(0, self.took[name])
        while time.monotonic() < moment and trial.process.poll() is None:
            time.sleep(0.02)
        others = self.dask_workers() if name == "dask" else []
        struck = trial.strike(victim, others, chance)
        code = trial.end()
        expected = {0, 1} if trial.row.fragile else {0}
        if struck:
            expected |= {1, 2, -signal.SIGKILL}
        if trial.row.serves:
            expected |= {-signal.SIGTERM}  # stopped before it serves
        assert code in expected, (trial.arguments, code, trial.output())
        self.look()
        return struck

    def look(self) -> None:
        """Remember the records that exist now; they must exist at the end."""
        with self._lock:
            self.seen |= outcomes(self.outputs)

    def some_run(self) -> str:
        """The key of a run, which is the beginning of its id."""
        return next(iter(self.seen), "none")

    def count(self, undisturbed: dict[str, str]) -> None:
        """Count lost and duplicated records, on disk and in the tracking store."""
        found = outcomes(self.outputs)
        counted("records", len(found))
        expected = [*undisturbed.items(), *self.seen.items()]
        missing = sorted({key for key, bits in expected if found.get(key) != bits})
        logged = logged_times(self.outputs)
        keys = Counter(name.partition("@")[0].partition("-")[0] for name in logged)
        unlogged = [key for key in found if not keys[key]]
        twice = [name for name, times in logged.items() if times > 1]
        for name, which in (
            ("lost", missing + unlogged),
            ("duplicated", twice),
        ):
            counted(name, len(which))
            if which:
                report(f"{name}: {which[:10]}")


def logged_times(outputs: Path) -> Counter[str]:
    """The number of runs in the local tracking store, for each record and sweep."""
    with closing(sqlite3.connect(outputs / "mlflow.db", timeout=PATIENCE)) as database:
        rows = database.execute(
            "SELECT value FROM tags JOIN runs USING (run_uuid)"
            " WHERE key = 'bythebook.run_id' AND lifecycle_stage = 'active'"
        ).fetchall()
    return Counter(value for (value,) in rows)
