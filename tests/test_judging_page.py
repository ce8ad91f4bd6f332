"""The section of docs/judging.md on the language of claims says what the program does."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from bythebook.experiments.core import quantifiers
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.evidence import ROUNDING
from bythebook.experiments.core.expressions import evaluate, quantity_names
from bythebook.experiments.core.functions import AGREE_ATOL, CONSTANTS, FUNCTIONS, MONOTONE_RTOL
from bythebook.experiments.core.judging import judge
from bythebook.experiments.core.let import AS_WRITTEN, EXPANDED, used_lines
from bythebook.experiments.core.outcome import Outcome, axis, over

PAGE = (Path(__file__).parents[1] / "docs" / "judging.md").read_text()
SECTION = " ".join(PAGE.partition("## The language of claims\n")[2].partition("\n## ")[0].split())
TABLE = SECTION.partition("- An axis")[0]
CODE = re.findall(r"`([^`]+)`", TABLE)
ORDER = axis("order", [1, 2, 3, 4, 5, 6, 7, 8])
OUTCOME = Outcome(
    loss=ORDER.of([4.0, 2.5, 1.0, 1.5, 2.0, 3.0, 3.5, 3.75]),
    error=over(np.arange(16.0).reshape(2, 8), axis("set", ["train", "test"]), ORDER),
)


def test_the_table_has_every_word_of_the_language() -> None:
    words = {word for code in CODE for word in re.findall(r"[a-z_]+", code)}
    assert set(FUNCTIONS) | set(CONSTANTS) <= words
    calls = {name for code in CODE for name in re.findall(r"([a-z_]+)\(", code)}
    assert calls <= set(FUNCTIONS)


@pytest.mark.parametrize("text", [code for code in CODE if code.startswith(("loss[", "error["))])
def test_the_examples_are_expressions(text: str) -> None:
    evaluate(text, OUTCOME)


def test_the_section_has_the_bounds_of_the_program() -> None:
    rows = dict(re.findall(r"\| `([a-z ]+)` \| (true in[^|]*?) \|", SECTION))
    assert rows == quantifiers.MEANINGS
    words = {"two": 2, "four": 4}
    written = re.search(r"at most (\d+) characters and (\w+) comparisons", SECTION)
    expanded = re.search(r"replaced it has at most (\d+) characters and (\w+) comp", SECTION)
    assert written is not None
    assert expanded is not None
    assert (int(written[1]), words[written[2]]) == AS_WRITTEN
    assert (int(expanded[1]), words[expanded[2]]) == EXPANDED
    assert f"steps of {MONOTONE_RTOL:g} of the largest" in SECTION.replace("1e-9", "1e-09")
    assert f"within={AGREE_ATOL:g}" in SECTION.replace("1e-9", "1e-09")
    assert f"relative difference of {ROUNDING:g}" in SECTION


def test_the_example_of_let_is_valid_and_holds() -> None:
    block = re.search(r"```yaml\n(let:.*?)```", PAGE, re.DOTALL)
    assert block is not None
    content = yaml.safe_load(block[1])
    (entry,) = content["claims"]
    let = content["let"]
    claim = Claim(**entry, let=used_lines(let, entry["holds"]))
    assert claim.let == let
    assert judge(claim, OUTCOME, "book").verdict == "differs"  # order 1 loses exactly 3
    better = Outcome(loss=OUTCOME["loss"][2:])
    assert judge(claim, better, "book").verdict == "reproduced"


def test_the_other_fields_are_accepted() -> None:
    table = yaml.safe_load("{" + str(re.search(r"`(values: [^`]+)`", SECTION)[1]) + "}")  # type: ignore[index]
    comparison = re.search(r"for each draw, such as `([^`]+)`", SECTION)
    assert comparison is not None
    assert quantity_names(comparison[1]) == {"loss"}
    values = {str(label): number for label, number in table["values"]["loss"].items()}
    claim = Claim("the losses", values={"loss": values})
    assert judge(claim, OUTCOME, "book").verdict == "reproduced"


def test_a_notebook_has_the_language() -> None:
    (text,) = re.findall(r'`(outcome\["loss"\][^`]+)`', SECTION)
    assert eval(text, {"outcome": OUTCOME}).values.tolist() == [False] * 3
