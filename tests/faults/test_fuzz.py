"""Property-based fuzzing of everything that reads files and text of users.

Each case must end in a result or a one-line error, take at most ten seconds, and write nothing
outside the outputs folder. `make test` runs some hundred cases, `make test-faults` 20,000.
"""

import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import fuzz
import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bythebook.experiments.cli import sweep_views
from bythebook.experiments.config import catalogue, errata, overrides, selection
from bythebook.experiments.config.hydra_compose import hydra_composer
from bythebook.experiments.config.job import job_from_record
from bythebook.experiments.config.validation import JobFactory, check_allowed_keys, load_job
from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.execution.runner import run_jobs
from bythebook.experiments.store import query, run_json, tags, verdict_cache
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_reader import load_summary, read_run
from bythebook.experiments.store.tables import write_tables
from bythebook.experiments.sweeps import recorded_sweeps, robustness
from bythebook.experiments.sweeps.grid import expand_sweep
from bythebook.experiments.tracking.payload import run_payload
from bythebook.models.data_sets import files
from bythebook.models.data_sets.kinds import DataError

# The numbers of cases in `make test` and in `make test-faults`.
CASES = {
    "record": (40, 4000),
    "bytes": (30, 2000),
    "sweep": (20, 1500),
    "siblings": (20, 1500),
    "overrides": (20, 2000),
    "file": (40, 4000),
    "errata": (20, 1000),
    "expression": (60, 3000),
    "selection": (20, 1000),
    "data": (60, 3000),
}
assert sum(many for _, many in CASES.values()) >= 20_000
CALM = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]


def fuzzed(name: str) -> pytest.MarkDecorator:
    """A test with few fixed cases, and with many in the long tests."""
    few, many = CASES[name]
    return pytest.mark.parametrize("cases", [few, pytest.param(many, marks=pytest.mark.faults)])


def run_cases(strategy: st.SearchStrategy[Any], check: Callable[[Any], object], cases: int) -> None:
    """Check so many cases."""

    @settings(
        max_examples=cases,
        derandomize=cases < 100,
        database=None,
        deadline=None,
        suppress_health_check=CALM,
    )
    @given(strategy)
    def case(drawn: Any) -> None:
        check(drawn)

    case()


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A folder that contains the outputs folder, to find files outside of it."""
    (tmp_path / "outputs").mkdir()
    return tmp_path


@pytest.fixture
def written(base: Path) -> Record:
    (done,) = run_jobs([load_job("fcml/fig-1.15")], base / "outputs")
    return read_run(done.record.folder)


def use_record(folder: Path) -> None:
    """Call everything that reads a record."""
    record = read_run(folder)
    assert record.title is not None
    for use in (
        lambda: record.verdicts,
        lambda: record.metrics,
        lambda: query.run_row(load_summary(folder), folder).content(),
        lambda: run_payload(record),
        lambda: job_from_record(record.content),
        lambda: write_tables(record, folder.parents[3] / "tables" / "x", ["csv", "md", "latex"]),
    ):
        fuzz.allowed(use, InputError)


@fuzzed("record")
def test_records(base: Path, written: Record, cases: int) -> None:
    """Records with a valid checksum and changed fields."""
    content = json.loads(json.dumps(written.content))
    folder = base / "outputs" / "runs" / "fuzz" / "a" / written.id
    folder.mkdir(parents=True)

    def check(drawn: Any) -> None:
        try:
            text = run_json.add_checksum(drawn).encode(errors="surrogatepass")
        except (ValueError, TypeError):  # not JSON
            return
        (folder / "run.json").write_bytes(text)
        fuzz.allowed(lambda: use_record(folder), InputError)

    run_cases(fuzz.changed(content), check, cases)
    assert fuzz.files_outside(base, base / "outputs") == set()


@fuzzed("bytes")
def test_bytes_of_records(base: Path, written: Record, cases: int) -> None:
    """Both files of a record with changed bytes."""
    names = [path.name for path in written.folder.iterdir() if path.is_file()]
    valid = {name: (written.folder / name).read_bytes() for name in names}

    def check(drawn: tuple[str, bytes]) -> None:
        name, raw = drawn
        path = written.folder / name
        path.write_bytes(raw)
        fuzz.allowed(lambda: use_record(written.folder), InputError)
        path.write_bytes(valid[name])

    some = st.sampled_from(names)
    run_cases(
        some.flatmap(lambda name: st.tuples(st.just(name), fuzz.corrupted(valid[name]))),
        check,
        cases,
    )
    assert fuzz.files_outside(base, base / "outputs") == set()


@fuzzed("sweep")
def test_sweeps(base: Path, cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from bythebook.experiments.cli.main import main

    outputs = base / "outputs"
    sweep = ["run", "-m", "study=polynomial_order", "study.partitions=5,10", "tracking=off"]
    assert main([*sweep, f"outputs={outputs}"]) == 0
    (path,) = outputs.glob("sweeps/*/sweep.json")
    valid = json.loads(path.read_text())

    def check(drawn: Any) -> None:
        path.write_text(json.dumps(drawn), encoding="utf-8", errors="surrogatepass")
        found, problems = recorded_sweeps.read_all(outputs)
        assert len(found) + len(problems) == 1
        for swept in found:
            fuzz.allowed(partial(sweep_views._content, swept), InputError)
            fuzz.allowed(partial(sweep_views._start_time, swept), InputError)
            fuzz.allowed(partial(recorded_sweeps.load_cells, swept, outputs), InputError)

    run_cases(fuzz.changed(valid), check, cases)
    assert fuzz.files_outside(base, outputs) == set()


@fuzzed("siblings")
def test_files_next_to_records(base: Path, written: Record, cases: int) -> None:
    outputs, folder = base / "outputs", written.folder
    name = "fcml/fig-1.15"
    verdict_cache.cached_verdict_counts(outputs, [name])
    robustness.save_counts(outputs, {name: (written["provenance"]["code"], {"a": [1, 2]})})
    tags.add_tags(folder, {"a": "b"})
    readers: dict[Path, Callable[[], object]] = {
        outputs / verdict_cache.FILE: lambda: verdict_cache.cached_verdict_counts(outputs, [name]),
        outputs / robustness.FILE: lambda: robustness.load_counts(outputs, written),
        folder / tags.FILE: lambda: query.run_row(
            load_summary(written.folder), written.folder
        ).content(),
    }

    def check(drawn: tuple[Path, Any]) -> None:
        path, content = drawn
        path.write_text(json.dumps(content), encoding="utf-8", errors="surrogatepass")
        fuzz.allowed(readers[path], InputError)

    some = st.sampled_from(sorted(readers))
    valid = {path: json.loads(path.read_text()) for path in readers}
    either = some.flatmap(
        lambda path: st.tuples(st.just(path), fuzz.junk | fuzz.changed(valid[path]))
    )
    run_cases(either, check, cases)


@fuzzed("overrides")
def test_command_lines(base: Path, cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse, compose and expand; nothing is run."""
    monkeypatch.chdir(base / "outputs")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)

    def compose(words: list[str]) -> None:
        try:
            options = overrides.parse_command_line(words)
        finally:
            monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
        with hydra_composer(options.overrides, options.config_dirs) as compose_config:
            if options.sweep:
                grid, _ = expand_sweep(options.words, compose_config)
                for cell in list(grid)[:3]:
                    assert cell.job.key
            else:
                assert compose_config(options.words).job_factory.job().key

    run_cases(
        fuzz.lines, lambda words: fuzz.allowed(lambda: compose(words), InputError, DataError), cases
    )
    assert fuzz.files_outside(base, base / "outputs") == set()


def load_file(path: Path) -> None:
    entry = catalogue.load_experiment_file(path, "mine/a")
    check_allowed_keys(entry.body)
    JobFactory(entry.study, entry.body, None, None).job()


@fuzzed("file")
def test_experiment_files(base: Path, cases: int) -> None:
    path = base / "a.yaml"
    body = catalogue.load_experiment("fcml/fig-1.15").body
    head = "# @package _global_\ndefaults:\n  - override /study: polynomial_order\n"

    def dumped(content: Any) -> str:
        return yaml.safe_dump(content, allow_unicode=True) if isinstance(content, dict) else ""

    def check(text: str) -> None:
        path.write_text(head + text, encoding="utf-8", errors="surrogatepass")
        fuzz.allowed(lambda: load_file(path), InputError, DataError)

    run_cases(fuzz.yaml_text | fuzz.changed(body).map(dumped), check, cases)


@fuzzed("errata")
def test_errata(base: Path, cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errata, "CONF_DIR", base)
    path = base / "errata" / "fcml" / "a.yaml"
    path.parent.mkdir(parents=True)
    real = next((catalogue.CONF_DIR / "errata").glob("*/*.yaml"))
    body = yaml.safe_load(real.read_text(encoding="utf-8"))

    def check(text: str) -> None:
        errata.load_erratum.cache_clear()
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        fuzz.allowed(lambda: errata.load_erratum("fcml", "a"), InputError)

    run_cases(fuzz.yaml_text | fuzz.changed(body).map(yaml.safe_dump), check, cases)
    errata.load_erratum.cache_clear()


@fuzzed("expression")
def test_expressions(cases: int) -> None:
    order = axis("order", range(5))
    outcome = Outcome(
        loss=order.of(np.arange(5.0)),
        loo_loss=over(np.ones((5, 2)), order, axis("set", ["train", "test"])),
        value=1.5,
        x=axis("x", [0.0, 0.5]).of([np.nan, np.inf]),
        draws=axis("draw", 3).of([1, 2, 3]),
    )

    def check(text: str) -> None:
        fuzz.allowed(lambda: evaluate(text, outcome), ExpressionError)

    run_cases(fuzz.expressions | st.text(max_size=30), check, cases)


@fuzzed("selection")
def test_selections(cases: int) -> None:
    def check(drawn: tuple[list[str], str | None]) -> None:
        words, search = drawn
        fuzz.allowed(lambda: selection.select_experiments(words, search), InputError)

    run_cases(st.tuples(fuzz.selections, st.none() | st.text(max_size=10)), check, cases)


def samples() -> Iterator[tuple[Callable[[bytes], Any], bytes]]:
    """Every parser with a file that it reads, except those of MATLAB files.

    SciPy's reader crashes on some corrupt MATLAB files. It is used only for the authors' files,
    which have known checksums.
    """
    yield files.numbers, b"0,1,2\n3,4,5\n"
    yield lambda content: files.places(content, ("a", "b")), b"a\nb\n"
    yield files.plain_text, "some téxt\r\n".encode()
    yield files.packed, files.pack(np.ones((2, 3, 3)), np.zeros(2))
    stream = io.BytesIO()
    np.savez_compressed(stream, pixels=np.ones((2, 3, 3)), labels=np.zeros(2), table=np.eye(3))
    yield files.grey, stream.getvalue()
    yield files.small_numbers, stream.getvalue()


@fuzzed("data")
@pytest.mark.filterwarnings("ignore")
def test_data_files(cases: int) -> None:
    known = list(samples())
    for parse, valid in known:
        assert files.parsed(Path("x"), valid, parse) is not None

    def check(drawn: tuple[int, bytes]) -> None:
        number, raw = drawn
        fuzz.allowed(lambda: files.parsed(Path("x"), raw, known[number][0]), DataError)

    some = st.integers(0, len(known) - 1)
    run_cases(
        some.flatmap(lambda i: st.tuples(st.just(i), fuzz.corrupted(known[i][1]) | st.binary())),
        check,
        cases,
    )
