"""The commands as a user types them: what they print, what they leave, how they exit."""

import json
from pathlib import Path

import numpy as np
import pytest

from experiments.cli import main
from experiments.configuration import catalogue
from experiments.records.store import RunStore

Capture = pytest.CaptureFixture[str]


def test_list_shows_every_experiment_and_its_last_verdict(outputs: Path, capsys: Capture) -> None:
    assert main(["list", "--json"]) == 0
    before = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert list(before) == catalogue.names()
    assert before["fcml/fig-1.15"]["last"] is None
    assert main(["run", "experiment=fcml/fig-1.15", "tracking=off", "figures=false"]) == 0
    capsys.readouterr()
    assert main(["list", "fcml", "--json"]) == 0
    after = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert after["fcml/fig-1.15"]["last"]["reproduced"] >= 1
    assert after["fcml/fig-1.15"]["study"] == "polynomial_order"
    assert main(["list"]) == 0
    assert "Figure 1.15" in capsys.readouterr().out


def test_show_tells_what_the_book_says_and_what_came_of_it(outputs: Path, capsys: Capture) -> None:
    assert main(["show", "fcml/fig-1.15"]) == 0
    text = capsys.readouterr().out
    assert "not run yet" in text
    assert "bythebook run experiment=fcml/fig-1.15" in text
    assert "orders" in text
    main(["run", "experiment=fcml/fig-1.15", "tracking=off", "figures=false"])
    capsys.readouterr()
    assert main(["show", "fcml/fig-1.15", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["last"]["verdicts"][0]["verdict"] == "reproduced"
    assert {"knob", "value", "allowed", "doc"} <= shown["knobs"][0].keys()
    assert main(["show", "study:polynomial_order"]) == 0
    assert "holdout_from" in capsys.readouterr().out


def test_reproduce_judges_finds_and_prints_one_record_a_claim(
    outputs: Path, tracked: object, capsys: Capture
) -> None:
    assert main(["reproduce", "fcml/fig-1.15", "fcml/fig-1.12", "--jobs", "1", "--json"]) == 0
    claims = json.loads(capsys.readouterr().out)
    needed = {"experiment", "claim", "printed", "computed", "verdict", "data_grade"}
    assert all(needed <= claim.keys() for claim in claims)
    assert {claim["experiment"] for claim in claims} == {"fcml/fig-1.15", "fcml/fig-1.12"}
    assert main(["reproduce", "fcml/fig-1.15", "--jobs", "1"]) == 0
    assert "0 computed now, 1 found" in capsys.readouterr().out
    assert main(["reproduce", "fcml/fig-1.15", "--jobs", "1", "--fresh"]) == 0
    assert len(list((outputs / "runs" / "fcml" / "fig-1.15").iterdir())) == 2


def test_reproduce_fails_when_a_claim_surprises(
    outputs: Path, tracked: object, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    from experiments.commands import reproduce
    from experiments.configuration.build import experiment_job
    from experiments.configuration.jobs import Printed
    from experiments.contract.claims import Claim
    from experiments.records import store

    job = experiment_job("fcml/fig-1.15")
    printed = next(claim for claim in job.claims if claim.printed == "3")
    wrong = type(job)(
        job.study,
        printed=Printed(job.source, (Claim(printed.says, printed.value, printed="4"),)),
        experiment=job.experiment,
        canonical=True,
    )
    monkeypatch.setattr(reproduce, "experiment_job", lambda *_: wrong)
    monkeypatch.setattr(store, "experiment_job", lambda *_: wrong)
    assert main(["reproduce", "fcml/fig-1.15", "--jobs", "1"]) == 1
    assert "differs, expected reproduced (printed 4, computed 3" in capsys.readouterr().err


def test_figures_and_tables_come_from_the_record_alone(
    outputs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from experiments.studies.regression.polynomial_order import PolynomialOrder

    assert main(["run", "experiment=fcml/fig-1.15", "tracking=off", "figures=false"]) == 0
    monkeypatch.setattr(PolynomialOrder, "run", lambda *_: pytest.fail("it computed"))
    for style in ("screen", "print"):
        formats = ["--format", "png,pdf,svg", "--style", style]
        assert main(["figures", "fcml/fig-1.15", *formats]) == 0
        folder = outputs / "figures" / style / "fcml" / "fig-1.15"
        first = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert {Path(name).suffix for name in first} == {".png", ".pdf", ".svg"}
        assert main(["figures", "fcml/fig-1.15", *formats]) == 0
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == first
    assert main(["tables", "fcml/fig-1.15"]) == 0
    written = {path.name for path in (outputs / "tables" / "fcml" / "fig-1.15").iterdir()}
    assert {"order.csv", "order.md", "order.tex", "claims.csv"} <= written


def test_figures_of_one_run_and_of_a_sweeps_cells(outputs: Path, capsys: Capture) -> None:
    sweep = ["run", "-m", "study=polynomial_order", "study.methods=[kfold]", "seed=0,1"]
    assert main([*sweep, "tracking=off"]) == 0
    (folder,) = (outputs / "sweeps").iterdir()
    first, second = (path.name for path in RunStore(outputs).folders())
    assert main(["figures", f"run:{first[:10]}", f"sweep:{folder.name}"]) == 0
    place = outputs / "figures" / "screen"
    cells = Path("sweeps", folder.name)
    assert {path.relative_to(place) for path in place.rglob("*.png")} == {
        Path("runs", first, "kfold.png"),
        cells / "sweep.png",
        cells / first / "kfold.png",
        cells / second / "kfold.png",
    }
    capsys.readouterr()
    assert main(["figures", "sweep:sweep-of-dust"]) == 2
    assert f"there are: {folder.name}" in capsys.readouterr().err
    assert main(["figures", "run:../x"]) == 2


def test_a_run_that_no_longer_fits_its_study_costs_a_line(outputs: Path, capsys: Capture) -> None:
    names = ["fcml/fig-1.15", "fcml/fig-1.5"]
    assert main(["reproduce", *names, "--jobs", "1", "--tracking", "off"]) == 0
    record = RunStore(outputs).latest(names[1])
    assert record is not None
    (record.folder / "arrays.npz").unlink()
    capsys.readouterr()
    assert main(["figures", *names]) == 1
    told = capsys.readouterr()
    assert told.err.startswith(f"bythebook: {record.id} cannot be drawn: the ")
    assert (outputs / "figures" / "screen" / names[0] / "loo.png").exists()


def test_verify_compares_every_bit(
    outputs: Path, tracked: object, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from experiments.studies.regression import polynomial_order
    from models.regression.polynomials import loo_loss

    main(["run", "experiment=fcml/fig-1.15", "figures=false"])
    (folder,) = RunStore(outputs).folders()
    capsys.readouterr()
    assert main(["verify", folder.name]) == 0
    assert "identical to the last bit" in capsys.readouterr().out
    path = folder / "run.json"
    text = path.read_text()
    path.write_text(text.replace('"loo_loss"', '"lost"'))
    assert main(["verify", folder.name]) == 2
    assert "outcome is not what was written" in capsys.readouterr().err
    path.write_text(text)
    monkeypatch.setattr(polynomial_order, "loo_loss", lambda fits: np.nextafter(loo_loss(fits), 1))
    assert main(["verify", folder.name]) == 1
    assert "1 quantities differ: loo_loss" in capsys.readouterr().out


def test_verify_takes_mlflows_id_too(outputs: Path, tracked: object, capsys: Capture) -> None:
    import sqlite3

    main(["run", "experiment=fcml/fig-1.15", "figures=false"])
    with sqlite3.connect(outputs / "mlflow.db") as database:
        ((run_id,),) = database.execute("SELECT run_uuid FROM runs").fetchall()
    assert main(["verify", run_id]) == 0
    assert main(["verify", "0" * 32]) == 2


def test_sync_logs_what_was_not_logged_once(
    outputs: Path, tracked: object, capsys: Capture
) -> None:
    main(["run", "experiment=fcml/fig-1.15", "tracking=off"])
    main(["run", "-m", "study=polynomial_order", "study.folds=3,5", "tracking=off"])
    capsys.readouterr()
    assert main(["sync"]) == 0
    assert capsys.readouterr().out == "3 runs logged, 0 were there already\n"
    assert main(["sync"]) == 0
    assert capsys.readouterr().out == "0 runs logged, 4 were there already\n"


def test_a_server_that_is_not_there_costs_a_line_and_no_run(
    outputs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.tracking.client.PAUSES", (0.1,))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "the command sets it")
    address = "http://user:secret@127.0.0.1:9"
    assert (
        main(["run", "experiment=fcml/fig-1.15", "tracking=server", f"tracking.uri={address}"]) == 0
    )
    told = capsys.readouterr().err
    assert "not tracked" in told
    assert "bythebook sync" in told
    assert "secret" not in told
    (folder,) = RunStore(outputs).folders()
    assert "secret" not in (folder / "run.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["study=polynomial_order", "study.ordrs=[1]"],
            "there is no 'study.ordrs' (did you mean 'orders'?)",
        ),
        (["study=polynomial_order", "+study.typo=1"], "there is no 'study.typo'"),
        (
            ["study=polynomial_order", "study.orders=[a]"],
            'study.orders=["a"]: a is not allowed; allowed: list[int]',
        ),
        (
            ["study=polynomial_order", "study.orders=[-1]"],
            "study.orders=[-1]: -1 is not allowed; allowed: list[int], >= 0",
        ),
        (["study=polynomial_order", "study.orders=[]"], "study.orders=[] is empty"),
        (
            ["study=polynomial_order", "study.folds=many"],
            "study.folds=many is not allowed; allowed: int",
        ),
        (["study=polynomial_order", "study.data=nope"], "study.data=nope"),
        (["study=polynomial_order", "study.data=${oc.env:HOME}"], "calls a resolver"),
        (["study=polynomial_order", "study._target_=os.system"], "there is no 'study._target_'"),
        (
            ["study=polynomial_odor"],
            "there is no study 'polynomial_odor' (did you mean 'polynomial_order'?)",
        ),
        (["study=[1,2]"], "study=[1,2]"),
        (["experiment=fcml/fig-1.51"], "there is no experiment 'fcml/fig-1.51' (did you mean"),
        (["experiment=../../etc/passwd"], "there is no experiment"),
        (["seeed=1"], "there is no 'seeed' (did you mean 'seed'?)"),
        (["study=polynomial_order", "seed=-1"], "seed=-1 is not allowed"),
        (["study=polynomial_order", "jobs=0"], "jobs=0 is not allowed"),
        (["study=polynomial_order", "study.orders=[1"], "study.orders=[1"),
        (
            ["study=polynomial_order", "tracking=cloud"],
            "there is no tracking 'cloud'; allowed: local, off, server",
        ),
        (
            ["study=polynomial_order", "outputs=/proc/nowhere"],
            "cannot write to the outputs folder /proc/nowhere",
        ),
        (
            ["study=polynomial_order", "data.dir=/nonexistent"],
            "data.dir=/nonexistent is not a folder",
        ),
        ([], "nothing to run"),
    ],
)
def test_bad_input_is_one_clear_line(
    arguments: list[str], line: str, outputs: Path, capsys: Capture
) -> None:
    assert main(["run", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1, told.err
    assert told.err.startswith("bythebook: ")
    assert line in told.err
    assert not list(outputs.iterdir()), "something was left half-written"


@pytest.mark.parametrize(
    "arguments",
    [
        ["reproduce", "fcml/fig-0.0"],
        ["reproduce", "--jobs", "0"],
        ["reproduce", "--tracking", "cloud"],
        ["figures", "--format", "gif"],
        ["figures", "sweep:none"],
        ["ui", "no_such_study"],
        ["sync", "--tracking", "server", "--tracking-uri", "nonsense"],
        ["reproduce", "fcml/fig-1.15", "--tracking", "server", "--tracking-uri", "nonsense"],
        ["figures", "--style", "neon"],
        ["tables", "--format", "docx"],
        ["show", "fcml/fig-1.51"],
        ["show", "study:none"],
        ["verify", "../x"],
        ["verify", "abcdef"],
        ["ui", "--port", "0"],
        ["ui", "--host", "256.0.0.1"],
    ],
)
def test_other_commands_refuse_in_one_line_too(
    arguments: list[str], outputs: Path, capsys: Capture
) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert not list(outputs.iterdir())


def test_a_damaged_data_file_is_named(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    from models import datasets

    copy = tmp_path / "olympics-100m-women.csv"
    copy.write_text((datasets._HERE / copy.name).read_text().replace("12.2", "12.3"))
    monkeypatch.setattr(datasets, "_HERE", tmp_path)
    datasets._load.cache_clear()
    try:
        assert main(["run", "study=polynomial_order", "study.data=olympics-100m-women"]) == 2
    finally:
        datasets._load.cache_clear()
    told = capsys.readouterr().err
    assert "is damaged or not the right one" in told
    assert told.count("\n") == 1


def test_help_fits_a_screen_and_points_on(outputs: Path, capsys: Capture) -> None:
    assert main(["run", "--help"]) == 0
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 25
    assert "run --help <study>" in text
    assert main(["run", "--hydra-help"]) == 0
    assert "--config-dir" in capsys.readouterr().out
    assert main(["run", "--help", "polynomial_order"]) == 0
    text = capsys.readouterr().out
    assert "holdout_from" in text
    assert "loo_loss" in text  # a quantity
    assert "order (" in text  # with its axis


def test_hydras_flags_work(outputs: Path, capsys: Capture) -> None:
    assert main(["run", "fcml/fig-1.15", "--cfg", "job", "--package", "study"]) == 0
    assert "holdout_from: 1980" in capsys.readouterr().out
    assert main(["run", "fcml/fig-1.15", "seed=3", "--cfg", "job"]) == 0
    assert "seed: 3" in capsys.readouterr().out
    assert main(["run", "fcml/fig-1.15", "--info", "defaults"]) == 0
    assert main(["run", "fcml/fig-1.15", "--cfg", "job", "--package", "nope"]) == 2
    assert not list(outputs.iterdir())


def test_rewording_computes_nothing(
    outputs: Path, tracked: object, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claims, words and drawing are no part of a run's key; MLflow is told the new verdict."""
    import sqlite3

    from experiments.configuration import build, catalogue
    from experiments.figures.regression import polynomial_order

    names = ["fcml/fig-1.15", "--jobs", "1"]
    assert main(["reproduce", *names]) == 0
    read = catalogue.read

    def reworded(name: str) -> catalogue.Entry:
        entry = read(name)
        entry.body["source"]["title"] = "another title"
        first, *others = entry.body["claims"]
        first = {**first, "says": "in other words", "within": 0.5, "because": "of a test"}
        entry.body["claims"] = [first, *others]
        return entry

    monkeypatch.setattr(catalogue, "read", reworded)
    monkeypatch.setattr(polynomial_order, "CHOOSING", ())  # no marker
    build.experiment_job.cache_clear()
    try:
        capsys.readouterr()
        assert main(["reproduce", *names]) == 0
        assert "0 computed now, 1 found" in capsys.readouterr().out
        assert main(["show", "fcml/fig-1.15"]) == 0
        assert "in other words" in capsys.readouterr().out
    finally:
        build.experiment_job.cache_clear()
    with sqlite3.connect(outputs / "mlflow.db") as database:
        ((note,),) = database.execute("SELECT value FROM tags WHERE key = 'mlflow.note.content'")
    assert "another title" in note
    assert "in other words" in note


def test_runs_of_an_older_format_are_left_alone(outputs: Path, capsys: Capture) -> None:
    old = outputs / "runs" / "fcml" / "fig-1.15" / "0123456789abcdef-1"
    old.mkdir(parents=True)
    (old / "run.json").write_text('{\n"format": 1,\n"id": "0123456789abcdef-1"\n}\n')
    line = f"bythebook: 1 runs of an older format are left alone in {outputs / 'runs'}\n"
    for command in (["reproduce", "--jobs", "1"], ["report"]):
        assert main([*command, "fcml/fig-1.15"]) == 0
        assert capsys.readouterr().err.count(line) == 1
    for command in (["sync"], ["list", "fcml"], ["show", "fcml/fig-1.15"]):
        assert main(command) == 0
    assert (old / "run.json").exists()


def test_completion_offers_what_fits(capsys: Capture) -> None:
    from experiments.commands.completion import candidates

    assert candidates(["re"]) == ["report", "reproduce"]
    assert candidates(["se"]) == ["server"]
    assert "experiment=fcml/fig-1.15" in candidates(["run", "experiment=fcml/fig-1.1"])
    assert candidates(["run", "study=polynomial_o"]) == ["study=polynomial_order"]
    assert candidates(["run", "study=polynomial_order", "study.ho"]) == ["study.holdout_from="]
    assert candidates(["run", "experiment=fcml/fig-1.15", "study.fo"]) == ["study.folds="]
    assert candidates(["run", "tracking=o"]) == ["tracking=off"]
    for shell in ("bash", "zsh"):
        assert main(["completion", shell]) == 0
        assert "bythebook complete" in capsys.readouterr().out
