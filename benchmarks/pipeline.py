"""The whole way: from the command line to a tracked run, against plain Hydra with MLflow."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import Result, compare

PEER = Path(__file__).parent / "peers" / "plain_hydra.py"
RUNS, PEER_RUNS = 200, 10


def results() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        return [_start_up(Path(folder)), _single(Path(folder)), *_sweeps(Path(folder))]


def _start_up(folder: Path) -> Result:
    return compare(
        "list every experiment",
        "python -c 'import mlflow'",
        "one command",
        lambda: bythebook(folder, "list"),
        lambda: _python("-c", "import mlflow"),
        goal="ours below 1 s",
    )


def _single(folder: Path) -> Result:
    bythebook(folder, "run", "experiment=fcml/fig-1.15")  # the store is made, files are warm
    return compare(
        "one tracked run, recorded, judged and drawn",
        "Hydra, fluent MLflow, no record, no figure",
        "one command",
        lambda: bythebook(folder, "run", "experiment=fcml/fig-1.15", "fresh=true"),
        lambda: plain_hydra(folder, "seed=0"),
        goal="ours below 3 s",
    )


def _sweeps(folder: Path) -> list[Result]:
    seeds = iter(range(0, 10**9, RUNS))

    def sweep(start: int) -> None:
        span = f"seed=range({start},{start + RUNS})"
        bythebook(folder, "run", "-m", "experiment=fcml/fig-1.15", span, "jobs=2")

    fresh = compare(
        "sweep, tracked, two processes",
        f"hydra -m, fluent MLflow ({PEER_RUNS} runs, scaled)",
        f"{RUNS} runs",
        lambda: sweep(next(seeds)),
        lambda: plain_hydra(folder, "-m", f"seed=range(0,{PEER_RUNS})"),
        goal=f"ours below {0.06 * RUNS:.0f} s (60 ms a run)",
        rounds=3,
        scale=RUNS / PEER_RUNS,
    )
    again = compare(
        "the same sweep again: all found",
        "the first time",
        f"{RUNS} runs",
        lambda: sweep(0),
        lambda: sweep(next(seeds)),
        goal="",
        rounds=3,
    )
    return [fresh, again]


def bythebook(folder: Path, *arguments: str) -> None:
    _python("-m", "experiments", *arguments, BYTHEBOOK_OUTPUTS=str(folder / "outputs"))


def plain_hydra(folder: Path, *arguments: str) -> None:
    store = f"store=sqlite:///{folder / 'plain.db'}"
    places = [f"hydra.run.dir={folder}/run", f"hydra.sweep.dir={folder}/sweep"]
    _python(str(PEER), *arguments, store, *places, MLFLOW_DISABLE_TELEMETRY="true")


def _python(*arguments: str, **variables: str) -> None:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(f"{arguments}: {done.stderr[-2000:]}")
