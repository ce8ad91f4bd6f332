"""Tracked runs from the command line, compared with Hydra and MLflow without By the Book."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import Floor, Result, compare

PEERS = Path(__file__).parent / "peers"
READING = {  # commands that run no study
    "list every experiment": ["list"],
    "show one experiment": ["show", "fcml/fig-1.15"],
    "complete a word": ["complete", "bythebook", "show", "fcml/"],
}
FIGURE = """
import sys
from matplotlib.figure import Figure
figure = Figure()
figure.subplots().plot([1, 2, 3])
figure.savefig(sys.argv[1])
"""


def results() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        outputs = Path(folder)
        return [*(_reading(outputs, what) for what in READING), _single(outputs)]


def _reading(folder: Path, what: str) -> Result:
    return compare(
        what,
        "python -c 'import mlflow'",
        "one command",
        lambda: bythebook(folder, *READING[what]),
        lambda: _python("-c", "import mlflow"),
        goal="6",
        floor=Floor("python -c pass", lambda: _python("-c", "pass"), repeats=1),
    )


def _single(folder: Path) -> Result:
    bythebook(
        folder, "run", "experiment=fcml/fig-1.15"
    )  # creates the store and fills the file cache
    return compare(
        "one tracked run, recorded, judged and drawn",
        "Hydra, fluent MLflow, no record, no figure",
        "one command",
        lambda: bythebook(folder, "run", "experiment=fcml/fig-1.15", "force=true"),
        lambda: plain_hydra(folder, "seed=0"),
        goal="3",
        floor=Floor(
            "matplotlib imported and one bare figure saved",
            lambda: _python("-c", FIGURE, str(folder / "bare.png")),
            repeats=1,
        ),
    )


def bythebook(folder: Path, *arguments: str) -> None:
    _python("-m", "bythebook", *arguments, BYTHEBOOK_OUTPUTS=str(folder / "outputs"))


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
