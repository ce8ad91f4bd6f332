"""Resolve every version and write requirements.lock and requirements-bench.lock: `make lock`.

pip itself resolves (in seconds, without building anything); a lock names versions and no index.
The second adds what the benchmarks compare with to the versions of the first.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = "# Every version, resolved by `make lock`. Linux and macOS, Python 3.11 or newer.\n"
BUILD = ["setuptools", "wheel"]  # for the editable install, which builds without isolation


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    everyday = resolve([*project["dependencies"], *extras["dev"], *BUILD])
    write("requirements.lock", everyday)
    pinned = [f"{name}=={version}" for name, version in everyday.items()]
    peers = resolve([*pinned, *extras["bench"]])
    write("requirements-bench.lock", {n: v for n, v in peers.items() if n not in everyday})


def resolve(wanted: list[str]) -> dict[str, str]:
    """Name and version of everything that the wanted packages need."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    done = subprocess.run(
        [*command, "--report", "-", *wanted], capture_output=True, text=True, check=True
    )
    report = json.loads(done.stdout[done.stdout.index("{") :])
    found = {item["metadata"]["name"]: item["metadata"]["version"] for item in report["install"]}
    return dict(sorted(found.items(), key=lambda pair: pair[0].lower()))


def write(name: str, versions: dict[str, str]) -> None:
    lines = [f"{package}=={version}\n" for package, version in versions.items()]
    (ROOT / name).write_text(HEADER + "".join(lines))
    print(f"{name}: {len(lines)} packages")


if __name__ == "__main__":
    main()
