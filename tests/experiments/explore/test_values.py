"""Parameter values as text: the round trip for all results, and the command line."""

import dataclasses
import json
import shlex
from typing import Any

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.hydra_compose import hydra_composer
from bythebook.experiments.config.overrides import parse_command_line as read_arguments
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.explore import values
from bythebook.experiments.explore.runs import job_factory


@pytest.mark.parametrize("name", catalogue.experiment_names())
def test_text_and_back_for_every_value_of_every_result(name: str) -> None:
    job = load_job(name)
    texts = {key: values.to_text(value) for key, value in values.current_values(job).items()}
    if job.study.name == catalogue.EQUATIONS:
        with pytest.raises(InputError, match="has no parameters"):
            values.job(job_factory(name, None), texts)
        return
    again = values.job(job_factory(name, None), texts)
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
def test_texts_are_read_by_type(text: str, kind: Any, value: Any) -> None:
    assert values.from_text(text, kind) == value


@pytest.mark.parametrize("text", ["abc", "NaN", "[1", "[" * 20000, "1;2", "__import__('os')"])
def test_an_unreadable_text_is_refused_by_the_check(text: str) -> None:
    assert values.from_text(text, float) == text
    with pytest.raises(InputError, match=r"^study\.low=.* is not allowed; allowed: float"):
        values.job(job_factory("fcml/ex-2.4", None), {"study.low": text})


def test_an_unknown_parameter_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InputError, match="did you mean 'samples'"):
        values.job(job_factory("fcml/ex-2.4", None), {"study.sample": "3"})


CHANGES = {
    "fcml/fig-1.15": {"study.orders": "[1, 2]", "study.holdout_from": "1976", "seed": "3"},
    "fcml/ex-2.4": {"study.low": "-0.5", "study.samples": "100", "study.look_at": "[10]"},
    "fcml/fig-4.13": {
        "study.targets": '{"two modes": [[0, 0, 1, 0, 1]], "new, (one)": [[0, 0, 2, 0, 2]]}'
    },
    "fcml/fig-3.9": {
        "study.data": "",
        "study.heads": "3",
        "study.tosses": "9",
        "study.customers": "[]",
        "study.stages": "[0]",
    },
    "prml/8.2.1-fuel": {
        "study.queries": '["tank | gauge, battery", "tank"]',
        "study.draws": "3",
    },
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_command_line_composes_the_same_run(name: str) -> None:
    book = job_factory(name, None)
    texts = dict(CHANGES[name])
    if "study.targets" in texts:  # Hydra removes the others
        texts["study.targets"] = json.dumps(
            {**book.job().config["knobs"]["targets"], **json.loads(texts["study.targets"])}
        )
    job = values.job(book, texts)
    words = shlex.split(values.command_line(job, load_job(name)))
    command = read_arguments(words[2:])
    with hydra_composer(command.overrides, command.config_dirs) as compose:
        composed = compose(command.words).job_factory.job()
    assert len(words) == 3 + len(texts)
    assert (composed.config, composed.experiment) == (job.config, job.experiment)
    assert composed.key == job.key


def test_a_mapping_gives_overrides_for_removed_and_new_keys() -> None:
    assert list(values._override_words("study.a", {"b": [2], "d": [3]}, {"b": [1], "c": [1]})) == [
        "~study.a.c",
        "++study.a={b:[2],d:[3]}",
    ]
    assert list(values._override_words("study.a", {"b": [2]}, {"b": [1]})) == ["study.a={b:[2]}"]
    assert list(values._override_words("study.a", {"b": [2]}, {"b": [2]})) == []


def test_the_command_contains_changed_parameters_only() -> None:
    book = load_job("fcml/fig-1.15")
    job = dataclasses.replace(book, seed=4)
    assert values.command_line(job, book) == "bythebook run fcml/fig-1.15 seed=4"
    assert values.command_line(book, book) == "bythebook run fcml/fig-1.15"
