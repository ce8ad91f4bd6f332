"""Run tests of the models, plain or with a fault in the tree."""

import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tools.mutants.calls import Calls, kernels_seen
from tools.mutants.children import Broke, Hung, in_child
from tools.mutants.copies import Copy
from tools.mutants.runs import Ran, limit

TESTS = "tests/models"


class _Tests:
    """A pytest plugin: choose the tests and their order, or note what each of them calls."""

    def __init__(self, copy: Copy, wanted: list[str] | None = None) -> None:
        self.source = copy.folder / "src"
        self.wanted = wanted
        self.ran: dict[str, Ran] = {}
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.wanted is not None:
            place = {test: i for i, test in enumerate(self.wanted)}
            items[:] = sorted(
                (item for item in items if item.nodeid in place), key=lambda i: place[i.nodeid]
            )

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool | None:
        """Run a test as pytest does, and note what it calls."""
        if self.wanted is not None:
            return None
        from _pytest.runner import runtestprotocol

        forget()
        calls = Calls(self.source)
        started = time.perf_counter()
        with kernels_seen(calls), calls.recorded():
            reports = runtestprotocol(item, nextitem=nextitem)
        passed = all(report.passed for report in reports)
        functions = sorted(calls.functions)
        seconds = time.perf_counter() - started
        self.ran[item.nodeid] = Ran(seconds, functions, ["passed"] if passed else [], {})
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


def forget() -> None:
    """Empty the caches of the models: what one test has loaded, the next would not call."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "models":
            for kept in list(vars(module).values()):
                if hasattr(kept, "cache_clear"):
                    kept.cache_clear()


def _pytest(copy: Copy, files: Iterable[str], wanted: list[str] | None) -> _Tests:
    """Run tests in this process, a child; the same examples of hypothesis every time."""
    copy.enter()
    import hypothesis
    import pytest

    hypothesis.settings.register_profile("same", deadline=None, derandomize=True, database=None)
    hypothesis.settings.load_profile("same")
    plugin = _Tests(copy, wanted)
    options = ["-x", "-q", "-p", "no:cacheprovider", "--rootdir", str(copy.folder)]
    options += ["--confcutdir", str(copy.folder / TESTS)]  # that of all tests needs the pipeline
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # imported before the fork
    code = pytest.main([*options, *files], plugins=[plugin])
    if code == pytest.ExitCode.USAGE_ERROR or (wanted is None and plugin.failed):
        raise RuntimeError(f"the tests cannot be run: {plugin.failed}")
    return plugin


def measure_tests(copy: Copy) -> dict[str, Ran]:
    """Every test of the models: how long it takes, and what it calls."""
    found = in_child(lambda: _pytest(copy, [TESTS], None).ran)
    if isinstance(found, Hung | Broke):
        raise RuntimeError(f"the tests without a fault: {found}")
    return {test: ran for test, ran in found.items() if ran.verdicts}


def try_tests(copy: Copy, wanted: list[str], usual: Mapping[str, Ran]) -> list[str]:
    """The test that fails first, if one does; one that hangs has noticed too."""
    if not wanted:
        return []
    files = sorted({test.partition("::")[0] for test in wanted})
    seconds = limit(sum(usual[test].seconds for test in wanted))
    found = in_child(lambda: _pytest(copy, files, wanted).failed[:1], seconds)
    if isinstance(found, Hung):
        return ["(hangs)"]
    return [f"({found.error})"] if isinstance(found, Broke) else found


def path_of_tests(file: str) -> str:
    """Where the tests of a module are."""
    path = Path(file)
    return f"{TESTS}/{path.with_name(f'test_{path.name}')}"
