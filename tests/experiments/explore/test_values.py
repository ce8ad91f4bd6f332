"""Values as text: there and back for every knob of every result, and onto the command line."""

import dataclasses
import json
import shlex
from typing import Any

import pytest

from experiments.configuration import catalogue
from experiments.configuration.arguments import read as read_arguments
from experiments.configuration.build import experiment_job
from experiments.configuration.compose import composer
from experiments.contract.errors import BadInput
from experiments.explore import values
from experiments.explore.trials import template


@pytest.mark.parametrize("name", catalogue.names())
def test_every_setting_of_every_result_comes_back(name: str) -> None:
    job = experiment_job(name)
    texts = {key: values.told(value) for key, value in values.settings(job).items()}
    again = values.job(template(name, None), texts)
    assert (again.study, again.seed, again.canonical) == (job.study, job.seed, True)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("3", int, 3),
        (" 3 ", float, 3),
        ("1e-3", float, 0.001),
        ("", int | None, None),
        ("none", float | None, None),
        ("null", str | None, None),
        ("none", str, "none"),
        ("1, 2,3", list[int], [1, 2, 3]),
        ("[[1, 2], [3]]", list[list[float]], [[1, 2], [3]]),
        ("loo, kfold", list[str], ["loo", "kfold"]),
        ("['loo', \"kfold\"]", list[str], ["loo", "kfold"]),
        ("", list[int], []),
        ('{"a": [1]}', dict[str, list[float]], {"a": [1]}),
        ("true", bool, True),
    ],
)
def test_text_is_read_as_its_type(text: str, kind: Any, value: Any) -> None:
    assert values.read(text, kind) == value


@pytest.mark.parametrize("text", ["abc", "NaN", "[1", "[" * 20000, "1;2", "__import__('os')"])
def test_what_is_no_value_stays_text_for_the_check_to_refuse(text: str) -> None:
    found = values.read(text, float)
    assert found == text
    with pytest.raises(BadInput, match=r"^study\.low=.* is not allowed; allowed: float"):
        values.job(template("fcml/ex-2.4", None), {"study.low": text})


def test_an_unknown_knob_is_refused_with_what_is_meant() -> None:
    with pytest.raises(BadInput, match="did you mean 'samples'"):
        values.job(template("fcml/ex-2.4", None), {"study.sample": "3"})


CHANGES = {
    "fcml/fig-1.15": {"study.orders": "[1, 2]", "study.methods": '["loo"]', "seed": "3"},
    "fcml/ex-2.4": {"study.low": "-0.5", "study.samples": "100", "study.look_at": "[10]"},
    "fcml/fig-4.13-hard-densities": {
        "study.targets": '{"two modes": [[0, 0, 1, 0, 1]], "new, (one)": [[0, 0, 2, 0, 2]]}'
    },
    "fcml/ex-3.1-3.4": {
        "study.data": "",
        "study.heads": "3",
        "study.tosses": "9",
        "study.customers": "[]",
        "study.stages": "[0]",
    },
    "prml/8.2.1-fuel": {
        "study.queries": '["tank | gauge, battery", "tank"]',
        "study.show": '["tank"]',
    },
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_command_line_composes_the_same_run(name: str) -> None:
    book = template(name, None)
    texts = dict(CHANGES[name])
    if "study.targets" in texts:  # those that are not named go
        texts["study.targets"] = json.dumps(
            {**book.job().science["knobs"]["targets"], **json.loads(texts["study.targets"])}
        )
    job = values.job(book, texts)
    words = shlex.split(values.command(job, experiment_job(name)))
    given = read_arguments(words[2:])
    with composer(given.overrides, given.config_dirs) as compose:
        composed = compose(given.words).template.job()
    assert len(words) == 3 + len(texts)
    assert (composed.science, composed.experiment) == (job.science, job.experiment)
    assert composed.key == job.key


def test_a_mapping_is_told_by_what_goes_and_what_comes() -> None:
    assert list(values._words("study.a", {"b": [2], "d": [3]}, {"b": [1], "c": [1]})) == [
        "~study.a.c",
        "++study.a={b:[2],d:[3]}",
    ]
    assert list(values._words("study.a", {"b": [2]}, {"b": [1]})) == ["study.a={b:[2]}"]
    assert list(values._words("study.a", {"b": [2]}, {"b": [2]})) == []


def test_the_command_names_what_differs_and_nothing_else() -> None:
    book = experiment_job("fcml/fig-1.15")
    job = dataclasses.replace(book, seed=4)
    assert values.command(job, book) == "bythebook run fcml/fig-1.15 seed=4"
    assert values.command(book, book) == "bythebook run fcml/fig-1.15"
