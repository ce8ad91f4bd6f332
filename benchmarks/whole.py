"""The whole: what `bythebook reproduce` spends its time on, cold and warm, and what looking costs.

One process does everything, so that the parts add up: the clock is read around computing, writing
tables, drawing and logging, and what is left is start-up (imports, configurations, look-ups,
records). Figures are drawn when somebody looks; what that takes is timed apart.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

PARTS = ("computing", "drawing", "tables", "logging", "start-up")
LOOKS = {
    "figures for MLflow, none drawn yet": ["sync"],
    "report, all figures as SVG": ["report"],
    "report, all figures found": ["report"],
    "report, PDF and PNG as well": ["report", "--format", "pdf,png"],
}


def report(selection: list[str]) -> str:
    """Wall time of the command, and the share of each part, as a table in Markdown."""
    lines = [
        "| `bythebook reproduce` | wall, two processes | CPU, one process | "
        + " | ".join(PARTS)
        + " |",
        "| --- | ---: | ---: |" + " ---: |" * len(PARTS),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for state in ("cold", "warm"):
            wall = _wall(Path(folder) / "two", "reproduce", *selection)
            parts = _parts(Path(folder) / "one", selection)
            total = sum(parts.values())
            shares = [f"{100 * parts.get(part, 0.0) / total:.0f} %" for part in PARTS]
            lines.append(f"| {state} | {wall:.1f} s | {total:.1f} s | " + " | ".join(shares) + " |")
        lines += ["", "| then | command | wall, two processes |", "| --- | --- | ---: |"]
        for what, words in LOOKS.items():
            wall = _wall(Path(folder) / "two", *words)
            lines.append(f"| {what} | `bythebook {' '.join(words)}` | {wall:.1f} s |")
    return "\n".join(lines)


def _wall(outputs: Path, *words: str) -> float:
    start = time.perf_counter()
    _run(["-m", "experiments", *words], outputs)
    return time.perf_counter() - start


def _parts(outputs: Path, selection: list[str]) -> dict[str, float]:
    told = _run(["-m", "benchmarks.whole", *selection], outputs)
    parts: dict[str, float] = json.loads(told.splitlines()[-1])
    return parts


def _run(arguments: list[str], outputs: Path) -> str:
    environment = {**os.environ, "BYTHEBOOK_OUTPUTS": str(outputs)}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode > 1:  # 1 is a claim that comes out otherwise than expected
        raise RuntimeError(done.stderr[-2000:])
    return done.stdout


def _measure(selection: list[str]) -> None:
    """In a process of its own: reproduce, with a clock around every part."""
    from experiments.cli import main
    from experiments.records import run_files
    from experiments.running import work
    from experiments.tracking.tracker import Forgiving

    spent: dict[str, float] = defaultdict(float)

    def clocked(owner: Any, name: str, part: str) -> None:
        action: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any, **options: Any) -> Any:
            start = time.process_time()
            try:
                return action(*arguments, **options)
            finally:
                spent[part] += time.process_time() - start

        setattr(owner, name, timed)

    clocked(work, "compute", "computing")
    clocked(run_files, "ensure_figures", "drawing")
    clocked(run_files, "ensure_tables", "tables")
    clocked(Forgiving, "put", "logging")
    main(["reproduce", "--jobs", "1", *selection])
    spent["start-up"] = time.process_time() - sum(spent.values())
    print(json.dumps(spent))


if __name__ == "__main__":
    _measure(sys.argv[1:])
