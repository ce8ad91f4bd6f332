"""Start Python processes that import nothing from the current folder.

`python -c` and `python -m` put the current folder first on `sys.path`, and `multiprocessing` hands
the path of its parent to every process. A file called random.py in a folder of downloads
would then run instead of Python's own.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SAFE_PATH = {"PYTHONSAFEPATH": "1"}  # environment of a process that ignores its current folder


@contextmanager
def safe_path() -> Iterator[None]:
    """Processes that start meanwhile search all of `sys.path` except the current folder."""
    before = {name: os.environ.get(name) for name in SAFE_PATH}
    path = sys.path
    os.environ |= SAFE_PATH
    sys.path = [folder for folder in path if not _is_current_folder(folder)]
    try:
        yield
    finally:
        sys.path = path
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _is_current_folder(folder: str) -> bool:
    try:
        return not folder or Path(folder).samefile(".")
    except OSError:
        return False
