"""Time of `bythebook reproduce` and its parts, without and with recorded runs, and of the report.

One process does everything, so that the parts add up: computing, writing tables, drawing and
logging are timed, and the rest is start-up (imports, configurations, look-ups, records). Figures
are drawn on demand; their time is measured separately.
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
    _run(["-m", "bythebook", *words], outputs)
    return time.perf_counter() - start


def _parts(outputs: Path, selection: list[str]) -> dict[str, float]:
    printed = _run(["-m", "benchmarks.whole", *selection], outputs)
    parts: dict[str, float] = json.loads(printed.splitlines()[-1])
    return parts


def _run(arguments: list[str], outputs: Path) -> str:
    environment = {**os.environ, "BYTHEBOOK_OUTPUTS": str(outputs)}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode > 1:  # 1 means an unexpected verdict
        raise RuntimeError(done.stderr[-2000:])
    return done.stdout


def _measure(selection: list[str]) -> None:
    """Run `reproduce` in its own process and time every part."""
    from bythebook.experiments.cli.main import main
    from bythebook.experiments.execution import worker
    from bythebook.experiments.store import artifacts
    from bythebook.experiments.tracking.tracker import FaultTolerantTracker

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

    clocked(worker, "compute", "computing")
    clocked(artifacts, "ensure_figures", "drawing")
    clocked(artifacts, "ensure_tables", "tables")
    clocked(FaultTolerantTracker, "put", "logging")
    main(["reproduce", "--jobs", "1", *selection])
    spent["start-up"] = time.process_time() - sum(spent.values())
    print(json.dumps(spent))


if __name__ == "__main__":
    _measure(sys.argv[1:])
