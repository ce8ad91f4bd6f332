"""`bythebook notebook`: the notebooks are executed, and their cells and files are checked."""

import ast
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from bythebook.experiments.api import runs, sweeps
from bythebook.experiments.cli import notebook
from bythebook.experiments.cli.main import main
from bythebook.experiments.config import catalogue
from bythebook.experiments.config.job import Job, PublishedResult, SecondarySource, Source
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.markdown import escape_markdown
from bythebook.experiments.core.registry import study_topics

Capture = pytest.CaptureFixture[str]
EVIL = "<b>x</b> $y$ *z* `w` a|b [c](d) # & \\ _e_"

# The fastest result of a study, if it is not the first one.
FASTEST = {
    "binary_clusters": "fcml/6.3.8-map-em",
    "casino_beliefs": "mlapp/fig-17.10",
    "casino_games": "mlapp/casino-model",
    "cluster_path": "prml/fig-9.2",
    "hmm_starts": "ghahramani/4.2-baum-welch",
    "kernel_machines": "fcml/fig-5.17",
    "local_approximation": "fcml/fig-4.5",
    "mixture_order": "fcml/ex-6.5",
    "mixture_singularity": "prml/fig-9.7",
    "missing_values": "fcml/fig-7.7",
    "naive_bayes_text": "fcml/fig-5.6",
    "network_regularisation": "notes/2.4.5-nn-regularisation",
    "polynomial_order": "fcml/fig-2.11a",
    "principal_components": "fcml/fig-7.2",
    "sampler": "fcml/fig-4.9",
}
# Knobs that make a study fast.
FAST_KNOBS: dict[str, dict[str, Any]] = {
    "committees": {"repetitions": 5},
    "estimator_variability": {"repetitions": 200},
    "line_mixture": {"restarts": 10, "repetitions": 10},
    "network_pruning": {"repetitions": 1, "max_iter": 30, "rounds": 2, "hidden": [3]},
    "network_regularisation": {"hidden": [1, 10], "starts": 2, "max_iter": 30},
    "nonlinear_tracking": {"series": 20, "particles": 100, "particle_series": 5},
    "state_space_em": {"repetitions": 2, "iterations": 5, "steps": 60, "random_starts": 2},
}


def _result(study: str) -> str:
    first = next(
        name
        for name in catalogue.experiment_names()
        if catalogue.load_experiment(name).study == study
    )
    return FASTEST.get(study, first)


WITHOUT = ("misbehaving", catalogue.EQUATIONS)  # the second has no parameters
TOPICS = {study: topic for study, topic in study_topics().items() if study not in WITHOUT}
NAMES = [n for n in catalogue.experiment_names() if catalogue.load_heading(n).study not in WITHOUT]
ONE_PER_TOPIC = list({topic: study for study, topic in TOPICS.items()}.values())


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param(ONE_PER_TOPIC, id="one per topic"),
        pytest.param(list(TOPICS), id="all", marks=pytest.mark.faults),
    ],
)
def test_notebooks_run(
    chosen: list[str], outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All notebooks run in one kernel, because starting a kernel takes longer than a notebook."""
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    book, cells = nbformat.v4.new_notebook(), {}
    for study in chosen:
        one = nbformat.reads(notebook.build_notebook(_result(study)), as_version=4)
        nbformat.validate(one)
        cells[study] = {cell.id: cell for cell in one.cells}
        for cell in one.cells:
            cell.id = f"{study}-{cell.id}"
            book.cells.append(cell)
            if cell.id.endswith("-knobs"):
                code = f"knobs |= {FAST_KNOBS.get(study, {})!r}"
                book.cells.append(nbformat.v4.new_code_cell(code, id=f"{study}-fast"))
    nbclient.NotebookClient(book, timeout=None, kernel_name="python3").execute()
    n_without = 0  # sweeps without a scalar metric
    for study in chosen:
        made = cells[study]["run"].outputs[-1].data["text/html"]
        assert "data:image/png;base64," in made, study
        assert "failed" not in made, study
        claims = cells[study]["claims"].outputs[-1].data["text/html"]
        assert claims.count("<tr") > 1 or study in FAST_KNOBS, study
        swept = cells[study]["sweep"].outputs[-1].data
        without = "the runs have no scalar metric" in swept["text/html"]
        assert without != ("data:image/png;base64," in swept["text/html"]), study
        n_without += without
        assert ", 0 failed" in swept["text/plain"], study
    assert len(list(outputs.glob("sweeps/*/pivot.csv"))) == len(chosen) - n_without


@pytest.mark.parametrize("name", NAMES)
def test_the_cells_of_every_result_are_valid(name: str) -> None:
    job = load_job(name)
    content = json.loads(notebook.build_notebook(name))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    sources = {cell["id"]: "".join(cell["source"]) for cell in content["cells"]}
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            assert max(map(len, sources[cell["id"]].splitlines())) <= 100, cell["id"]
            compile(sources[cell["id"]], name, "exec")
    namespace: dict[str, Any] = {}
    exec(sources["knobs"], namespace)  # the knobs of the cell are those of the file
    knobs = {key.removeprefix("study."): value for key, value in namespace["knobs"].items()}
    assert type(job.study)(**knobs) == job.study
    assert namespace["seed"] == job.seed
    assert not set(namespace["knobs"]) & {*runs.KEYWORDS, *sweeps.KEYWORDS, "seed"}
    assert sources["says"].count("\n- ") == len(job.claims)


def test_the_keywords_are_those_of_the_python_interface() -> None:
    assert {*runs.KEYWORDS, *sweeps.KEYWORDS, "seed"} == set(notebook.KEYWORDS)
    text = notebook.build_notebook("mlapp/18.4-em-lds")
    assert '\\"study.outputs\\": 5' in text


def test_a_notebook_has_claims_and_the_meaning_of_each_knob() -> None:
    content = json.loads(notebook.build_notebook("fcml/fig-1.15"))
    sources = {cell["id"]: "".join(cell["source"]) for cell in content["cells"]}
    assert sources["says"].startswith("# Figure 1.15: Leave-one-out loss against polynomial order")
    assert "*A First Course in Machine Learning*, section 1.5.2" in sources["says"]
    assert "`min(loo_loss[6:8]) > max(loo_loss[1:5])`" in sources["says"]
    assert "selects polynomial order 3: `argmin(loo_loss)`; printed 3\n" in sources["says"]
    assert "orders 1 to 8 that the figure shows (derived check): `loo_loss`" in sources["says"]
    assert '    "orders": [1, 2, 3, 4, 5, 6, 7, 8],' in sources["knobs"]
    assert "    # standard deviation of the noise (float, >= 0)\n" in sources["knobs"]
    assert sources["run"] == 'result = run("fcml/fig-1.15", seed=seed, **knobs)\nresult'


def test_texts_are_escaped() -> None:
    safe = escape_markdown(EVIL)
    job = load_job("fcml/fig-1.15")
    claim = Claim(says=EVIL, holds="a > 1", expect="differs", why=EVIL, origin="derived")
    source = Source("fcml", EVIL, EVIL, EVIL, note=EVIL, also=[SecondarySource("prml", EVIL, EVIL)])
    evil = Job(job.study, 0, PublishedResult(source, (claim,)), job.experiment)
    page = notebook._intro_text("fcml/fig-1.15", evil)
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
def test_a_literal_is_the_value_within_the_line_length(value: Any) -> None:
    for indent in (0, 12):
        text = notebook._literal(value, indent)
        assert ast.literal_eval(text) == value
        assert max(len(line) for line in text.splitlines()) <= notebook.WIDTH + 2


def test_infinity_is_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    job = load_job("fcml/fig-1.15")
    monkeypatch.setattr(job.study, "predict_at", [float("inf"), 1.0])
    namespace: dict[str, Any] = {}
    exec(notebook._knobs(job), namespace)
    assert namespace["knobs"]["predict_at"] == [float("inf"), 1.0]


def test_the_example_sweep_is_over_a_knob_of_the_file() -> None:
    assert notebook.suggest_sweep(load_job("fcml/fig-1.15"))[0] == "data"
    knob, values = notebook.suggest_sweep(load_job("prml/fig-a.6"))
    assert (knob, values) == ("noise", [0.15, 0.3, 0.6])
    for name in NAMES:
        job = load_job(name)
        knob, values = notebook.suggest_sweep(job)
        assert 1 < len(values) <= notebook.MAX_VALUES
        assert knob == "seed" or getattr(job.study, knob) in values


def test_the_example_sweep_shows_a_claimed_number() -> None:
    assert notebook._metric(load_job("fcml/fig-1.15")) == "argmin(loo_loss)"
    job = load_job("fcml/fig-2.8")  # a study without a scalar metric
    assert notebook._metric(job) in [claim.value or claim.holds for claim in job.claims]


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
    assert read.encode() == first  # the bytes that Jupyter saves


def test_a_different_file_is_not_overwritten(
    tmp_path: Path, refused: Callable[..., str], capsys: Capture
) -> None:
    path = tmp_path / "mine.ipynb"
    words = ["notebook", "fcml/fig-1.15", "-o", str(path)]
    assert main(words) == main(words) == 0  # an equal file is replaced
    path.write_text("{}")
    assert refused(*words) == (
        f"{path} exists and differs; use -o FILE for another file or --force to replace it"
    )
    assert path.read_text() == "{}"
    assert main([*words, "--force"]) == 0
    assert len(path.read_text()) > 1000
    assert main(["notebook", "fcml/fig-1.1", "-o", str(tmp_path)]) == 0
    assert (tmp_path / "fcml-fig-1.1.ipynb").exists()
    line = refused("notebook", "fcml/fig-1.51")
    assert line.startswith("there is no result 'fcml/fig-1.51' (did you mean 'fcml/fig-1.5'?)")
    missing = os.fspath(tmp_path / "no" / "folder.ipynb")
    assert "could not read or write" in refused("notebook", "fcml/fig-1.1", "-o", missing)


def test_the_runs_of_a_notebook_go_to_the_outputs_folder() -> None:
    text = "".join(
        json.loads(notebook.build_notebook("fcml/fig-1.1", "/tmp/x"))["cells"][3]["source"]
    )
    assert "**knobs, outputs='/tmp/x')" in text


def test_the_metric_of_a_sweep_has_no_names_of_the_file() -> None:
    let = {"excess(a)": "max(a) - min(a)"}
    claim = Claim("x", value="excess(loss) / 2", printed="1", let=let)
    job = Job(load_job("fcml/fig-1.15").study, published=PublishedResult(claims=(claim,)))
    assert notebook._metric(job) == "(max(loss) - min(loss)) / 2"
