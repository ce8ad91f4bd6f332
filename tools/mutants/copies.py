"""A copy of the tree in which faults are planted and taken out again."""

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.mutants.faults import Fault

PARTS = ("src", "conf", "tests", "pyproject.toml")
_COMPILED = ("*.nbi", "*.nbc")  # numba's cache, beside Python's own


class Copy:
    """One worker's own tree, the caches of Python and numba included."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        self.models = folder / "src" / "models"
        self._planted = 0
        ignore = shutil.ignore_patterns("*.egg-info", "outputs")
        for part in PARTS:
            if (root / part).is_dir():
                shutil.copytree(root / part, folder / part, ignore=ignore)
            else:
                shutil.copy2(root / part, folder / part)

    @contextmanager
    def planted(self, fault: Fault | None) -> Iterator[None]:
        """The tree with the fault in it for the length of the block; then as it was.

        Python and numba know a file by its size and the second of its last change: every fault has
        a second of its own, and the file gets its old one back, with what was compiled of it.
        """
        if fault is None:
            yield
            return
        path = self.models / fault.file
        source, times, compiled = path.read_bytes(), path.stat(), self._compiled(path)
        self._planted += 1
        later = times.st_mtime_ns + self._planted * 10**9
        try:
            path.write_bytes(fault.planted(source))
            os.utime(path, ns=(later, later))
            yield
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            for stale in self._compiled(path):
                stale.unlink()
            for file, content in compiled.items():
                file.write_bytes(content)

    def _compiled(self, path: Path) -> dict[Path, bytes]:
        """What numba keeps of a module."""
        cache = path.parent / "__pycache__"
        return {
            file: file.read_bytes()
            for pattern in _COMPILED
            for file in cache.glob(f"{path.stem}.{pattern}")
        }

    def enter(self) -> None:
        """Make this process (a child that is thrown away) work with the copy."""
        assert not {"models", "experiments"} & set(sys.modules)
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(self.folder / "src"))
        os.chdir(self.folder)
        import models

        assert Path(models.__file__ or "").is_relative_to(self.folder), models.__file__


def digest(root: Path, *parts: str) -> str:
    """Of all that is written in these folders: the same trees have the same."""
    found = hashlib.sha256()
    for part in parts:
        for path in sorted((root / part).glob("**/*")):
            if path.suffix in (".py", ".yaml", ".csv", ".npz"):
                found.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return found.hexdigest()[:12]
