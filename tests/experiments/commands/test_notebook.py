"""`bythebook notebook`: executed for every topic; what it says, and what it never does."""

import ast
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from experiments.cli import main
from experiments.commands import notebook
from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Also, Job, Printed, Source
from experiments.contract.claims import Claim
from experiments.contract.markdown import words
from experiments.contract.study import places
from experiments.interface import runs, sweeps

Capture = pytest.CaptureFixture[str]
EVIL = "<b>x</b> $y$ *z* `w` a|b [c](d) # & \\ _e_"

# The quickest result of a study, where that is not its first.
QUICK = {
    "binary_clusters": "prml/ex-9.13-identical-init",
    "casino_beliefs": "mlapp/fig-17.10",
    "casino_games": "mlapp/casino-model",
    "cluster_path": "prml/fig-9.2",
    "hmm_starts": "ghahramani/4.2-baum-welch",
    "local_approximation": "fcml/comment-4.3-taylor",
    "mixture_order": "fcml/ex-6.5-map-gaussian-mixture",
    "mixture_singularity": "prml/fig-9.7",
    "missing_values": "fcml/fig-7.7-vb-ppca-missing",
    "naive_bayes_text": "fcml/fig-5.6",
    "nearest_neighbours": "fcml/5.3.2.6-kernel-knn",
    "network_regularisation": "notes/2.4.5-nn-regularisation",
    "polynomial_order": "fcml/fig-2.11a",
    "principal_components": "fcml/fig-7.2-projection-variance",
    "sampler": "fcml/fig-4.9-random-walks",
    "support_vectors": "fcml/fig-5.17-circle-data",
}
# What somebody in a hurry would write below the knobs.
LESS: dict[str, dict[str, Any]] = {
    "committees": {"repetitions": 5, "points": 1000},
    "estimator_variability": {"repetitions": 200},
    "labelled_training": {"lengths": [300, 1000], "repetitions": 4},
    "line_mixture": {"restarts": 10, "repetitions": 10},
    "network_pruning": {"repetitions": 1, "max_iter": 30, "rounds": 2, "hidden": [3]},
    "network_regularisation": {"hidden": [1, 10], "starts": 2, "max_iter": 30},
    "nonlinear_tracking": {"series": 20, "particles": 100, "particle_series": 5},
    "state_space_em": {"repetitions": 2, "iterations": 5, "steps": 60, "random_starts": 2},
}


def _result(study: str) -> str:
    first = next(name for name in catalogue.names() if catalogue.read(name).study == study)
    return QUICK.get(study, first)


TOPICS = {study: topic for study, topic in places().items() if study != "misbehaving"}
ONE_A_TOPIC = list({topic: study for study, topic in TOPICS.items()}.values())


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param(ONE_A_TOPIC, id="one a topic"),
        pytest.param(list(TOPICS), id="all", marks=pytest.mark.faults),
    ],
)
def test_notebooks_run(
    chosen: list[str], outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other in one kernel, as starting fifty would take longer than all they do."""
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    book, cells = nbformat.v4.new_notebook(), {}
    for study in chosen:
        one = nbformat.reads(notebook.written(_result(study)), as_version=4)
        nbformat.validate(one)
        cells[study] = {cell.id: cell for cell in one.cells}
        for cell in one.cells:
            cell.id = f"{study}-{cell.id}"
            book.cells.append(cell)
            if cell.id.endswith("-knobs"):
                code = f"knobs |= {LESS.get(study, {})!r}"
                book.cells.append(nbformat.v4.new_code_cell(code, id=f"{study}-less"))
    nbclient.NotebookClient(book, timeout=None, kernel_name="python3").execute()
    silent = 0  # studies whose quantities all have axes
    for study in chosen:
        made = cells[study]["run"].outputs[-1].data["text/html"]
        assert "data:image/png;base64," in made, study
        assert "failed" not in made, study
        claims = cells[study]["claims"].outputs[-1].data["text/html"]
        assert claims.count("<tr") > 1 or study in LESS, study
        swept = cells[study]["sweep"].outputs[-1].data
        told = "no cell has a single number to show" in swept["text/html"]
        assert told != ("data:image/png;base64," in swept["text/html"]), study
        silent += told
        assert "failed" not in swept["text/plain"], study
    assert len(list(outputs.glob("sweeps/*/pivot.csv"))) == len(chosen) - silent


@pytest.mark.parametrize("name", catalogue.names())
def test_the_cells_of_every_result_hold_together(name: str) -> None:
    job = experiment_job(name)
    content = json.loads(notebook.written(name))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    sources = {cell["id"]: "".join(cell["source"]) for cell in content["cells"]}
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            assert max(map(len, sources[cell["id"]].splitlines())) <= 100, cell["id"]
            compile(sources[cell["id"]], name, "exec")
    given: dict[str, Any] = {}
    exec(sources["knobs"], given)  # the knobs of the cell are those of the file
    knobs = {key.removeprefix("study."): value for key, value in given["knobs"].items()}
    assert type(job.study)(**knobs) == job.study
    assert given["seed"] == job.seed
    assert not set(given["knobs"]) & {*runs.SETTINGS, *sweeps.SETTINGS, "seed"}
    assert sources["says"].count("\n- ") == len(job.claims)


def test_the_settings_that_hide_a_knob_are_those_of_the_interface() -> None:
    assert {*runs.SETTINGS, *sweeps.SETTINGS, "seed"} == set(notebook.SETTINGS)
    text = notebook.written("mlapp/18.4-em-lds")
    assert '\\"study.outputs\\": 5' in text


def test_it_says_what_the_book_says_and_what_each_knob_means() -> None:
    content = json.loads(notebook.written("fcml/fig-1.15"))
    sources = {cell["id"]: "".join(cell["source"]) for cell in content["cells"]}
    assert sources["says"].startswith("# Figure 1.15: Leave-one-out loss against polynomial order")
    assert "*A First Course in Machine Learning*, section 1.5.2" in sources["says"]
    assert "`min(loo_loss[6:8]) > max(loo_loss[1:5])`" in sources["says"]
    assert "third order polynomial: `argmin(loo_loss)`; printed 3\n" in sources["says"]
    assert "order 1 (a check of our own): `loo_loss[1]`; should be 0.062432\n" in sources["says"]
    assert '    "orders": [1, 2, 3, 4, 5, 6, 7, 8],' in sources["knobs"]
    assert "    # standard deviation of the noise (float, >= 0)\n" in sources["knobs"]
    assert sources["run"] == 'result = run("fcml/fig-1.15", seed=seed, **knobs)\nresult'


def test_words_stay_words() -> None:
    safe = words(EVIL)
    job = experiment_job("fcml/fig-1.15")
    claim = Claim(says=EVIL, holds="a > 1", expect="differs", why=EVIL, origin="derived")
    source = Source("fcml", EVIL, EVIL, EVIL, note=EVIL, also=[Also("prml", EVIL, EVIL)])
    evil = Job(job.study, 0, Printed(source, (claim,)), job.experiment)
    page = notebook._says("fcml/fig-1.15", evil)
    assert page.count(safe) == 8
    assert "<b>" not in page


@pytest.mark.parametrize(
    "value",
    [
        *('it\'s "so"', [], {}, None, True, 3, 0.1, ["a", "b"], {"a": [1.0, 2.0], "b": []}),
        *(
            list(range(200)),
            [[float(i), i / 7] for i in range(40)],
            {str(i): [i] for i in range(50)},
        ),
        *(["a sentence, with commas"] * 30, {"a": {"b": list(range(90))}, "c": [[1] * 60, [2]]}),
    ],
)
def test_a_literal_is_the_value_within_the_line(value: Any) -> None:
    for indent in (0, 12):
        text = notebook._literal(value, indent)
        assert ast.literal_eval(text) == value
        assert max(len(line) for line in text.splitlines()) <= notebook.WIDTH + 2


def test_infinity_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    job = experiment_job("fcml/fig-1.15")
    monkeypatch.setattr(job.study, "predict_at", [float("inf"), 1.0])
    given: dict[str, Any] = {}
    exec(notebook._knobs(job), given)
    assert given["knobs"]["predict_at"] == [float("inf"), 1.0]


def test_the_sweep_to_begin_with_is_of_a_knob_that_the_file_states() -> None:
    assert notebook.suggestion(experiment_job("fcml/fig-1.15"))[0] == "data"
    knob, values = notebook.suggestion(experiment_job("prml/fig-a.6-sinusoid"))
    assert (knob, values) == ("noise", [0.15, 0.3, 0.6])
    for name in catalogue.names():
        job = experiment_job(name)
        knob, values = notebook.suggestion(job)
        assert 1 < len(values) <= notebook.MOST
        assert knob == "seed" or getattr(job.study, knob) in values


def test_the_sweep_to_begin_with_shows_a_claimed_number() -> None:
    assert notebook._metric(experiment_job("fcml/fig-1.15")) == "argmin(loo_loss)"
    wordless = experiment_job("fcml/ex-5.1-5.2")  # a study without any single number
    assert notebook._metric(wordless) in [c.value or c.holds for c in wordless.claims]


def test_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["notebook", "fcml/fig-1.15"]) == 0
    assert capsys.readouterr().out == "fcml-fig-1.15.ipynb\n"
    first = (tmp_path / "fcml-fig-1.15.ipynb").read_bytes()
    assert main(["notebook", "fcml/fig-1.15", "-o", "-"]) == 0
    assert capsys.readouterr().out.encode() == first
    assert main(["notebook", "fcml/fig-1.15", "-o", str(tmp_path / "b.ipynb")]) == 0
    assert (tmp_path / "b.ipynb").read_bytes() == first
    nbformat.validate(nbformat.reads(first.decode(), as_version=4))
    read = nbformat.writes(nbformat.reads(first.decode(), as_version=4)) + "\n"
    assert read.encode() == first  # as Jupyter itself would save it


def test_what_somebody_worked_on_is_not_overwritten(
    tmp_path: Path, refused: Callable[..., str], capsys: Capture
) -> None:
    path = tmp_path / "mine.ipynb"
    words = ["notebook", "fcml/fig-1.15", "-o", str(path)]
    assert main(words) == main(words) == 0  # the same again is no loss
    path.write_text("{}")
    assert refused(*words) == (
        f"{path} is there and differs; -o names another file, --force replaces it"
    )
    assert path.read_text() == "{}"
    assert main([*words, "--force"]) == 0
    assert len(path.read_text()) > 1000
    assert main(["notebook", "fcml/fig-1.1", "-o", str(tmp_path)]) == 0
    assert (tmp_path / "fcml-fig-1.1.ipynb").exists()
    line = refused("notebook", "fcml/fig-1.51")
    assert line.startswith("there is no experiment 'fcml/fig-1.51' (did you mean 'fcml/fig-1.5'?)")
    gone = os.fspath(tmp_path / "no" / "where.ipynb")
    assert "cannot write or read" in refused("notebook", "fcml/fig-1.1", "-o", gone)


def test_an_outputs_folder_that_is_stated_is_where_its_runs_go() -> None:
    text = "".join(json.loads(notebook.written("fcml/fig-1.1", "/tmp/x"))["cells"][3]["source"])
    assert "**knobs, outputs='/tmp/x')" in text
