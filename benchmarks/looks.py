"""Time and memory of the commands that list and show many tracked runs."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

COMMANDS = {
    "the sweeps": ("list", "sweeps"),
    "fifty runs, the newest first": ("runs", "study:ridge_path"),
    "fifty runs of ten seeds": ("runs", "study:ridge_path", "--where", "seed < 10"),
    "tables": ("tables",),
    "the report": ("report",),
    "nothing to log": ("sync",),
}
NOT_CELLS = "tags.kind != 'cell'"


class Look(NamedTuple):
    """A command or request, its seconds, and its peak memory in bytes."""

    what: str
    how: str
    seconds: float
    peak: int | None = None


def table(outputs: Path) -> str:
    lines = ["| then | how | wall | peak memory |", "| --- | --- | ---: | ---: |"]
    for look in looks(outputs):
        peak = "" if look.peak is None else f"{look.peak / 2**20:.0f} MiB"
        lines.append(f"| {look.what} | {look.how} | {look.seconds:.2g} s | {peak} |")
        print(lines[-1], file=sys.stderr)
    return "\n".join(lines)


def looks(outputs: Path) -> Iterator[Look]:
    """Each command once, in its own process, and the pages of the MLflow UI."""
    for what, words in COMMANDS.items():
        start = time.perf_counter()
        process = _bythebook(outputs, *words, stdout=subprocess.DEVNULL)
        peak = peak_memory(process)
        if process.returncode != 0:
            raise RuntimeError(f"bythebook {' '.join(words)} failed")
        yield Look(what, f"`bythebook {' '.join(words)}`", _since(start), peak)
    yield from _pages(outputs)


def peak_memory(process: "subprocess.Popen[bytes]") -> int:
    """Wait for a process; its peak memory in bytes (`wait4` includes memory from before exec)."""
    peak, status = 0, Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        peak = max(peak, int(found[1]) * 1024 if found else 0)
        time.sleep(0.02)
    return peak


def _pages(outputs: Path) -> Iterator[Look]:
    """The start of the UI, the list of sweeps, and a page of the runs of one sweep."""
    port = _free_port()
    start = time.perf_counter()
    words = ("ui", "ridge_path", "--no-browser", "--port", str(port))
    with _bythebook(outputs, *words, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().decode()
            yield Look("the UI answers", f"`bythebook {' '.join(words[:2])}`", _since(start))
            found = re.search(r"experiments/(\d+)", address)
            assert found, address
            start = time.perf_counter()
            runs = _searched(port, found[1], NOT_CELLS)
            yield Look("its list of sweeps", "100 rows that are not cells", _since(start))
            parents = [run for run in runs if _tag(run, "kind") == "sweep"]
            start = time.perf_counter()
            own = f"tags.mlflow.parentRunId = '{parents[0]['info']['run_id']}'"
            _searched(port, found[1], own)
            yield Look("a sweep's cells", "its 100 newest", _since(start))
        finally:
            server.send_signal(signal.SIGTERM)


def _bythebook(outputs: Path, *words: str, stdout: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "bythebook", *words]
    environment = {**os.environ, "BYTHEBOOK_OUTPUTS": str(outputs)}
    return subprocess.Popen(command, env=environment, stdout=stdout, stderr=subprocess.DEVNULL)


def _searched(port: int, experiment: str, where: str) -> list[dict[str, Any]]:
    asked = {
        "experiment_ids": [experiment],
        "filter": where,
        "max_results": 100,
        "order_by": ["attributes.start_time DESC"],
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/ajax-api/2.0/mlflow/runs/search",
        data=json.dumps(asked).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        runs: list[dict[str, Any]] = json.load(answer)["runs"]
        return runs


def _tag(run: dict[str, Any], name: str) -> str | None:
    return next((tag["value"] for tag in run["data"]["tags"] if tag["key"] == name), None)


def _since(start: float) -> float:
    return time.perf_counter() - start


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
