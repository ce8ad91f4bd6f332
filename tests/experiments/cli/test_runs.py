"""`bythebook runs`: lists of recorded runs."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bythebook.experiments.cli import run
from bythebook.experiments.cli.main import main
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.store.run_store import RunStore

Capture = pytest.CaptureFixture[str]
SWEEP = ["-m", "study=polynomial_order", "study.partitions=2,3", "seed=0,1"]


@pytest.fixture
def swept(outputs: Path, recorded: Record, capsys: Capture) -> Path:
    """The four runs of a sweep, and the run of a result."""
    assert run.main([*SWEEP, "tracking=off", "--tag", "paper=fig3"]) == 0
    capsys.readouterr()
    return outputs


def ids(capsys: Capture, *words: str) -> list[str]:
    assert main(["runs", *words, "--json"]) == 0
    return [entry["run"] for entry in json.loads(capsys.readouterr().out)]


def test_selections(swept: Path, recorded: Record, capsys: Capture) -> None:
    everything = {folder.name for folder in RunStore(swept).folders()}
    cells = everything - {recorded.id}
    assert len(cells) == 4
    sweep = next((swept / "sweeps").iterdir()).name
    assert set(ids(capsys)) == everything
    assert ids(capsys, "fcml/1") == [recorded.id]
    assert set(ids(capsys, "study:polynomial_order")) == everything
    assert set(ids(capsys, f"sweep:{sweep.removeprefix('sweep-')[:5]}")) == cells
    assert set(ids(capsys, "--tag", "paper=fig3")) == cells
    assert ids(capsys, "--tag", "paper=fig4") == []
    assert set(ids(capsys, "--where", "folds == 3 and seed == 1")) < cells
    assert ids(capsys, "--search", "leave-one-out", "fcml/1") == [recorded.id]


def test_a_pipe_gets_one_line_per_row(swept: Path, capsys: Capture) -> None:
    assert main(["runs", "--sort", "seed", "--columns", "run,seed,folds"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["run", "seed", "folds"]
    assert len(lines) == 5
    seeds = [int(line.split()[1]) for line in lines]
    assert seeds == sorted(seeds)
    assert main(["runs", "--limit", "2"]) == 0
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 3
    assert "showing 2 of 5 runs" in captured.err


def test_the_newest_of_all_runs_are_shown(swept: Path, capsys: Capture) -> None:
    """For any order of reading and any limit, the order is that of all records."""
    folders = list(RunStore(swept).folders())
    started = {f.name: int(read_run(f)["provenance"]["started"] + 5e-7) for f in folders}
    newest = sorted(started, key=lambda run: -started[run])
    assert ids(capsys) == newest
    for limit in range(1, 7):
        assert main(["runs", "--limit", str(limit)]) == 0
        captured = capsys.readouterr()
        assert [line.split()[0] for line in captured.out.splitlines()[1:]] == newest[:limit]
        assert (f"showing {limit} of 5 runs" in captured.err) == (limit < 5)
    assert main(["runs", "--limit", "2", "--reverse"]) == 0
    oldest = sorted(started, key=lambda run: started[run])
    shown = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert shown == oldest[:2]


def test_json_has_the_format_of_pythons_json_module(swept: Path, capsys: Capture) -> None:
    for words in ([], ["--where", "seed < 0"]):
        assert main(["runs", *words, "--json"]) == 0
        text = capsys.readouterr().out
        assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"


def test_csv_has_all_digits(swept: Path, capsys: Capture) -> None:
    assert main(["runs", "study:polynomial_order", "--csv"]) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    for line in table:
        record = RunStore(swept).find(line["run"])
        assert float(line["loo_best_order"]) == record.metrics["loo_best_order"]
        assert int(line["seed"]) == record["science"]["seed"]


@pytest.mark.parametrize(
    "words",
    [
        ["--limit", "-1"],
        ["--sort", "sed"],
        ["--where", "sed<1"],
        ["--columns", "sed"],
        ["fcml/fig"],
    ],
)
def test_bad_input_is_one_line(swept: Path, words: list[str], refused: Callable[..., str]) -> None:
    assert refused("runs", *words)
