"""The whole way: from the command line to a tracked run, against plain Hydra with MLflow."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import Result, compare

PEERS = Path(__file__).parent / "peers"


def results() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        return [_start_up(Path(folder)), _single(Path(folder))]


def _start_up(folder: Path) -> Result:
    return compare(
        "list every experiment",
        "python -c 'import mlflow'",
        "one command",
        lambda: bythebook(folder, "list"),
        lambda: _python("-c", "import mlflow"),
        goal="",
    )


def _single(folder: Path) -> Result:
    bythebook(folder, "run", "experiment=fcml/fig-1.15")  # the store is made, files are warm
    return compare(
        "one tracked run, recorded, judged and drawn",
        "Hydra, fluent MLflow, no record, no figure",
        "one command",
        lambda: bythebook(folder, "run", "experiment=fcml/fig-1.15", "fresh=true"),
        lambda: plain_hydra(folder, "seed=0"),
        goal="",
    )


def bythebook(folder: Path, *arguments: str) -> None:
    _python("-m", "experiments", *arguments, BYTHEBOOK_OUTPUTS=str(folder / "outputs"))


def plain_hydra(folder: Path, *arguments: str, program: str = "plain_hydra.py") -> None:
    store = f"store=sqlite:///{folder / 'plain.db'}"
    places = [f"hydra.run.dir={folder}/run", f"hydra.sweep.dir={folder}/sweep"]
    _python(str(PEERS / program), *arguments, store, *places, MLFLOW_DISABLE_TELEMETRY="true")


def _python(*arguments: str, **variables: str) -> None:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(f"{arguments}: {done.stderr[-2000:]}")
