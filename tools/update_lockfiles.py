"""Resolve all package versions and write the two lock files: `make update-lock`.

pip resolves the versions without building packages. requirements.lock contains the versions for
running and testing, without an index. requirements-bench.lock adds the packages that the benchmarks
compare with.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = "# Every version, resolved by `make update-lock`. Linux and macOS, Python 3.11 or newer.\n"
BUILD = ["setuptools", "wheel"]  # the editable install builds without isolation


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    locked = resolve([*project["dependencies"], *extras["dev"], *BUILD])
    write("requirements.lock", locked)
    pinned = [f"{name}=={version}" for name, version in locked.items()]
    peers = resolve([*pinned, *extras["bench"]])
    write("requirements-bench.lock", {n: v for n, v in peers.items() if n not in locked})


def resolve(requirements: list[str]) -> dict[str, str]:
    """Name and version of each package that the requirements need."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    completed = subprocess.run(
        [*command, "--report", "-", *requirements], capture_output=True, text=True, check=True
    )
    report = json.loads(completed.stdout[completed.stdout.index("{") :])
    versions = {item["metadata"]["name"]: item["metadata"]["version"] for item in report["install"]}
    return dict(sorted(versions.items(), key=lambda pair: pair[0].lower()))


def write(name: str, versions: dict[str, str]) -> None:
    lines = [f"{package}=={version}\n" for package, version in versions.items()]
    (ROOT / name).write_text(HEADER + "".join(lines))
    print(f"{name}: {len(lines)} packages")


if __name__ == "__main__":
    main()
