"""Hostile input, each in a process of its own: one clear line, exit 2, and nothing written."""

from pathlib import Path

import hostile
import pytest
from harness import Tracked, folders, run, run_long

from experiments.records.reading import read
from experiments.tracking.local import LocalTracker

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]


def refused(ended: tuple[int, str, str], answer: str) -> None:
    code, _, err = ended
    assert code == 2, err
    assert err.count("\n") == 1, err
    assert answer in err
    assert len(err) < 2100
    assert hostile.SECRET not in err


@pytest.mark.parametrize("name", hostile.COMMANDS)
def test_a_hostile_command_is_refused(outputs: Path, name: str) -> None:
    arguments, answer = hostile.COMMANDS[name]
    refused(run_long(outputs, arguments, BOOK_SECRET=hostile.SECRET), answer)
    assert not list(outputs.iterdir())


def test_hostile_experiment_files_are_refused(outputs: Path, tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    for name, answer in hostile.experiment_files(tmp_path / "conf", trap).items():
        for flags in ([], ["-m", "seed=1,2"]):
            file = ["run", "--config-dir", str(tmp_path / "conf"), *flags[:1]]
            given = [*file, f"experiment=hostile/{name}", *flags[1:]]
            refused(run(outputs, *given, BOOK_SECRET=hostile.SECRET), answer)
    assert not trap.exists()
    assert not list(outputs.iterdir())


def test_strange_text_is_kept_as_text(outputs: Path) -> None:
    title = hostile.as_override("source.title", hostile.TITLE)
    item = hostile.as_override("source.item", hostile.TITLE)
    sweep = ["run", "-m", "study=misbehaving", title, item]
    assert run(outputs, *sweep, "study.level=1,2")[0] == 0
    assert run(outputs, *sweep, "seed=1,2,3", "study.way=strange", "metric='nan'")[0] == 0
    code, _, err = run(outputs, "run", "study=misbehaving", title, item)
    assert code == 0, err
    assert len(folders(outputs)) == 6
    for path in folders(outputs):
        assert read(path)["printed"]["source"]["title"] == hostile.TITLE
    tracked = [run_.data.tags for run_ in Tracked(LocalTracker(outputs).uri).runs()]
    assert [tags["item"] for tags in tracked if tags["kind"] != "cell"] == 3 * [hostile.TITLE]
    notes = [tags.get("mlflow.note.content", "") for tags in tracked if tags["kind"] != "sweep"]
    assert not [note for note in notes if "<script>" in note]  # a sweep's has it in a code span


def test_damaged_records_are_told_in_a_line(outputs: Path, tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    assert run(outputs, "run", "study=misbehaving", "tracking=off")[0] == 0
    (folder,) = folders(outputs)
    arrays, record = folder / "arrays.npz", folder / "run.json"
    ways = {
        arrays: hostile.damaged_arrays(arrays, trap),
        record: hostile.damaged_record(record),
    }
    for file, damages in ways.items():
        whole = file.read_bytes()
        for damage in damages.values():
            damage()
            refused(run(outputs, "verify", folder.name), str(folder))
            file.write_bytes(whole)
    assert run(outputs, "verify", folder.name)[0] == 0
    assert not trap.exists()


@pytest.mark.parametrize("flags", [[], ["-m", "seed=range(0,4)", "jobs=2"]])
def test_a_data_file_with_the_wrong_hash(outputs: Path, tmp_path: Path, flags: list[str]) -> None:
    file = tmp_path / "data" / "fcml" / "kmeansdata" / "X.csv"
    file.parent.mkdir(parents=True)
    file.write_text("1,2\n" * 100)
    study = ["study=cluster_path", "study.data=fcml-kmeans", f"data.dir={tmp_path / 'data'}"]
    refused(run(outputs, "run", *flags[:1], *study, *flags[1:]), "is damaged or not the right one")
    assert not list(outputs.iterdir())
