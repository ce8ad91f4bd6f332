"""Every experiment file is whole; a faulty one is named with its fault."""

import os
from pathlib import Path

import pytest

from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.contract.errors import BadInput

NAMES = catalogue.names()


def test_there_are_experiments_in_every_book() -> None:
    assert {name.split("/")[0] for name in NAMES} <= set(catalogue.BOOKS)


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_file_is_whole(name: str) -> None:
    job = experiment_job(name)
    source = job.source
    assert source.book == name.split("/")[0]
    assert source.item
    assert source.title
    assert source.section
    assert job.claims, "a result without a claim proves nothing"
    assert len({claim.says for claim in job.claims}) == len(job.claims)


def test_experiments_come_in_the_books_order() -> None:
    figures = [name for name in NAMES if name.startswith("fcml/fig-1.")]
    numbers = [int(name.split(".")[1]) for name in figures if name.split(".")[1].isdigit()]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("name", NAMES)
def test_a_heading_is_what_yaml_reads(name: str) -> None:
    entry, told = catalogue.read(name), catalogue.heading(name)
    read = [entry.study, *(str(entry.source[key]) for key in ("section", "item", "title"))]
    assert [told.study, told.section, told.item, told.title] == read


def _told(place: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> catalogue.Heading:
    """The heading of an experiment with these lines for a source."""
    (place / "experiment" / "fcml").mkdir(parents=True)
    text = f"# @package _global_\n{STUDY}\nsource:\n{source}\nseed: 3\n"
    (place / "experiment" / "fcml" / "fig-1.yaml").write_text(text)
    monkeypatch.setattr(catalogue, "ROOT", place)
    monkeypatch.setattr(catalogue, "names", lambda: ["fcml/fig-1"])
    return catalogue.heading("fcml/fig-1")


HEAD = "  section: 1.2 a\n  item: Figure 1\n"


@pytest.mark.parametrize(
    ("title", "told"),
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
def test_a_heading_that_is_written_otherwise_is_read_as_yaml(
    title: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heading = _told(tmp_path, f"{HEAD}  title: {title}\n", monkeypatch)
    assert (heading.study, heading.section) == ("polynomial_order", "1.2 a")
    assert (heading.item, heading.title) == ("Figure 1", told)


def test_what_looks_like_a_heading_inside_of_quotes_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heading = _told(tmp_path, f'{HEAD}  note: "one\n  title: other words"\n', monkeypatch)
    assert heading.title == ""


@pytest.mark.parametrize(
    ("title", "complaint"),
    [("A title\n  title: Another title", "given twice"), ("A \x07 title", "not allowed")],
)
def test_a_faulty_heading_is_told_of(
    title: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput, match=complaint):
        _told(tmp_path, f"{HEAD}  title: {title}\n", monkeypatch)


def test_the_headings_of_our_files_need_no_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    whole = catalogue.read
    monkeypatch.setattr(catalogue, "read", lambda name: read.append(name) or whole(name))
    for name in NAMES:
        catalogue.heading(name)
    assert len(read) <= len(NAMES) // 20


STUDY = "defaults:\n  - override /study: polynomial_order\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("source: {book: fcml}\n", "defaults must be"),
        ("defaults: [override /study: a, override /tracking: off]\n", "defaults must be"),
        (f"{STUDY}seed: 1\nseed: 2\n", "given twice"),
        ("defaults: [\n", "while parsing"),
        ("a: &a [1]\nb: [" + "*a," * 21 + "]\n", "more than 20 aliases"),
        (f"{STUDY}# {'x' * catalogue.LARGEST}\n", "more than 200,000 bytes"),
        (f"{STUDY}a: &a [{'1,' * 9000}]\nb: [{'*a,' * 19}]\n", "more than 50,000 values"),
        (f"{STUDY}a: {'[' * 41}{']' * 41}\n", "more than 40 levels deep"),
        (f"{STUDY}a: {'[' * 9000}{']' * 9000}\n", "broken.yaml: "),
        (f"{STUDY}a: &a [*a]\n", "broken.yaml: "),
        (f"{STUDY}seed: {'9' * 5000}\n", "broken.yaml: Exceeds the limit"),
        (f"{STUDY}seed: {'9' * 301}\n", "more than 300 digits"),
        (f"{STUDY}seed: 0x{'f' * 9000}\n", "more than 300 digits"),
        (f"{STUDY}seed: 1{':59' * 9000}\n", "more than 300 digits"),
        (f"{STUDY}seed: 2001-12-14\n", r"no plain value \(date\)"),
        (f"{STUDY}seed: 2001-99-99\n", "broken.yaml: "),
        (f"{STUDY}seed: !!binary aGk=\n", r"no plain value \(bytes\)"),
        (f"{STUDY}? [1, 2]\n: 3\n", "broken.yaml: "),
        ("defaults: 3\n", "defaults must be"),
        ("- 3\n", "defaults must be"),
    ],
)
def test_a_faulty_file_is_named_with_its_fault(text: str, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text(f"# @package _global_\n{text}")
    with pytest.raises(BadInput, match=complaint) as caught:
        catalogue.read_file(file, "fcml/broken")
    assert "broken.yaml" in str(caught.value)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(BadInput, match="cannot be read: it is not a regular file"):
        catalogue.strict_yaml(tmp_path / "pipe.yaml")


def test_as_many_keys_as_a_file_has_room_for_take_no_time(tmp_path: Path) -> None:
    """Each was once compared with all others."""
    (tmp_path / "a.yaml").write_text("".join(f"k{i}: 1\n" for i in range(20_000)))
    assert len(catalogue.strict_yaml(tmp_path / "a.yaml")) == 20_000
