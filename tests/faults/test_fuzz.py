"""Property-based fuzzing of everything that reads what somebody else may have written.

No case may end in anything but an answer or a refusal of one line, take more than ten seconds, or
write outside the outputs folder. `make test` tries some hundred cases, `make test-faults` 20,000.
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

from experiments.commands import sweep_views
from experiments.configuration import arguments, catalogue, errata, selection
from experiments.configuration.build import Template, experiment_job, science_only
from experiments.configuration.compose import composer
from experiments.configuration.jobs import recorded_job
from experiments.contract.errors import BadInput
from experiments.contract.expressions import evaluate
from experiments.contract.labelled import BadExpression
from experiments.contract.outcome import Outcome, axis, over
from experiments.records import last_verdicts, listing, seal, tags
from experiments.records.reading import read, told
from experiments.records.record import Record
from experiments.records.tables import write_tables
from experiments.running.runner import perform_all
from experiments.sweeping import recorded, robustness
from experiments.sweeping.expand import cells
from experiments.tracking.runs import payload
from models.data_sets import files
from models.data_sets.kinds import DataError

# Cases in `make test` and in the long set, which promises 20,000.
CASES = {
    "record": (40, 4000),
    "bytes": (30, 2000),
    "sweep": (20, 1500),
    "beside": (20, 1500),
    "overrides": (20, 2000),
    "file": (40, 4000),
    "errata": (20, 1000),
    "expression": (60, 3000),
    "selection": (20, 1000),
    "data": (60, 3000),
}
assert sum(many for _, many in CASES.values()) >= 20_000
CALM = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]


def thrown(name: str) -> pytest.MarkDecorator:
    """A test of few cases, the same each time, and of many in the long set."""
    few, many = CASES[name]
    return pytest.mark.parametrize("cases", [few, pytest.param(many, marks=pytest.mark.faults)])


def throw(strategy: st.SearchStrategy[Any], check: Callable[[Any], object], cases: int) -> None:
    """Try so many cases."""

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
    """A folder with everything of the test in it: what is written elsewhere is seen."""
    (tmp_path / "outputs").mkdir()
    return tmp_path


@pytest.fixture
def written(base: Path) -> Record:
    (done,) = perform_all([experiment_job("fcml/fig-1.15")], base / "outputs")
    return read(done.record.folder)


def look_at(folder: Path) -> None:
    """All that is made of a record."""
    record = read(folder)
    assert record.title is not None
    for use in (
        lambda: record.verdicts,
        lambda: record.metrics,
        lambda: listing.row(told(folder), folder).content(),
        lambda: payload(record),
        lambda: recorded_job(record.content),
        lambda: write_tables(record, folder.parents[3] / "tables" / "x", ["csv", "md", "latex"]),
    ):
        fuzz.allowed(use, BadInput)


@thrown("record")
def test_records(base: Path, written: Record, cases: int) -> None:
    """Sealed, as anybody can: whatever a field is."""
    content = json.loads(json.dumps(written.content))
    folder = base / "outputs" / "runs" / "fuzz" / "a" / written.id
    folder.mkdir(parents=True)

    def check(drawn: Any) -> None:
        try:
            text = seal.sealed(drawn).encode(errors="surrogatepass")
        except (ValueError, TypeError):  # no JSON, so no record
            return
        (folder / "run.json").write_bytes(text)
        fuzz.allowed(lambda: look_at(folder), BadInput)

    throw(fuzz.changed(content), check, cases)
    assert fuzz.files_outside(base, base / "outputs") == set()


@thrown("bytes")
def test_bytes_of_records(base: Path, written: Record, cases: int) -> None:
    """Of either file of a record, with the digests that they would have."""
    names = [path.name for path in written.folder.iterdir() if path.is_file()]
    whole = {name: (written.folder / name).read_bytes() for name in names}

    def check(drawn: tuple[str, bytes]) -> None:
        name, raw = drawn
        path = written.folder / name
        path.write_bytes(raw)
        fuzz.allowed(lambda: look_at(written.folder), BadInput)
        path.write_bytes(whole[name])

    some = st.sampled_from(names)
    throw(some.flatmap(lambda name: st.tuples(st.just(name), fuzz.torn(whole[name]))), check, cases)
    assert fuzz.files_outside(base, base / "outputs") == set()


@thrown("sweep")
def test_sweeps(base: Path, cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments.cli import main

    outputs = base / "outputs"
    sweep = ["run", "-m", "study=polynomial_order", "study.folds=5,10", "tracking=off"]
    assert main([*sweep, f"outputs={outputs}"]) == 0
    (path,) = outputs.glob("sweeps/*/sweep.json")
    whole = json.loads(path.read_text())

    def check(drawn: Any) -> None:
        path.write_text(json.dumps(drawn), encoding="utf-8", errors="surrogatepass")
        found, problems = recorded.read_all(outputs)
        assert len(found) + len(problems) == 1
        for swept in found:
            fuzz.allowed(partial(sweep_views._content, swept), BadInput)
            fuzz.allowed(partial(sweep_views._when, swept), BadInput)
            fuzz.allowed(partial(recorded.cells, swept, outputs), BadInput)

    throw(fuzz.changed(whole), check, cases)
    assert fuzz.files_outside(base, outputs) == set()


@thrown("beside")
def test_files_beside_records(base: Path, written: Record, cases: int) -> None:
    outputs, folder = base / "outputs", written.folder
    name = "fcml/fig-1.15"
    last_verdicts.last_verdicts(outputs, [name])
    robustness.remember(outputs, {name: (written["provenance"]["code"], {"a": [1, 2]})})
    tags.add(folder, {"a": "b"})
    readers: dict[Path, Callable[[], object]] = {
        outputs / last_verdicts.FILE: lambda: last_verdicts.last_verdicts(outputs, [name]),
        outputs / robustness.FILE: lambda: robustness.remembered(outputs, written),
        folder / tags.FILE: lambda: listing.row(told(written.folder), written.folder).content(),
    }

    def check(drawn: tuple[Path, Any]) -> None:
        path, content = drawn
        path.write_text(json.dumps(content), encoding="utf-8", errors="surrogatepass")
        fuzz.allowed(readers[path], BadInput)

    some = st.sampled_from(sorted(readers))
    whole = {path: json.loads(path.read_text()) for path in readers}
    either = some.flatmap(
        lambda path: st.tuples(st.just(path), fuzz.junk | fuzz.changed(whole[path]))
    )
    throw(either, check, cases)


@thrown("overrides")
def test_command_lines(base: Path, cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read and composed, cells of sweeps counted; nothing is run."""
    monkeypatch.chdir(base / "outputs")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)

    def compose(words: list[str]) -> None:
        try:
            given = arguments.read(words)
        finally:
            monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
        with composer(given.overrides, given.config_dirs) as made:
            if given.sweep:
                grid, _ = cells(given.words, made)
                for cell in list(grid)[:3]:
                    assert cell.job.key
            else:
                assert made(given.words).template.job().key

    throw(
        fuzz.lines, lambda words: fuzz.allowed(lambda: compose(words), BadInput, DataError), cases
    )
    assert fuzz.files_outside(base, base / "outputs") == set()


def read_as_ours(path: Path) -> None:
    entry = catalogue.read_file(path, "mine/a")
    science_only(entry.body)
    Template(entry.study, entry.body, None, None).job()


@thrown("file")
def test_experiment_files(base: Path, cases: int) -> None:
    path = base / "a.yaml"
    ours = catalogue.read("fcml/fig-1.15").body
    head = "# @package _global_\ndefaults:\n  - override /study: polynomial_order\n"

    def dumped(content: Any) -> str:
        return yaml.safe_dump(content, allow_unicode=True) if isinstance(content, dict) else ""

    def check(text: str) -> None:
        path.write_text(head + text, encoding="utf-8", errors="surrogatepass")
        fuzz.allowed(lambda: read_as_ours(path), BadInput, DataError)

    throw(fuzz.yaml_text | fuzz.changed(ours).map(dumped), check, cases)


@thrown("errata")
def test_errata(base: Path, cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errata, "ROOT", base)
    path = base / "errata" / "fcml" / "a.yaml"
    path.parent.mkdir(parents=True)
    real = next((catalogue.ROOT / "errata").glob("*/*.yaml"))
    ours = yaml.safe_load(real.read_text(encoding="utf-8"))

    def check(text: str) -> None:
        errata.read.cache_clear()
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        fuzz.allowed(lambda: errata.read("fcml", "a"), BadInput)

    throw(fuzz.yaml_text | fuzz.changed(ours).map(yaml.safe_dump), check, cases)
    errata.read.cache_clear()


@thrown("expression")
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
        fuzz.allowed(lambda: evaluate(text, outcome), BadExpression)

    throw(fuzz.expressions | st.text(max_size=30), check, cases)


@thrown("selection")
def test_selections(cases: int) -> None:
    def check(drawn: tuple[list[str], str | None]) -> None:
        words, search = drawn
        fuzz.allowed(lambda: selection.select(words, search), BadInput)

    throw(st.tuples(fuzz.selections, st.none() | st.text(max_size=10)), check, cases)


def samples() -> Iterator[tuple[Callable[[bytes], Any], bytes]]:
    """Every parser with a file that it reads.

    But those of MATLAB files: SciPy's reader crashes on some that are torn, and so is given the
    authors' own alone, which are known by their digests.
    """
    yield files.numbers, b"0,1,2\n3,4,5\n"
    yield lambda content: files.places(content, ("a", "b")), b"a\nb\n"
    yield files.plain_text, "some téxt\r\n".encode()
    yield files.packed, files.pack(np.ones((2, 3, 3)), np.zeros(2))
    stream = io.BytesIO()
    np.savez_compressed(stream, pixels=np.ones((2, 3, 3)), labels=np.zeros(2), table=np.eye(3))
    yield files.grey, stream.getvalue()
    yield files.small_numbers, stream.getvalue()


@thrown("data")
@pytest.mark.filterwarnings("ignore")
def test_data_files(cases: int) -> None:
    known = list(samples())
    for parse, whole in known:
        assert files.parsed(Path("x"), whole, parse) is not None

    def check(drawn: tuple[int, bytes]) -> None:
        number, raw = drawn
        fuzz.allowed(lambda: files.parsed(Path("x"), raw, known[number][0]), DataError)

    some = st.integers(0, len(known) - 1)
    throw(
        some.flatmap(lambda i: st.tuples(st.just(i), fuzz.torn(known[i][1]) | st.binary())),
        check,
        cases,
    )
