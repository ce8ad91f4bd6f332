"""Machine, versions and date of a measurement, shown above every table of the page."""

import os
import platform
import re
from datetime import date
from importlib import metadata
from pathlib import Path

OURS = ("numpy", "scipy", "numba", "matplotlib", "hydra-core", "mlflow")


def stamp(seconds: float, packages: list[str]) -> str:
    """The description as a sentence; `packages` are import names of the other packages."""
    installed = metadata.packages_distributions()
    peers = {installed[name][0] for name in packages if name in installed}
    versions = [f"{name} {metadata.version(name)}" for name in (*OURS, *sorted(peers - {*OURS}))]
    return (
        f"Measured {date.today().isoformat()} in {seconds:.0f} s on {processor()}"
        f" ({cores()} cores, {memory()}), {platform.system()}, Python {platform.python_version()}:"
        f" {', '.join(versions)}."
    )


def processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory() -> str:
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return "memory unknown"
    return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB"
