"""A copy of the source tree in which faults are planted and removed again."""

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.mutation_testing.faults import Fault

PARTS = ("src", "conf", "tests", "pyproject.toml")
_COMPILED = ("*.nbi", "*.nbc")  # the cache of numba


class Copy:
    """The tree of one worker, including the caches of Python and numba."""

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
        self.package = folder / "bythebook"  # the import name of src
        self.package.symlink_to("src")

    @contextmanager
    def planted(self, fault: Fault | None) -> Iterator[None]:
        """The tree with the fault within the block; afterwards the tree is restored.

        Python and numba identify a file by its size and the second of its last change. Every fault
        therefore gets its own second, and the original file gets its old time and its compiled
        code back.
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
        """The cache files of numba for a module."""
        cache = path.parent / "__pycache__"
        return {
            file: file.read_bytes()
            for pattern in _COMPILED
            for file in cache.glob(f"{path.stem}.{pattern}")
        }

    def enter(self) -> None:
        """Make this process, a child that ends after its work, use the copy."""
        assert "bythebook" not in sys.modules
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(self.folder))
        os.chdir(self.folder)
        import bythebook

        assert Path(bythebook.__file__ or "").is_relative_to(self.folder), bythebook.__file__


def digest(root: Path, *parts: str) -> str:
    """A digest of the source and data files in these folders."""
    sha256 = hashlib.sha256()
    for part in parts:
        for path in sorted((root / part).glob("**/*")):
            if path.suffix in (".py", ".yaml", ".csv", ".npz"):
                sha256.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return sha256.hexdigest()[:12]
