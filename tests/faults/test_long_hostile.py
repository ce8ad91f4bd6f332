"""Hostile input, each in a process of its own: one line, exit code 2, and no files."""

from pathlib import Path

import hostile
import pytest
from harness import Tracked, folders, run, run_long

from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.tracking.local import LocalTracker

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]


def assert_rejected(ended: tuple[int, str, str], answer: str) -> None:
    code, _, err = ended
    assert code == 2, err
    assert err.count("\n") == 1, err
    assert answer in err
    assert len(err) < 2100
    assert hostile.SECRET not in err


@pytest.mark.parametrize("name", hostile.COMMANDS)
def test_a_hostile_command_is_rejected(outputs: Path, name: str) -> None:
    arguments, answer = hostile.COMMANDS[name]
    assert_rejected(run_long(outputs, arguments, BOOK_SECRET=hostile.SECRET), answer)
    assert not list(outputs.iterdir())


def test_hostile_experiment_files_are_rejected(outputs: Path, tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    for name, answer in hostile.experiment_files(tmp_path / "conf", trap).items():
        for flags in ([], ["-m", "seed=1,2"]):
            file = ["run", "--config-dir", str(tmp_path / "conf"), *flags[:1]]
            words = [*file, f"experiment=hostile/{name}", *flags[1:]]
            assert_rejected(run(outputs, *words, BOOK_SECRET=hostile.SECRET), answer)
    assert not trap.exists()
    assert not list(outputs.iterdir())


def test_hostile_text_is_escaped(outputs: Path) -> None:
    title = hostile.as_override("source.title", hostile.TITLE)
    item = hostile.as_override("source.item", hostile.TITLE)
    sweep = ["run", "-m", "study=misbehaving", title, item]
    assert run(outputs, *sweep, "study.level=1,2")[0] == 0
    assert run(outputs, *sweep, "seed=1,2,3", "study.way=strange", "metric='nan'")[0] == 0
    code, _, err = run(outputs, "run", "study=misbehaving", title, item)
    assert code == 0, err
    assert len(folders(outputs)) == 6
    for path in folders(outputs):
        assert read_run(path)["printed"]["source"]["title"] == hostile.TITLE
    tracked = [run_.data.tags for run_ in Tracked(LocalTracker(outputs).uri).runs()]
    assert [tags["item"] for tags in tracked if tags["kind"] != "cell"] == 3 * [hostile.TITLE]
    notes = [tags.get("mlflow.note.content", "") for tags in tracked if tags["kind"] != "sweep"]
    assert not [
        note for note in notes if "<script>" in note
    ]  # the note of a sweep has it in inline code


def test_corrupt_records_are_reported_in_one_line(outputs: Path, tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    assert run(outputs, "run", "study=misbehaving", "tracking=off")[0] == 0
    (folder,) = folders(outputs)
    arrays, record = folder / "arrays.npz", folder / "run.json"
    corruptions = {
        arrays: hostile.corrupt_arrays(arrays, trap),
        record: hostile.corrupt_record(record),
    }
    for file, functions in corruptions.items():
        valid = file.read_bytes()
        for corrupt in functions.values():
            corrupt()
            assert_rejected(run(outputs, "verify", folder.name), str(folder))
            file.write_bytes(valid)
    assert run(outputs, "verify", folder.name)[0] == 0
    assert not trap.exists()


@pytest.mark.parametrize("flags", [[], ["-m", "seed=range(0,4)", "jobs=2"]])
def test_a_data_file_with_a_wrong_checksum(outputs: Path, tmp_path: Path, flags: list[str]) -> None:
    file = tmp_path / "data" / "fcml" / "kmeansdata" / "X.csv"
    file.parent.mkdir(parents=True)
    file.write_text("1,2\n" * 100)
    study = ["study=cluster_path", "study.data=fcml-kmeans", f"data_dir={tmp_path / 'data'}"]
    assert_rejected(
        run(outputs, "run", *flags[:1], *study, *flags[1:]), "is damaged or not the right one"
    )
    assert not list(outputs.iterdir())
