"""Verdicts on claims."""

import numpy as np
import pytest

from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.judging import judge
from bythebook.experiments.core.outcome import Outcome, axis, over

DRAWS = axis("data_set", 100)


def verdict(outcome: Outcome, **fields: object) -> str:
    return judge(Claim(says="the statement", **fields), outcome, "book").verdict  # type: ignore[arg-type]


def test_printed_number() -> None:
    outcome = Outcome(loss=0.458497)
    assert verdict(outcome, value="loss", printed="0.458") == "reproduced"
    assert verdict(outcome, value="loss", printed="0.459") == "differs"
    fields = {"printed": "0.459", "corrected": "0.458", "why": "twice", "expect": "erratum"}
    assert verdict(outcome, value="loss", **fields) == "erratum"
    wrong = {**fields, "corrected": "0.457"}
    assert verdict(outcome, value="loss", **wrong) == "differs"


def test_an_erratum_that_the_run_refutes_is_reproduced_and_so_unexpected() -> None:
    claim = Claim("x", "loss", printed="0.46", corrected="0.5", why="?", expect="erratum")
    found = judge(claim, Outcome(loss=0.4585), "book")
    assert (found.verdict, found.as_expected) == ("reproduced", False)


def test_a_statement_records_its_evaluated_sides() -> None:
    outcome = Outcome(loss=axis("order", [1, 2, 3]).of([0.0641, 0.05, 0.0782]), order=5)
    claim = Claim("x", holds="loss[3] > max(loss[1:2])")
    found = judge(claim, outcome, "book")
    assert (found.verdict, found.evidence) == ("reproduced", "0.0782 > 0.0641")
    assert verdict(outcome, holds="3 <= order <= 8") == "reproduced"
    assert verdict(outcome, holds="6 <= order <= 8") == "differs"
    assert verdict(outcome, holds="6 <= order <= 8", corrected="5", why="?") == "erratum"
    with pytest.raises(InputError, match="true or false"):
        verdict(outcome, holds="loss[1]")
    with pytest.raises(InputError, match="true or false"):
        verdict(outcome, holds="loss < 1")
    with pytest.raises(InputError, match="must be a number, not an array over order"):
        verdict(outcome, value="loss", printed="1")


@pytest.mark.parametrize(
    ("as_printed", "corrected", "expected"),
    [(0.5, 0.0, "erratum"), (0.5, 0.5, "differs"), (0.0, 0.0, "reproduced")],
)
def test_an_erratum_of_a_statement_shows_the_corrected_statement_too(
    as_printed: float, corrected: float, expected: str
) -> None:
    claim = Claim(
        "x",
        holds="as_printed < 0.1",
        instead="corrected < 0.1",
        corrected="with its sign",
        why="?",
        expect="erratum",
    )
    found = judge(claim, Outcome(as_printed=as_printed, corrected=corrected), "book")
    assert found.verdict == expected
    if expected != "reproduced":
        assert found.evidence == f"0.5 < 0.1; instead {corrected:g} < 0.1"


def test_without_the_original_file_a_claim_that_needs_it_is_untested() -> None:
    outcome = Outcome(errors=12)
    claim = Claim("x", "errors", printed="12", needs="corpus")
    without, with_it = (judge(claim, outcome, "book", had) for had in ((), {"corpus"}))
    assert (without.verdict, without.as_expected) == ("untested", True)
    assert "original file of corpus" in without.judged
    assert (with_it.verdict, with_it.as_expected) == ("reproduced", True)
    never = Claim("x", "errors", printed="12", expect="untested", why="the corpus is lost")
    assert judge(never, outcome, "book", {"corpus"}).verdict == "untested"


def test_the_grade_belongs_to_the_claim() -> None:
    outcome = Outcome(votes=66)

    def grade(**fields: str) -> str:
        return judge(Claim("x", "votes", printed="66", **fields), outcome, "stand-in").grade  # type: ignore[arg-type]

    assert (grade(), grade(grade="book"), grade(by="construction")) == ("stand-in", "book", "book")
    with pytest.raises(InputError, match="grade=good is unknown; allowed: book, original, stand"):
        grade(grade="good")


def test_claims_that_hold_by_construction_are_counted_separately() -> None:
    outcome = Outcome(loss=1.0)
    for holds, by, standing in [
        ("loss == 1", None, "reproduced"),
        ("loss == 1", "construction", "by construction"),
        ("loss == 2", "construction", "differs"),
    ]:
        assert judge(Claim("x", holds=holds, by=by), outcome, "book").category == standing


def test_an_unknown_quantity_is_reported_with_a_suggestion_and_the_known_ones() -> None:
    with pytest.raises(
        InputError, match=r"no quantity 'los' \(did you mean 'loss'\?\); allowed: loss"
    ):
        verdict(Outcome(loss=1.0), value="los", printed="1")


@pytest.mark.parametrize(
    ("word", "true", "expected", "computed"),
    [
        ("nearly every draw", 95, "reproduced", "holds"),
        ("nearly every draw", 94, "differs", "does not hold"),
        ("most draws", 61, "reproduced", "holds"),
        ("most draws", 55, "differs", "not decided"),
        ("most draws", 20, "differs", "does not hold"),
        ("one experiment", 5, "reproduced", "holds"),
        ("one experiment", 4, "differs", "does not hold"),
    ],
)
def test_a_statement_about_draws_holds_in_enough_of_them(
    word: str, true: int, expected: str, computed: str
) -> None:
    outcome = Outcome(gain=DRAWS.of(np.where(np.arange(100) < true, 1.0, -1.0)))
    found = judge(Claim("x", holds="gain > 0", quantifier=word), outcome, "book")
    assert (found.verdict, found.computed) == (expected, computed)
    assert found.evidence == f"{true} of 100 data sets"
    assert found.quantifier == word
    assert ("not decided" in found.judged) is (computed == "not decided")


def test_an_undecided_statement_is_no_erratum() -> None:
    outcome = Outcome(gain=DRAWS.of(np.where(np.arange(100) < 50, 1.0, -1.0)))
    fields = {"corrected": "falls", "why": "?", "expect": "erratum"}
    claim = Claim("x", holds="gain > 0", quantifier="most draws", **fields)  # type: ignore[arg-type]
    assert judge(claim, outcome, "book").verdict == "differs"
    claim = Claim("x", holds="gain > 0", quantifier="nearly every draw", **fields)  # type: ignore[arg-type]
    assert judge(claim, outcome, "book").verdict == "erratum"
    claim.instead = "gain < 0"  # judged in the same sense
    assert judge(claim, outcome, "book").verdict == "differs"
    claim.instead = "share(gain < 0) == 0.5"
    assert judge(claim, outcome, "book").verdict == "erratum"


def test_an_array_with_one_element_is_a_number_or_a_statement() -> None:
    outcome = Outcome(loss=over([[4.0, 2.0]], axis("method", ["exact"]), axis("order", [1, 2])))
    assert verdict(outcome, value="loss[2]", printed="2.0") == "reproduced"
    assert verdict(outcome, value="argmin(loss)", printed="2") == "reproduced"
    assert verdict(outcome, holds="loss[2] < loss[1]") == "reproduced"
    assert verdict(outcome, holds="falls(loss)") == "reproduced"


def test_a_claim_is_judged_with_its_named_parts() -> None:
    outcome = Outcome(loss=axis("order", [1, 2]).of([4.0, 2.0]))
    let = {"gap(i, j)": "loss[i] - loss[j]"}
    claim = Claim("x", value="gap(1, 2)", printed="2.0", let=let)
    found = judge(claim, outcome, "book")
    assert (found.verdict, found.let, found.expression) == ("reproduced", let, "gap(1, 2)")
    assert claim.quantities == {"loss"}
    assert found.to_json()["let"] == let
    with pytest.raises(InputError, match="has the wrong arguments; allowed: gap"):
        Claim("x", holds="gap(1) < 2", let=let)


TABLE = Outcome(
    loss=axis("order", [1, 2, 3]).of([0.062432, 0.0512, 0.04995]),
    error=over([[0.25, 0.5]], axis("n", [7]), axis("set", ["train", "test"])),
    seconds=axis("t", [0.5, 1.0]).of([1.0, 2.0]),
)


@pytest.mark.parametrize(
    ("values", "expected", "evidence"),
    [
        ({"loss": {"1": "0.0624", "3": "0.050"}}, "reproduced", "2 of 2 numbers"),
        (
            {"loss": {"1": "0.0624", "2": "0.06", "3": "0.04995"}},
            "differs",
            "2 of 3 numbers; loss at order 2: 0.0512, printed 0.06",
        ),
        (
            {"loss": {"2": "0.05"}, "error": {"train": "0.25", "test": "0.4"}},
            "differs",
            "2 of 3 numbers; error at set test: 0.500, printed 0.4",
        ),
        ({"2 * loss": {"1": "0.124864"}}, "reproduced", "1 of 1 numbers"),
        ({"seconds": {"0.5": "1", "1": "2"}}, "reproduced", "2 of 2 numbers"),
    ],
)
def test_a_table_of_printed_numbers(
    values: dict[str, dict[str, str]], expected: str, evidence: str
) -> None:
    claim = Claim("x", values=values)
    found = judge(claim, TABLE, "book")
    assert (found.verdict, found.evidence, found.kind) == (expected, evidence, "table")
    printed = [number for row in values.values() for number in row.values()]
    assert found.printed == claim.printed_text == "; ".join(printed)
    assert found.expression == ", ".join(values)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"loss": {"9": "1"}}, "loss: axis order has no coordinate 9; allowed: 1, 2, 3"),
        ({"loss": {"a": "1"}}, "loss: axis order has no coordinate 'a'"),
        ({"max(loss)": {"1": "1"}}, "`values` requires numbers along one axis"),
        ({"los": {"1": "1"}}, "no quantity 'los'"),
    ],
)
def test_an_invalid_table_is_reported(values: dict[str, dict[str, str]], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        judge(Claim("x", values=values), TABLE, "book")


def test_an_erratum_by_reading_is_counted_apart() -> None:
    claim = Claim("x", by="reading", corrected="w-hat", why="the hat is missing")
    found = judge(claim, Outcome(), "book")
    assert (found.verdict, found.category, found.kind) == ("erratum", "by reading", "reading")
    assert found.as_expected
    assert "nothing is compared" in found.judged


def test_a_claim_names_the_reading_under_which_it_is_judged() -> None:
    claim = Claim("x", holds="loss < 2", reading="the loss is a mean over the points")
    assert judge(claim, Outcome(loss=1.0), "book").reading == "the loss is a mean over the points"
