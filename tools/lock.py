"""Resolve every version and write requirements.lock: `make lock`.

pip itself resolves (in seconds, without building anything); the lock names versions and no index.
Packages that one of the supported systems does not need carry their marker.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = "# Every version, resolved by `make lock`. Linux and macOS, Python 3.11 or newer.\n"
# What pip leaves out on Linux but other systems or Python versions need.
BUILD = ["setuptools", "wheel"]


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"], *BUILD]
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    done = subprocess.run(
        [*command, "--report", "-", *wanted], capture_output=True, text=True, check=True
    )
    report = json.loads(done.stdout[done.stdout.index("{") :])
    found = sorted(
        (item["metadata"]["name"], item["metadata"]["version"]) for item in report["install"]
    )
    lines = [f"{name}=={version}\n" for name, version in sorted(found, key=lambda p: p[0].lower())]
    (ROOT / "requirements.lock").write_text(HEADER + "".join(lines))
    print(f"{len(lines)} packages")


if __name__ == "__main__":
    main()
