"""Experiment files: complete, in the order of the books, and invalid ones refused."""

import os
from pathlib import Path

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.claim_blocks import DERIVED
from bythebook.experiments.core.errors import InputError

NAMES = catalogue.experiment_names()


def test_every_experiment_belongs_to_a_known_book() -> None:
    assert {name.split("/")[0] for name in NAMES} <= set(catalogue.BOOKS)


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_file_is_complete(name: str) -> None:
    job = load_job(name)
    source = job.source
    assert source.book == name.split("/")[0]
    assert source.item
    assert source.title
    assert source.section
    assert job.claims, "a result without claims checks nothing"
    assert len({claim.says for claim in job.claims}) == len(job.claims)


def test_experiments_come_in_the_books_order() -> None:
    figures = [name for name in NAMES if name.startswith("fcml/fig-1.")]
    numbers = [int(name.split(".")[1]) for name in figures if name.split(".")[1].isdigit()]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("name", NAMES)
def test_a_heading_is_what_yaml_reads(name: str) -> None:
    file, heading = catalogue.load_experiment(name), catalogue.load_heading(name)
    expected = [file.study, *(str(file.source[key]) for key in ("section", "item", "title"))]
    assert [heading.study, heading.section, heading.item, heading.title] == expected


def load_heading(
    folder: Path, source: str, monkeypatch: pytest.MonkeyPatch
) -> catalogue.ExperimentHeading:
    """The heading of an experiment whose `source` has these lines."""
    (folder / "experiment" / "fcml").mkdir(parents=True)
    text = f"# @package _global_\n{STUDY}\nsource:\n{source}\nseed: 3\n"
    (folder / "experiment" / "fcml" / "fig-1.yaml").write_text(text)
    monkeypatch.setattr(catalogue, "CONF_DIR", folder)
    monkeypatch.setattr(catalogue, "experiment_names", lambda: ["fcml/fig-1"])
    return catalogue.load_heading("fcml/fig-1")


HEAD = "  section: 1.2 a\n  item: Figure 1\n"


@pytest.mark.parametrize(
    ("title", "parsed"),
    [
        ("A long title", "A long title"),
        ('"quoted: yes # and so on"', "quoted: yes # and so on"),
        ('"with \\t escape"', "with \t escape"),
        ("'it''s quoted'", "it's quoted"),
        ("Word", "Word"),
        ("two words # and a comment", "two words"),
        ("two words\n    and two more", "two words and two more"),
        ("two words \n  # a comment", "two words"),
        ("on", "True"),
        ("1 000", "1 000"),
        ("1:30", "90"),
        (">-\n    folded\n    words", "folded words"),
        ('two words\n  note: "one\n  title: other words"', "two words"),
    ],
)
def test_a_heading_in_any_yaml_syntax_is_read_as_yaml(
    title: str, parsed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heading = load_heading(tmp_path, f"{HEAD}  title: {title}\n", monkeypatch)
    assert (heading.study, heading.section) == ("polynomial_order", "1.2 a")
    assert (heading.item, heading.title) == ("Figure 1", parsed)


def test_a_heading_inside_of_quotes_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heading = load_heading(tmp_path, f'{HEAD}  note: "one\n  title: other words"\n', monkeypatch)
    assert heading.title == ""


@pytest.mark.parametrize(
    ("title", "complaint"),
    [("A title\n  title: Another title", "duplicate key"), ("A \x07 title", "not allowed")],
)
def test_an_invalid_heading_is_refused(
    title: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=complaint):
        load_heading(tmp_path, f"{HEAD}  title: {title}\n", monkeypatch)


def test_the_headings_of_our_files_need_no_yaml_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    load = catalogue.load_experiment
    monkeypatch.setattr(
        catalogue, "load_experiment", lambda name: parsed.append(name) or load(name)
    )
    for name in NAMES:
        catalogue.load_heading(name)
    assert len(parsed) <= len(NAMES) // 20


STUDY = "defaults:\n  - override /study: polynomial_order\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("source: {book: fcml}\n", "defaults must be"),
        ("defaults: [override /study: a, override /tracking: off]\n", "defaults must be"),
        (f"{STUDY}seed: 1\nseed: 2\n", "duplicate key: seed"),
        ("defaults: [\n", "while parsing"),
        ("a: &a [1]\nb: [" + "*a," * 21 + "]\n", "more than 20 aliases"),
        (f"{STUDY}# {'x' * catalogue.MAX_FILE_BYTES}\n", "more than 200,000 bytes"),
        (f"{STUDY}a: &a [{'1,' * 9000}]\nb: [{'*a,' * 19}]\n", "more than 50,000 values"),
        (f"{STUDY}a: {'[' * 41}{']' * 41}\n", "more than 40 levels deep"),
        (f"{STUDY}a: {'[' * 9000}{']' * 9000}\n", "broken.yaml: "),
        (f"{STUDY}a: &a [*a]\n", "broken.yaml: "),
        (f"{STUDY}seed: {'9' * 5000}\n", "broken.yaml: Exceeds the limit"),
        (f"{STUDY}seed: {'9' * 301}\n", "more than 300 digits"),
        (f"{STUDY}seed: 0x{'f' * 9000}\n", "more than 300 digits"),
        (f"{STUDY}seed: 1{':59' * 9000}\n", "more than 300 digits"),
        (f"{STUDY}seed: 2001-12-14\n", "value of unsupported type date"),
        (f"{STUDY}seed: 2001-99-99\n", "broken.yaml: "),
        (f"{STUDY}seed: !!binary aGk=\n", "value of unsupported type bytes"),
        (f"{STUDY}? [1, 2]\n: 3\n", "broken.yaml: "),
        ("defaults: 3\n", "defaults must be"),
        ("- 3\n", "defaults must be"),
    ],
)
def test_an_invalid_file_is_named_with_the_problem(
    text: str, complaint: str, tmp_path: Path
) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text(f"# @package _global_\n{text}")
    with pytest.raises(InputError, match=complaint) as caught:
        catalogue.load_experiment_file(file, "fcml/broken")
    assert "broken.yaml" in str(caught.value)


def test_equations_and_errata_by_reading_need_no_study(tmp_path: Path) -> None:
    file, reading = tmp_path / "a.yaml", "  - {by: reading, says: x, corrected: y}\n"
    file.write_text(f"# @package _global_\nclaims:\n  - equation: prml.a\n{reading}")
    assert catalogue.load_experiment_file(file, "prml/a").study == catalogue.EQUATIONS
    file.write_text(f"# @package _global_\nclaims:\n{reading}")
    with pytest.raises(InputError, match="defaults must be"):
        catalogue.load_experiment_file(file, "prml/a")


def test_a_pipe_is_refused_without_blocking(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InputError, match="could not be read: it is not a regular file"):
        catalogue.load_yaml_safely(tmp_path / "pipe.yaml")


def test_reading_takes_linear_time_in_the_number_of_keys(tmp_path: Path) -> None:
    """The search for duplicates once compared all pairs of keys."""
    (tmp_path / "a.yaml").write_text("".join(f"k{i}: 1\n" for i in range(20_000)))
    assert len(catalogue.load_yaml_safely(tmp_path / "a.yaml")) == 20_000


def test_a_printed_claim_is_made_once() -> None:
    """A number or statement that appears in two results is claimed in one of them only."""
    results: dict[tuple[str, str], list[str]] = {}
    for name in catalogue.experiment_names():
        for claim in load_job(name).claims:
            if claim.origin != DERIVED:
                book = claim.source_book or name.partition("/")[0]
                results.setdefault((book, claim.says), []).append(name)
    assert {says: names for says, names in results.items() if len(names) > 1} == {}
