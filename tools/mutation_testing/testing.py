"""Runs the tests of the models, with or without a fault in the tree."""

import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tools.mutation_testing.calls import Calls, record_kernels
from tools.mutation_testing.children import Broke, Hung, in_child
from tools.mutation_testing.copies import Copy
from tools.mutation_testing.runs import Ran, time_limit

TESTS = "tests/models"


class _Tests:
    """A pytest plugin that selects and orders the tests, or records what each test calls."""

    def __init__(self, copy: Copy, wanted: list[str] | None = None) -> None:
        self.source = copy.package
        self.wanted = wanted
        self.ran: dict[str, Ran] = {}
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.wanted is not None:
            position = {test: i for i, test in enumerate(self.wanted)}
            items[:] = sorted(
                (item for item in items if item.nodeid in position),
                key=lambda i: position[i.nodeid],
            )

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool | None:
        """Run a test as pytest does, and record what it calls."""
        if self.wanted is not None:
            return None
        from _pytest.runner import runtestprotocol

        clear_caches()
        calls = Calls(self.source)
        started = time.perf_counter()
        with record_kernels(calls), calls.recorded():
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


def clear_caches() -> None:
    """Clear the caches of the models, so that each test calls what it needs."""
    for name, module in list(sys.modules.items()):
        if name.startswith("bythebook.models."):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def _pytest(copy: Copy, files: Iterable[str], wanted: list[str] | None) -> _Tests:
    """Run tests in this process, a child, with the same hypothesis examples every time."""
    copy.enter()
    import hypothesis
    import pytest

    hypothesis.settings.register_profile("same", deadline=None, derandomize=True, database=None)
    hypothesis.settings.load_profile("same")
    plugin = _Tests(copy, wanted)
    options = ["-x", "-q", "-p", "no:cacheprovider", "--rootdir", str(copy.folder)]
    options += ["--confcutdir", str(copy.folder / TESTS)]  # the top conftest.py needs the pipeline
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # imported before the fork
    code = pytest.main([*options, *files], plugins=[plugin])
    if code == pytest.ExitCode.USAGE_ERROR or (wanted is None and plugin.failed):
        raise RuntimeError(f"the tests cannot be run: {plugin.failed}")
    return plugin


def measure_tests(copy: Copy) -> dict[str, Ran]:
    """Measure every test of the models: time and called functions."""
    outcome = in_child(lambda: _pytest(copy, [TESTS], None).ran)
    if isinstance(outcome, Hung | Broke):
        raise RuntimeError(f"the tests without a fault: {outcome}")
    return {test: ran for test, ran in outcome.items() if ran.verdicts}


def try_tests(copy: Copy, wanted: list[str], usual: Mapping[str, Ran]) -> list[str]:
    """The first test that fails, if any; tests that do not end count as failed."""
    if not wanted:
        return []
    files = sorted({test.partition("::")[0] for test in wanted})
    seconds = time_limit(sum(usual[test].seconds for test in wanted))
    outcome = in_child(lambda: _pytest(copy, files, wanted).failed[:1], seconds)
    if isinstance(outcome, Hung):
        return ["(hangs)"]
    return [f"({outcome.error})"] if isinstance(outcome, Broke) else outcome


def path_of_tests(file: str) -> str:
    """The test file of a module."""
    path = Path(file)
    return f"{TESTS}/{path.with_name(f'test_{path.name}')}"
